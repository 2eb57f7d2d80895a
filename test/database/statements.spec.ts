import {
  AuthEvent,
  AuthHealth,
  AuthSession,
  OpenSockets,
  SessionAdministration,
  type AuthModuleOptions,
} from 'nestjs-session-auth';
import { StatementFactory } from '../../libs/auth/src/database/statements';
import { firstEventIdAt } from '../../libs/auth/src/history/event-log';
import { DIALECTS } from '../support/databases';
import { DAY } from '../support/driven-clock';
import { describeOnEachDatabase, type TestEnvironment } from '../support/environment';
import { scansOf } from '../support/plans';
import { insertRows } from '../support/rows';
import type { Call } from '../support/tap';
import { TestApplication, PASSWORD } from '../support/test-application';
import { writtenTables } from '../support/written-tables';

/** The number of sessions, which is large enough for the planner to prefer an index. */
const SESSIONS = 3_000;

const AUTH: AuthModuleOptions = {
  refreshReuseGraceSeconds: 10,
  sessionPolicy: 'max_count',
  maxSessions: 5,
  activityIntervalSeconds: 1,
  history: { maxRowsPerUser: 2 },
};

async function fill(app: TestApplication): Promise<void> {
  const now = app.clock.now();
  const at = (i: number): number => now + (i % 500) * 1_000;
  const digest = (kind: string, i: number): string => kind + String(i).padStart(64 - kind.length, '0');
  const sessions = Array.from({ length: SESSIONS }, (_, i) => ({
    id: `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`,
    userId: `user-${i % 1_000}`,
    ...{ ipAddress: null, deviceType: 'other', osFamily: 'Other', browserFamily: 'Other', deviceName: 'Other' },
    state: i % 3 === 0 ? 'revoked' : 'active',
    checkAt: at(i) + (i % 3 === 0 ? 90 : 20) * DAY,
    ...{ loginNetwork: '', createdAt: now, authenticatedAt: now, lastActivity: now },
    ...{ idleExpiresAt: at(i) + 20 * DAY, absoluteExpiresAt: at(i) + 30 * DAY },
    ...{ accessDigest: digest('a', i), accessExpiresAt: at(i), refreshDigest: digest('r', i), refreshExpiresAt: at(i) },
    ...{ familyDigest: digest('f', i), generation: 0, replayCount: 0, methods: '{}' },
    ...{ remembered: false, persistent: true },
  }));
  const events = Array.from({ length: SESSIONS * 2 }, (_, i) => ({
    // A few events are old enough to be pruned.
    id: i % 200 === 0 ? i + 1 : firstEventIdAt(at(i)) + i,
    userId: i % 10 === 0 ? null : `user-${i % 1_000}`,
    ...{ event: 'token_refresh', ipAddress: null, userAgent: '', extra: {}, occurredAt: at(i) },
  }));
  await insertRows(app, AuthSession, sessions);
  await insertRows(app, AuthEvent, events);
}

/** Runs every statement of the library, except statements that only rare failures cause. */
async function runEverything(app: TestApplication): Promise<void> {
  const { auth } = app;
  const administration = app.nest.get(SessionAdministration);
  const credentials = { username: 'alice', password: PASSWORD };
  const fail = (username: string): Promise<unknown> => auth.login({ username, password: 'wrong' }).catch(() => null);
  const principalOf = async (accessToken: string) => (await auth.authenticate(accessToken))!;
  await fail('alice');
  await fail('nobody');
  const [first, second, third] = [await app.login(), await app.login(), await app.login()];
  await app.get('/me', first.access_token).expect(200);
  app.clock.advance(120_000);
  await app.get('/me', first.access_token).expect(200);
  await app.get('/auth/sessions', first.access_token).expect(200);
  await app.get('/auth/history', first.access_token).expect(200);
  await app.get('/auth/history?event=logout', first.access_token).expect(200);
  const pair = (await app.refresh(first.refresh_token).expect(200)).body;
  await app.refresh(first.refresh_token).expect(200);
  await app.get('/me', pair.access_token).expect(200);
  await app.delete(`/auth/sessions/${second.session_id}`, pair.access_token).expect(200);
  const change = { current_password: PASSWORD, new_password: 'a password that is new' };
  const changed = (await app.post('/auth/password/change', pair.access_token, change).expect(200)).body;
  await app.refresh(third.refresh_token).expect(400);
  const principal = await principalOf(changed.access_token);
  await auth.reauthenticate(principal, 'wrong').catch(() => undefined);
  const confirmed = await auth.reauthenticate(principal, 'a password that is new');
  await auth.refresh(confirmed.refreshToken);
  app.clock.advance(11_000);
  await app.refresh(confirmed.refreshToken).expect(400);
  expect(app.sent('token_reuse_detected')).toHaveLength(1);
  for (let i = 0; i < 6; i++) await app.login('bob');
  const bob = await app.login('bob');
  app.nest.get(OpenSockets).register(bob.session_id, () => undefined);
  await app.nest.get(OpenSockets).check();
  await app.post('/auth/logout/all', bob.access_token, {}).expect(200);
  const { userId } = await principalOf((await app.login('bob')).access_token);
  const { token } = await auth.createPasswordResetToken(userId);
  await auth.redeemPasswordResetToken(token, 'a password that is new');
  const verified = await auth.verifyCredentials({ username: 'bob', password: 'a password that is new' });
  const ticket = await auth.createLoginTicket(verified.user, { methods: ['hwk'] });
  await auth.attempt({ ticket, method: 'otp' }, {}, () => false);
  await auth.attempt({ ticket, method: 'otp' }, {}, () => true);
  const owner = await principalOf((await auth.openSession({ ticket })).accessToken);
  await auth.attempt({ principal: owner, method: 'otp' }, {}, () => true);
  await auth.confirmIdentity(owner, { methods: ['hwk'] });
  for (let i = 0; i <= 20; i++) await auth.createLoginTicket(userId, { methods: ['hwk'] });
  await administration.list({ userId });
  await administration.history(userId);
  await administration.end({ userId }, { actor: 'carol' });
  await auth.disableUser(userId);
  await auth.enableUser(userId);
  await auth.forgetUser(userId);
  await app.nest.get(AuthHealth).check();
  await auth.login({ ...credentials, password: 'a password that is new' });
  app.clock.advance(8 * DAY);
  await app.pruning.prune();
  await app.pruning.prune({ dryRun: true });
  await auth.resetFailedLogins('alice');
  await auth.createUser({ username: 'carol', password: PASSWORD });
}

describe('the statements of the library', () => {
  const templates = new Set<string>();
  beforeAll(() => {
    for (const method of ['statement', 'prepared'] as const) {
      const compile = StatementFactory.prototype[method];
      jest.spyOn(StatementFactory.prototype, method).mockImplementation(function (this: StatementFactory, template) {
        templates.add(template);
        return compile.call(this, template);
      });
    }
  });
  afterAll(() => jest.restoreAllMocks());

  describeOnEachDatabase('with many sessions', { auth: AUTH }, (env: TestEnvironment) => {
    const sent = new Map<string, Call>();
    const scans: string[] = [];
    let planned = 0;

    beforeAll(async () => {
      const { app, tap, database } = env;
      await fill(app);
      if (DIALECTS[database.name] === 'postgres') await app.dataSource.query('ANALYZE');
      if (DIALECTS[database.name] === 'mysql') await app.dataSource.query('ANALYZE TABLE auth_sessions, auth_events');
      tap.hook = { before: (call) => void (call.sql && sent.set(call.sql, { ...call, params: [...call.params] })) };
      await runEverything(app);
      tap.hook = {};
      for (const call of sent.values()) {
        if (!/^(SELECT|UPDATE|DELETE|WITH)/.test(call.sql) || !/auth_(?!users)/.test(call.sql)) continue;
        const scanned = await scansOf[DIALECTS[database.name]](app.dataSource, call);
        planned++;
        // A dry run of pruning counts the rows of all users.
        if (call.sql.includes('HAVING COUNT(*)')) continue;
        // Planners scan tables that have only a few rows.
        const isLarge = (table: string): boolean => ['auth_sessions', 'auth_events', 's'].includes(table);
        if (scanned.some(({ table, usesIndex }) => isLarge(table) && !usesIndex)) scans.push(call.sql);
      }
    }, 180_000);

    it('no statement scans a large table, except in a dry run of pruning', () => {
      expect(planned).toBeGreaterThan(30);
      expect(scans).toEqual([]);
    });

    it('no statement changes the same table twice', () => {
      const written = new Set([...sent.keys()].flatMap(writtenTables));
      expect([...written]).toEqual(
        expect.arrayContaining(env.app.dataSource.entityMetadatas.map((one) => one.tableName)),
      );
      const statements = [...templates, ...sent.keys()];
      // One statement rotates a session and writes the event.
      if (DIALECTS[env.database.name] === 'postgres') {
        expect(statements.map(writtenTables)).toContainEqual(['auth_sessions', 'auth_events']);
      }
      expect(statements.filter((sql) => new Set(writtenTables(sql)).size < writtenTables(sql).length)).toEqual([]);
    });

    it('a statement that updates or deletes rows that were read before repeats the conditions of the read', () => {
      // Owners of counters are computed, not read.
      const byList = [...templates].filter((template) => /^(UPDATE|DELETE).* IN \(:(?!owners)/s.test(template));
      const entities = ['session', 'failure', 'reset', 'lock'];
      const changing = byList.filter((template) => entities.includes(writtenTables(template)[0]!));
      expect(changing.length).toBeGreaterThan(5);
      for (const template of changing) expect(template).toMatch(/ IN \(:\w+\.\.\.\) AND |:first, :last/);
    });

    it('a statement that updates a session requires an active session', () => {
      const changes = [...templates].filter((template) => /UPDATE \{session\}/.test(template));
      expect(changes.length).toBeGreaterThan(5);
      for (const template of changes) {
        expect(template.slice(template.indexOf('WHERE'))).toMatch(/\{session\.state\} = 'active'/);
      }
    });
  });
});
