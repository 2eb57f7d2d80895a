import { AuthEvent, type PruneReport } from 'nestjs-session-auth';
import { createDatabase, DATABASES, describeEachPooled } from '../support/databases';
import { DAY, HOUR, MINUTE } from '../support/driven-clock';
import { Host } from '../support/host';
import { eventsOf, INVALID_REFRESH, storedEnd, stories, type Stage } from '../e2e/stories';

const NOTHING: PruneReport = {
  dryRun: false,
  expiredSessions: 0,
  sealedAnswers: 0,
  refreshTokens: 0,
  sessions: 0,
  events: 0,
  loginFailures: 0,
  passwordResets: 0,
};

async function countOf(host: Host, table: string): Promise<number> {
  return Number((await host.dataSource.query(`SELECT COUNT(*) AS n FROM ${table}`))[0].n);
}

/** Below all those that the library makes. */
let lastId = 1;

/** Rows of the log, as old as they are told to be, oldest first. */
async function writeEvents(host: Host, userId: string | null, events: readonly string[], age = 0): Promise<void> {
  const first = host.clock.now() - age;
  const rows = events.map((event, index) => ({
    id: lastId++,
    userId,
    event: event as AuthEvent['event'],
    ipAddress: null,
    userAgent: '',
    extra: {},
    occurredAt: first + index,
  }));
  for (let i = 0; i < rows.length; i += 500) {
    await host.dataSource.getRepository(AuthEvent).insert(rows.slice(i, i + 500));
  }
}

async function aliceId(host: Host): Promise<string> {
  return (await host.dataSource.query("SELECT id FROM auth_users WHERE username = 'alice'"))[0].id;
}

stories('clean-up', { auth: { history: { retentionDays: 90, maxRowsPerUser: 20 } } }, (at: Stage) => {
  it('leaves alone what is live', async () => {
    const { host } = at;
    const first = await host.login();
    const { body: pair } = await host.refresh(first.refresh_token).expect(200);
    host.clock.advance(7 * DAY - 1);
    expect(await host.pruning.prune()).toEqual(NOTHING);
    await host.refresh(pair.refresh_token).expect(200);
  });

  it('keeps used tokens until the absolute end of their family, so that reuse is noticed', async () => {
    const { host } = at;
    const first = await host.login();
    let { refresh_token: token } = (await host.refresh(first.refresh_token).expect(200)).body;
    for (let week = 0; week < 4; week++) {
      host.clock.advance(7 * DAY - 1);
      token = (await host.refresh(token).expect(200)).body.refresh_token;
      expect(await host.pruning.prune()).toMatchObject({ refreshTokens: 0, sessions: 0 });
    }
    await host.refresh(first.refresh_token).expect(400, INVALID_REFRESH);
    expect(host.sent('token_reuse_detected')).toHaveLength(1);
    expect(await host.pruning.prune()).toMatchObject({ refreshTokens: 0 });
    host.clock.advance(2 * DAY + 4);
    expect(await host.pruning.prune()).toMatchObject({ refreshTokens: 5 });
    expect(await countOf(host, 'auth_refresh_tokens')).toBe(0);
    await host.refresh(first.refresh_token).expect(400, INVALID_REFRESH);
    expect(host.sent('token_reuse_detected')).toHaveLength(1);
  });

  it('ends sessions whose time is over, and tells each once', async () => {
    const { host } = at;
    const idle = await host.login();
    const { user_id: userId } = (await host.dataSource.query('SELECT user_id FROM auth_sessions'))[0];
    await host.login('bob');
    host.clock.advance(7 * DAY);
    expect(await host.pruning.prune({ dryRun: true })).toEqual({ ...NOTHING, dryRun: true, expiredSessions: 2 });
    expect(await host.pruning.prune()).toEqual({ ...NOTHING, expiredSessions: 2 });
    expect(await host.pruning.prune()).toEqual(NOTHING);
    expect(await storedEnd(host, idle.session_id)).toEqual({ state: 'expired', end_reason: 'expired' });
    const told = host.sent('user_logged_out');
    expect(told.map(({ reason }) => reason)).toEqual(['expired', 'expired']);
    expect(told.map((one) => one.userId)).toContain(userId);
    host.clock.advance(-HOUR);
    await host.get('/me', idle.access_token).expect(401);
  });

  it('notices an absolute end that comes before the idle one', async () => {
    const { host } = at;
    let { refresh_token: token } = await host.login();
    for (let week = 0; week < 4; week++) {
      host.clock.advance(7 * DAY - 1);
      token = (await host.refresh(token).expect(200)).body.refresh_token;
    }
    host.clock.advance(2 * DAY + 3);
    expect(await host.pruning.prune()).toMatchObject({ expiredSessions: 0 });
    host.clock.advance(1);
    expect(await host.pruning.prune()).toMatchObject({ expiredSessions: 1 });
  });

  it('keeps ended sessions as long as the history, so that a known device is known', async () => {
    const { host } = at;
    const first = await host.login();
    await host.post('/auth/logout', first.access_token).expect(200);
    host.clock.advance(90 * DAY - 1);
    expect(await host.pruning.prune()).toMatchObject({ sessions: 0, events: 0 });
    host.clock.advance(1);
    expect(await host.pruning.prune()).toEqual({ ...NOTHING, sessions: 1, events: 2 });
    expect(await countOf(host, 'auth_sessions')).toBe(0);
  });

  it('keeps the history within its days', async () => {
    const { host } = at;
    const userId = await aliceId(host);
    await writeEvents(host, userId, ['login_success', 'logout'], 90 * DAY + 1);
    await writeEvents(host, null, ['login_failure'], 90 * DAY);
    await writeEvents(host, userId, ['login_success'], 90 * DAY - MINUTE);
    expect(await host.pruning.prune({ dryRun: true })).toMatchObject({ events: 3 });
    expect(await host.pruning.prune()).toMatchObject({ events: 3 });
    expect(await countOf(host, 'auth_events')).toBe(1);
  });

  it('keeps the history within its rows: refreshes go first, then failed logins, and last the oldest of all', async () => {
    const { host } = at;
    const userId = await aliceId(host);
    const kept = async (): Promise<Record<string, number>> => {
      const rows = await host.dataSource.query('SELECT event, COUNT(*) AS n FROM auth_events GROUP BY event');
      return Object.fromEntries(rows.map((row: { event: string; n: unknown }) => [row.event, Number(row.n)]));
    };
    await writeEvents(host, userId, Array<string>(10).fill('login_success'), 9 * HOUR);
    await writeEvents(host, userId, Array<string>(10).fill('login_failure'), 8 * HOUR);
    await writeEvents(host, userId, Array<string>(10).fill('token_refresh'), 7 * HOUR);
    expect(await host.pruning.prune({ dryRun: true })).toMatchObject({ events: 10 });
    expect(await host.pruning.prune()).toMatchObject({ events: 10 });
    expect(await kept()).toEqual({ login_success: 10, login_failure: 10 });
    await writeEvents(host, userId, Array<string>(4).fill('logout'), 6 * HOUR);
    expect(await host.pruning.prune()).toMatchObject({ events: 4 });
    expect(await kept()).toEqual({ login_success: 10, login_failure: 6, logout: 4 });
    await writeEvents(host, userId, Array<string>(9).fill('session_revoked'), 5 * HOUR);
    expect(await host.pruning.prune()).toMatchObject({ events: 9 });
    expect(await kept()).toEqual({ login_success: 7, logout: 4, session_revoked: 9 });
    const session = await host.login();
    expect(await eventsOf(host, session.access_token)).toHaveLength(21);
    expect(await host.pruning.prune({ dryRun: true })).toMatchObject({ events: 1 });
  });

  it('keeps what was typed for names that nobody has within a cap of its own', async () => {
    const { host } = at;
    await writeEvents(host, null, Array<string>(10_700).fill('login_failure'), HOUR);
    expect(await host.pruning.prune({ dryRun: true })).toMatchObject({ events: 700 });
    expect(await host.pruning.prune()).toMatchObject({ events: 700 });
    expect(await host.pruning.prune()).toEqual(NOTHING);
    expect(await countOf(host, 'auth_events')).toBe(10_000);
  });

  it('removes counts of failed logins when their time is over', async () => {
    const { host } = at;
    await host.http.post('/auth/login').send({ username: 'alice', password: 'wrong' }).expect(400);
    host.clock.advance(5 * MINUTE - 1);
    expect(await host.pruning.prune()).toEqual(NOTHING);
    host.clock.advance(1);
    expect(await host.pruning.prune()).toEqual({ ...NOTHING, loginFailures: 1 });
  });

  it('changes nothing on a dry run', async () => {
    const { host } = at;
    const first = await host.login();
    await host.refresh(first.refresh_token).expect(200);
    host.clock.advance(200 * DAY);
    const tables = ['auth_sessions', 'auth_refresh_tokens', 'auth_events', 'auth_login_failures'];
    const dump = (): Promise<unknown[]> =>
      Promise.all(tables.map((name) => host.dataSource.query(`SELECT * FROM ${name}`)));
    const before = await dump();
    const report = await host.pruning.prune({ dryRun: true });
    expect(report).toEqual({ ...NOTHING, dryRun: true, expiredSessions: 1, refreshTokens: 1, events: 2 });
    expect(await dump()).toEqual(before);
    expect(host.sent('user_logged_out')).toEqual([]);
  });
});

describe.each(DATABASES)('clean-up by two instances at the same time on %s', (name) => {
  it('does each thing once, and trims nobody below the cap', async () => {
    const database = await createDatabase(name);
    const auth = { history: { maxRowsPerUser: 100 } };
    const hosts = [await Host.start({ database, auth }), await Host.start({ database, auth, users: [] })] as const;
    const userId = await aliceId(hosts[0]);
    for (let i = 0; i < 5; i++) await hosts[0].login();
    for (const host of hosts) host.clock.advance(8 * DAY);
    await writeEvents(hosts[0], userId, Array<string>(1_000).fill('token_refresh'), HOUR);
    await writeEvents(hosts[0], userId, Array<string>(90).fill('login_success'), HOUR);
    await writeEvents(hosts[0], null, Array<string>(3_000).fill('login_failure'), 100 * DAY);
    const reports = await Promise.all(hosts.map((host) => host.pruning.prune()));
    const sum = (key: 'events' | 'expiredSessions'): number =>
      reports.reduce((total, report) => total + report[key], 0);
    expect(sum('expiredSessions')).toBe(5);
    expect(hosts.flatMap((host) => host.sent('user_logged_out'))).toHaveLength(5);
    // 1,095 of alice's, of which 100 may stay.
    expect(sum('events')).toBe(3_000 + 995);
    const left = await hosts[0].dataSource.query("SELECT event FROM auth_events WHERE event = 'login_success'");
    expect(left).toHaveLength(95);
    for (const host of hosts) await host.close();
    await database.drop();
  });
});

describe.each(DATABASES)('clean-up by several instances at the same time on %s', (name) => {
  it('leaves as many of the names that nobody has as may stay', async () => {
    const database = await createDatabase(name);
    const host = await Host.start({ database });
    await writeEvents(host, null, Array<string>(11_200).fill('login_failure'), HOUR);
    await Promise.all([1, 2, 3].map(() => host.pruning.prune()));
    expect(await countOf(host, 'auth_events')).toBe(10_000);
    await host.close();
    await database.drop();
  });
});

describeEachPooled('a row that somebody has locked on %s', (name) => {
  it('is passed over by the clean-up, which waits for nobody', async () => {
    const database = await createDatabase(name);
    const host = await Host.start({ database });
    const [first] = [await host.login(), await host.login('bob')];
    host.clock.advance(8 * DAY);
    const other = host.dataSource.createQueryRunner();
    await other.startTransaction();
    await other.query(`SELECT id FROM auth_sessions WHERE id = '${first.session_id}' FOR UPDATE`);
    expect(await host.pruning.prune()).toMatchObject({ expiredSessions: 1 });
    await other.rollbackTransaction();
    await other.release();
    expect(await host.pruning.prune()).toMatchObject({ expiredSessions: 1 });
    await host.close();
    await database.drop();
  });
});
