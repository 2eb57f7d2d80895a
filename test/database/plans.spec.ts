import { AuthEvent, AuthHealth, AuthSession, OpenSockets, SessionAdministration } from 'nestjs-session-auth';
import type { DataSource } from 'typeorm';
import { bind } from '../../libs/auth/src/database/transaction';
import { firstEventIdAt } from '../../libs/auth/src/history/event-log';
import { createDatabase, DATABASES, type Dialect, DIALECTS } from '../support/databases';
import { DAY } from '../support/driven-clock';
import { TestApplication, PASSWORD } from '../support/test-application';
import { Tap, type Call } from '../support/tap';

/** The number of sessions, which is large enough for the planner to prefer an index. */
const SESSIONS = 3_000;

async function fill(app: TestApplication): Promise<void> {
  const now = app.clock.now();
  const at = (i: number): number => now + (i % 500) * 1_000;
  const digest = (kind: string, i: number): string => kind + String(i).padStart(64 - kind.length, '0');
  const id = (i: number): string => `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`;
  const device = {
    ipAddress: null,
    deviceType: 'other',
    osFamily: 'Other',
    browserFamily: 'Other',
    deviceName: 'Other',
  } as const;
  const sessions = Array.from({ length: SESSIONS }, (_, i) => ({
    ...device,
    id: id(i),
    userId: `user-${i % 1_000}`,
    state: i % 3 === 0 ? ('revoked' as const) : ('active' as const),
    checkAt: i % 3 === 0 ? at(i) + 90 * DAY : at(i) + 20 * DAY,
    loginNetwork: '',
    createdAt: now,
    authenticatedAt: now,
    lastActivity: now,
    idleExpiresAt: at(i) + 20 * DAY,
    absoluteExpiresAt: at(i) + 30 * DAY,
    accessDigest: digest('a', i),
    accessExpiresAt: at(i),
    refreshDigest: digest('r', i),
    refreshExpiresAt: at(i),
    familyDigest: digest('f', i),
    generation: 0,
    replayCount: 0,
    methods: '{}',
  }));
  const events = Array.from({ length: SESSIONS * 2 }, (_, i) => ({
    // A few events are old enough to be pruned.
    id: i % 200 === 0 ? i + 1 : firstEventIdAt(at(i)) + i,
    userId: i % 10 === 0 ? null : `user-${i % 1_000}`,
    event: 'token_refresh' as const,
    ipAddress: null,
    userAgent: '',
    extra: {},
    occurredAt: at(i),
  }));
  const insert = async (entity: new () => object, rows: object[]): Promise<void> => {
    for (let i = 0; i < rows.length; i += 250) await app.dataSource.manager.insert(entity, rows.slice(i, i + 250));
  };
  await insert(AuthSession, sessions);
  await insert(AuthEvent, events);
}

/** Runs every statement of the library, except statements that only rare failures cause. */
async function runEverything(app: TestApplication): Promise<void> {
  const administration = app.nest.get(SessionAdministration);
  const wrong = { username: 'alice', password: 'a wrong password' };
  await app.http.post('/auth/login').send(wrong).expect(400);
  await app.http
    .post('/auth/login')
    .send({ ...wrong, username: 'nobody' })
    .expect(400);
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
  const principal = (await app.auth.authenticate(changed.access_token))!;
  const confirmed = await app.auth.reauthenticate(principal, 'a password that is new');
  await app.auth.refresh(confirmed.refreshToken);
  app.clock.advance(11_000);
  await app.refresh(confirmed.refreshToken).expect(400);
  expect(app.sent('token_reuse_detected')).toHaveLength(1);
  const bob = await app.login('bob');
  app.nest.get(OpenSockets).register(bob.session_id, () => undefined);
  await app.nest.get(OpenSockets).check();
  await app.post('/auth/logout/all', bob.access_token, {}).expect(200);
  const { userId } = (await app.auth.authenticate((await app.login('bob')).access_token))!;
  const { token } = await app.auth.createPasswordResetToken(userId);
  await app.auth.redeemPasswordResetToken(token, 'a password that is new');
  const ticket = await app.auth.createLoginTicket(userId, { methods: ['hwk'] });
  await app.auth.attempt({ ticket, method: 'otp' }, {}, () => false);
  await app.auth.attempt({ ticket, method: 'otp' }, {}, () => true);
  const opened = await app.auth.openSession({ ticket });
  const owner = (await app.auth.authenticate(opened.accessToken))!;
  await app.auth.attempt({ principal: owner, method: 'otp' }, {}, () => true);
  await app.auth.confirmIdentity(owner, { methods: ['hwk'] });
  for (let i = 0; i <= 20; i++) await app.auth.createLoginTicket(userId, { methods: ['hwk'] });
  await administration.list({ userId });
  await administration.history(userId);
  await administration.end({ userId }, { actor: 'carol' });
  await app.auth.disableUser(userId);
  await app.auth.forgetUser(userId);
  await app.nest.get(AuthHealth).check();
  app.clock.advance(8 * DAY);
  await app.pruning.prune();
  await app.pruning.prune({ dryRun: true });
}

/** Returns the tables of the library that a plan scans completely. */
const SCANS: Record<Dialect, (dataSource: DataSource, call: Call) => Promise<string[]>> = {
  async postgres(dataSource, call) {
    const plan: Record<string, string>[] = await dataSource.query(`EXPLAIN ${call.sql}`, bind(call));
    return plan.flatMap((row) =>
      [...Object.values(row)[0]!.matchAll(/Seq Scan on (auth_\w+)/g)].map(([, table]) => table!),
    );
  },
  async mysql(dataSource, { sql, params }) {
    const plan: { table: string | null; type: string | null }[] = await dataSource.query(`EXPLAIN ${sql}`, params);
    return plan.filter(({ table, type }) => table !== null && type === 'ALL').map(({ table }) => table!);
  },
  async sqlite(dataSource, { sql, params }) {
    const values = params.map((value) => (typeof value === 'boolean' ? Number(value) : value));
    const plan: { detail: string }[] = await dataSource.query(`EXPLAIN QUERY PLAN ${sql}`, values);
    return plan.flatMap(({ detail }) => (/^SCAN (?!CONSTANT)(?!.*USING)(\S+)/.exec(detail) ?? []).slice(1));
  },
};

describe.each(DATABASES)('query plans on %s', (name) => {
  it('no statement of the library scans a large table, except in a dry run of pruning', async () => {
    const database = await createDatabase(name);
    const app = await TestApplication.start({
      database,
      auth: { refreshReuseGraceSeconds: 10, history: { maxRowsPerUser: 2 } },
    });
    await fill(app);
    if (DIALECTS[name] === 'postgres') await app.dataSource.query('ANALYZE');
    if (DIALECTS[name] === 'mysql') await app.dataSource.query('ANALYZE TABLE auth_sessions, auth_events');
    const seen = new Map<string, Call>();
    const tap = new Tap(app);
    tap.hook = { before: (call) => void (call.sql && seen.set(call.sql, { ...call, params: [...call.params] })) };
    await runEverything(app);
    tap.hook = {};

    const statements = [...seen.values()].filter(
      ({ sql }) => /^(SELECT|UPDATE|DELETE|WITH)/.test(sql) && /auth_(?!users)/.test(sql),
    );
    expect(statements.length).toBeGreaterThan(30);
    const scans: [string, string[]][] = [];
    for (const call of statements) {
      const tables = await SCANS[DIALECTS[name]](app.dataSource, call);
      // A dry run of pruning counts the rows of all users.
      if (call.sql.includes('HAVING COUNT(*)')) continue;
      // Planners scan tables that have only a few rows.
      const large = tables.filter((table) => ['auth_sessions', 'auth_events', 's'].includes(table));
      if (large.length > 0) scans.push([call.sql, large]);
    }
    expect(scans).toEqual([]);
    await app.close();
    await database.drop();
  }, 60_000);
});
