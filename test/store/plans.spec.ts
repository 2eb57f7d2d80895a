import { AuthEvent, AuthHealth, AuthSession, OpenSockets, SessionAdministration } from 'nestjs-session-auth';
import type { DataSource } from 'typeorm';
import { paramsInTransaction } from '../../libs/auth/src/store/database/transaction';
import { firstEventIdAt } from '../../libs/auth/src/store/events/event-ids';
import { createDatabase, DATABASES, type DatabaseName } from '../support/databases';
import { DAY } from '../support/driven-clock';
import { Host, PASSWORD } from '../support/host';
import { Tap, type Call } from '../support/tap';

/** Enough that a planner has reason to use an index. */
const SESSIONS = 3_000;

async function fill(host: Host): Promise<void> {
  const now = host.clock.now();
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
    // A few are old enough to be pruned.
    id: i % 200 === 0 ? i + 1 : firstEventIdAt(at(i)) + i,
    userId: i % 10 === 0 ? null : `user-${i % 1_000}`,
    event: 'token_refresh' as const,
    ipAddress: null,
    userAgent: '',
    extra: {},
    occurredAt: at(i),
  }));
  const insert = async (entity: new () => object, rows: object[]): Promise<void> => {
    for (let i = 0; i < rows.length; i += 250) await host.dataSource.manager.insert(entity, rows.slice(i, i + 250));
  };
  await insert(AuthSession, sessions);
  await insert(AuthEvent, events);
}

/** Runs every statement of the library, except those of rare failures. */
async function runEverything(host: Host): Promise<void> {
  const administration = host.app.get(SessionAdministration);
  const wrong = { username: 'alice', password: 'a wrong password' };
  await host.http.post('/auth/login').send(wrong).expect(400);
  await host.http
    .post('/auth/login')
    .send({ ...wrong, username: 'nobody' })
    .expect(400);
  const [first, second, third] = [await host.login(), await host.login(), await host.login()];
  await host.get('/me', first.access_token).expect(200);
  host.clock.advance(120_000);
  await host.get('/me', first.access_token).expect(200);
  await host.get('/auth/sessions', first.access_token).expect(200);
  await host.get('/auth/history', first.access_token).expect(200);
  await host.get('/auth/history?event=logout', first.access_token).expect(200);
  const pair = (await host.refresh(first.refresh_token).expect(200)).body;
  await host.refresh(first.refresh_token).expect(200);
  await host.get('/me', pair.access_token).expect(200);
  await host.delete(`/auth/sessions/${second.session_id}`, pair.access_token).expect(200);
  const change = { current_password: PASSWORD, new_password: 'a password that is new' };
  const changed = (await host.post('/auth/password/change', pair.access_token, change).expect(200)).body;
  await host.refresh(third.refresh_token).expect(400);
  const principal = (await host.auth.authenticate(changed.access_token))!;
  const confirmed = await host.auth.reauthenticate(principal, 'a password that is new');
  await host.auth.refresh(confirmed.refreshToken);
  host.clock.advance(11_000);
  await host.refresh(confirmed.refreshToken).expect(400);
  expect(host.sent('token_reuse_detected')).toHaveLength(1);
  const bob = await host.login('bob');
  host.app.get(OpenSockets).register(bob.session_id, () => undefined);
  await host.app.get(OpenSockets).check();
  await host.post('/auth/logout/all', bob.access_token, {}).expect(200);
  const { userId } = (await host.auth.authenticate((await host.login('bob')).access_token))!;
  const { token } = await host.auth.createPasswordResetToken(userId);
  await host.auth.redeemPasswordResetToken(token, 'a password that is new');
  const ticket = await host.auth.createLoginTicket(userId, { methods: ['hwk'] });
  await host.auth.attempt({ ticket, method: 'otp' }, {}, () => false);
  await host.auth.attempt({ ticket, method: 'otp' }, {}, () => true);
  const opened = await host.auth.openSession({ ticket });
  const owner = (await host.auth.authenticate(opened.accessToken))!;
  await host.auth.attempt({ principal: owner, method: 'otp' }, {}, () => true);
  await host.auth.confirmIdentity(owner, { methods: ['hwk'] });
  for (let i = 0; i <= 20; i++) await host.auth.createLoginTicket(userId, { methods: ['hwk'] });
  await administration.list({ userId });
  await administration.history(userId);
  await administration.end({ userId }, { actor: 'carol' });
  await host.auth.disableUser(userId);
  await host.auth.forgetUser(userId);
  await host.app.get(AuthHealth).check();
  host.clock.advance(8 * DAY);
  await host.pruning.prune();
  await host.pruning.prune({ dryRun: true });
}

/** The tables of the library that a plan reads from end to end. */
const SCANS: Record<DatabaseName, (dataSource: DataSource, call: Call) => Promise<string[]>> = {
  async postgres(dataSource, call) {
    const plan: Record<string, string>[] = await dataSource.query(`EXPLAIN ${call.sql}`, paramsInTransaction(call));
    return plan.flatMap((row) =>
      [...Object.values(row)[0]!.matchAll(/Seq Scan on (auth_\w+)/g)].map(([, table]) => table!),
    );
  },
  async mariadb(dataSource, { sql, params }) {
    const plan: { table: string | null; type: string | null }[] = await dataSource.query(`EXPLAIN ${sql}`, params);
    return plan.filter(({ table, type }) => table !== null && type === 'ALL').map(({ table }) => table!);
  },
  async sqlite(dataSource, { sql, params }) {
    const values = params.map((value) => (typeof value === 'boolean' ? Number(value) : value));
    const plan: { detail: string }[] = await dataSource.query(`EXPLAIN QUERY PLAN ${sql}`, values);
    return plan.flatMap(({ detail }) => (/^SCAN (?!CONSTANT)(?!.*USING)(\S+)/.exec(detail) ?? []).slice(1));
  },
};

describe.each(DATABASES)('the plans of all statements on %s', (name) => {
  it('use an index, and read no table from end to end', async () => {
    const database = await createDatabase(name);
    const host = await Host.start({ database, auth: { refreshReuseGraceSeconds: 10, history: { maxRowsPerUser: 2 } } });
    await fill(host);
    if (name === 'postgres') await host.dataSource.query('ANALYZE');
    if (name === 'mariadb') await host.dataSource.query('ANALYZE TABLE auth_sessions, auth_events');
    const seen = new Map<string, Call>();
    const tap = new Tap(host);
    tap.hook = { before: (call) => void (call.sql && seen.set(call.sql, { ...call, params: [...call.params] })) };
    await runEverything(host);
    tap.hook = {};

    const statements = [...seen.values()].filter(
      ({ sql }) => /^(SELECT|UPDATE|DELETE|WITH)/.test(sql) && /auth_(?!users)/.test(sql),
    );
    expect(statements.length).toBeGreaterThan(30);
    const scans: [string, string[]][] = [];
    for (const call of statements) {
      const tables = await SCANS[name](host.dataSource, call);
      // A dry run of pruning counts the rows of all histories.
      if (call.sql.includes('HAVING COUNT(*)')) continue;
      // A table of a few rows is read from end to end.
      const large = tables.filter((table) => ['auth_sessions', 'auth_events', 's'].includes(table));
      if (large.length > 0) scans.push([call.sql, large]);
    }
    expect(scans).toEqual([]);
    await host.close();
    await database.drop();
  }, 60_000);
});
