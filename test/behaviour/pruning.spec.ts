import { AuthEvent, AuthSession, AuthUser, type PruneReport } from 'nestjs-session-auth';
import { firstEventIdAt } from '../../libs/auth/src/store/events/event-ids';
import { createDatabase, DATABASES, describeEachPooled } from '../support/databases';
import { DAY, HOUR, MINUTE } from '../support/driven-clock';
import { Host } from '../support/host';
import { eventsOf, INVALID_REFRESH, setActive, storedEnd, stories, type Stage } from '../e2e/stories';

const NOTHING: PruneReport = {
  dryRun: false,
  endedSessions: 0,
  sessions: 0,
  events: 0,
  loginFailures: 0,
  loginTickets: 0,
  passwordResets: 0,
};

async function countOf(host: Host, table: string): Promise<number> {
  return Number((await host.dataSource.query(`SELECT COUNT(*) AS n FROM ${table}`))[0].n);
}

/** Writes events of this age to the log, oldest first. */
async function writeEvents(host: Host, userId: string | null, events: readonly string[], age = 0): Promise<void> {
  const first = host.clock.now() - age;
  const rows = events.map((event, index) => ({
    id: firstEventIdAt(first + index),
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
  return (await host.dataSource.getRepository(AuthUser).findOneByOrFail({ username: 'alice' })).id;
}

const stored = ({ host }: Stage, id: string): Promise<AuthSession> =>
  host.dataSource.getRepository(AuthSession).findOneByOrFail({ id });

stories('pruning sessions', { auth: { history: { retentionDays: 90 } } }, (at: Stage) => {
  it('leaves live sessions alone', async () => {
    const { host } = at;
    const first = await host.login();
    const { body: pair } = await host.refresh(first.refresh_token).expect(200);
    host.clock.advance(7 * DAY - 1);
    expect(await host.pruning.prune()).toEqual(NOTHING);
    await host.refresh(pair.refresh_token).expect(200);
  });

  it('ends those that have expired, and reports each end once', async () => {
    const { host } = at;
    const session = await host.login();
    await host.login('bob');
    host.clock.advance(7 * DAY);
    expect(await host.pruning.prune({ dryRun: true })).toEqual({ ...NOTHING, dryRun: true, endedSessions: 2 });
    expect(await host.pruning.prune()).toEqual({ ...NOTHING, endedSessions: 2 });
    expect(await host.pruning.prune()).toEqual(NOTHING);
    expect(await storedEnd(host, session.session_id)).toEqual({ state: 'expired', end_reason: 'expired' });
    const ended = host.sent('user_logged_out');
    expect(ended.map(({ reason }) => reason)).toEqual(['expired', 'expired']);
    expect(ended.map(({ userId }) => userId)).toContain(await aliceId(host));
    host.clock.advance(-HOUR);
    await host.get('/me', session.access_token).expect(401);
  });

  it('does not end one that a refresh has extended: it is visited when due, and scheduled for its new expiry', async () => {
    const { host } = at;
    const { session_id: id, refresh_token: token } = await host.login();
    const openedAt = host.clock.now();
    host.clock.advance(6 * DAY);
    const { body: pair } = await host.refresh(token).expect(200);
    expect((await stored(at, id)).checkAt).toBe(openedAt + 7 * DAY);
    host.clock.advance(DAY);
    expect(await host.pruning.prune({ dryRun: true })).toEqual({ ...NOTHING, dryRun: true });
    expect(await host.pruning.prune()).toEqual(NOTHING);
    expect((await stored(at, id)).checkAt).toBe(openedAt + 13 * DAY);
    await host.refresh(pair.refresh_token).expect(200);
    expect((await stored(at, id)).checkAt).toBe(openedAt + 13 * DAY);
  });

  it('visits none before it is due: a session that expires early is refused, and stored as expired then', async () => {
    const { host, database } = at;
    const { refresh_token: token, session_id: id } = await host.login();
    const lowered = await Host.start({ database, auth: { idleTimeoutSeconds: 3600 }, users: [] });
    try {
      lowered.clock.advance(host.clock.now() - lowered.clock.now() + 2 * HOUR);
      expect(await lowered.pruning.prune()).toEqual(NOTHING);
      expect(await storedEnd(host, id)).toMatchObject({ state: 'active' });
      await lowered.refresh(token).expect(400, INVALID_REFRESH);
      expect(await storedEnd(host, id)).toMatchObject({ state: 'expired' });
    } finally {
      await lowered.close();
    }
  });

  it('ends one at its absolute timeout where that comes before the idle one', async () => {
    const { host } = at;
    let { refresh_token: token } = await host.login();
    for (let week = 0; week < 4; week++) {
      host.clock.advance(7 * DAY - 1);
      token = (await host.refresh(token).expect(200)).body.refresh_token;
      expect(await host.pruning.prune()).toEqual(NOTHING);
    }
    host.clock.advance(2 * DAY + 3);
    expect(await host.pruning.prune()).toEqual(NOTHING);
    host.clock.advance(1);
    expect(await host.pruning.prune()).toEqual({ ...NOTHING, endedSessions: 1 });
  });

  it('leaves the reuse of any earlier token detectable for as long as the session lives, and no longer', async () => {
    const { host } = at;
    const first = await host.login();
    let token = first.refresh_token;
    for (let week = 0; week < 4; week++) {
      host.clock.advance(7 * DAY - 1);
      token = (await host.refresh(token).expect(200)).body.refresh_token;
      expect(await host.pruning.prune()).toEqual(NOTHING);
    }
    for (let time = 0; time < 2; time++) {
      await host.refresh(first.refresh_token).expect(400, INVALID_REFRESH);
      expect(host.sent('token_reuse_detected')).toHaveLength(1);
    }
  });

  it.each(['disabled', 'deleted'])('ends an idle session of a user who was %s, with forced_logout', async (how) => {
    const { host } = at;
    const carol = await host.auth.createUser({ username: 'carol', password: 'correct horse battery staple' });
    const { session_id: id, refresh_token: token } = await host.login('carol');
    host.clock.advance(6 * DAY);
    await host.refresh(token).expect(200);
    if (how === 'disabled') await setActive(host, 'carol', false);
    else await host.dataSource.getRepository(AuthUser).delete({ username: 'carol' });
    host.clock.advance(DAY - 1);
    expect(await host.pruning.prune()).toEqual(NOTHING);
    host.clock.advance(1);
    expect(await host.pruning.prune({ dryRun: true })).toEqual({ ...NOTHING, dryRun: true, endedSessions: 1 });
    expect(await host.pruning.prune()).toEqual({ ...NOTHING, endedSessions: 1 });
    expect(await host.pruning.prune()).toEqual(NOTHING);
    const reason = `user_${how}`;
    expect(await storedEnd(host, id)).toEqual({ state: 'revoked', end_reason: reason });
    expect(host.sent('user_logged_out')).toMatchObject([{ userId: carol.id, reason }]);
    const [event] = await host.auth.history(carol.id);
    expect(event).toMatchObject({ event: 'forced_logout', extra: { session_id: id, reason } });
    await host.dataSource.getRepository(AuthUser).delete({ username: 'carol' });
  });

  it('removes ended ones when their login is as old as the history, so that a known device is recognised', async () => {
    const { host } = at;
    const session = await host.login();
    host.clock.advance(5 * MINUTE);
    await host.post('/auth/logout', session.access_token).expect(200);
    host.clock.advance(90 * DAY - 5 * MINUTE - 1);
    expect(await host.pruning.prune()).toEqual(NOTHING);
    host.clock.advance(1);
    expect(await host.pruning.prune({ dryRun: true })).toEqual({ ...NOTHING, dryRun: true, sessions: 1 });
    // Pruning skips a row that is locked, for example by an activity that is still being written.
    let report = await host.pruning.prune();
    for (let tries = 0; tries < 50 && report.sessions === 0; tries++) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      report = await host.pruning.prune();
    }
    expect(report).toEqual({ ...NOTHING, sessions: 1 });
    expect(await countOf(host, 'auth_sessions')).toBe(0);
  });

  it('removes one that ends later than the history is kept at the next run', async () => {
    const { host } = at;
    await host.login();
    host.clock.advance(91 * DAY);
    expect(await host.pruning.prune()).toMatchObject({ endedSessions: 1, sessions: 0 });
    expect(await host.pruning.prune()).toMatchObject({ endedSessions: 0, sessions: 1 });
  });

  it('changes nothing on a dry run', async () => {
    const { host } = at;
    await host.login();
    const ended = await host.login();
    await host.post('/auth/logout', ended.access_token).expect(200);
    host.clock.advance(200 * DAY);
    const tables = ['auth_sessions', 'auth_events', 'auth_login_failures'];
    const dump = (): Promise<unknown[]> =>
      Promise.all(tables.map((name) => host.dataSource.query(`SELECT * FROM ${name}`)));
    const before = await dump();
    const report = await host.pruning.prune({ dryRun: true });
    expect(report).toEqual({ ...NOTHING, dryRun: true, endedSessions: 1, sessions: 1, events: 3 });
    expect(await dump()).toEqual(before);
    expect(host.sent('user_logged_out')).toHaveLength(1);
  });
});

stories('pruning the history', { auth: { history: { retentionDays: 90, maxRowsPerUser: 20 } } }, (at: Stage) => {
  it('removes events that are older than it is kept', async () => {
    const { host } = at;
    const userId = await aliceId(host);
    await writeEvents(host, userId, ['login_success', 'logout'], 90 * DAY + 2);
    await writeEvents(host, null, ['login_failure'], 90 * DAY + MINUTE);
    await writeEvents(host, userId, ['login_success'], 90 * DAY - MINUTE);
    expect(await host.pruning.prune({ dryRun: true })).toMatchObject({ events: 3 });
    expect(await host.pruning.prune()).toMatchObject({ events: 3 });
    expect(await countOf(host, 'auth_events')).toBe(1);
  });

  it('keeps as many events of a user as may stay: refreshes go first, then failed logins, then the oldest', async () => {
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

  it('removes requests for a password reset, which strangers cause, before what the user did', async () => {
    const { host } = at;
    const userId = await aliceId(host);
    await writeEvents(host, userId, ['login_success', 'password_change', 'token_reuse'], 9 * HOUR);
    await writeEvents(host, userId, Array<string>(30).fill('password_reset_requested'), 8 * HOUR);
    expect(await host.pruning.prune()).toMatchObject({ events: 13 });
    const rows = await host.dataSource.query('SELECT event, COUNT(*) AS n FROM auth_events GROUP BY event');
    const kept = Object.fromEntries(rows.map((row: { event: string; n: unknown }) => [row.event, Number(row.n)]));
    expect(kept).toEqual({ login_success: 1, password_change: 1, token_reuse: 1, password_reset_requested: 17 });
  });

  it('keeps 10,000 events of unknown names', async () => {
    const { host } = at;
    await writeEvents(host, null, Array<string>(10_700).fill('login_failure'), HOUR);
    expect(await host.pruning.prune({ dryRun: true })).toMatchObject({ events: 700 });
    expect(await host.pruning.prune()).toMatchObject({ events: 700 });
    expect(await host.pruning.prune()).toEqual(NOTHING);
    expect(await countOf(host, 'auth_events')).toBe(10_000);
  });

  it('removes counts of failed logins that have expired', async () => {
    const { host } = at;
    await host.http.post('/auth/login').send({ username: 'alice', password: 'wrong' }).expect(400);
    host.clock.advance(5 * MINUTE - 1);
    expect(await host.pruning.prune()).toEqual(NOTHING);
    host.clock.advance(1);
    expect(await host.pruning.prune()).toEqual({ ...NOTHING, loginFailures: 1 });
  });
});

describe.each(DATABASES)('pruning by two instances at the same time on %s', (name) => {
  it('ends and removes each row once, and leaves each user as many events as may stay', async () => {
    const database = await createDatabase(name);
    const auth = { history: { maxRowsPerUser: 100 } };
    const hosts = [await Host.start({ database, auth }), await Host.start({ database, auth, users: [] })] as const;
    const userId = await aliceId(hosts[0]);
    for (let i = 0; i < 5; i++) await hosts[0].login();
    for (const host of hosts) host.clock.advance(8 * DAY);
    await writeEvents(hosts[0], userId, Array<string>(1_000).fill('token_refresh'), HOUR);
    await writeEvents(hosts[0], userId, Array<string>(90).fill('login_success'), HOUR - MINUTE);
    await writeEvents(hosts[0], null, Array<string>(3_000).fill('login_failure'), 100 * DAY);
    const reports = await Promise.all(hosts.map((host) => host.pruning.prune()));
    const sum = (key: 'events' | 'endedSessions'): number => reports.reduce((total, report) => total + report[key], 0);
    expect(sum('endedSessions')).toBe(5);
    expect(hosts.flatMap((host) => host.sent('user_logged_out'))).toHaveLength(5);
    // 1,095 of alice's, of which 100 may stay.
    expect(sum('events')).toBe(3_000 + 995);
    const left = await hosts[0].dataSource.query("SELECT event FROM auth_events WHERE event = 'login_success'");
    expect(left).toHaveLength(95);
    for (const host of hosts) await host.close();
    await database.drop();
  });
});

describe.each(DATABASES)('pruning by three instances at the same time on %s', (name) => {
  it('leaves 10,000 events of unknown names', async () => {
    const database = await createDatabase(name);
    const host = await Host.start({ database });
    await writeEvents(host, null, Array<string>(11_200).fill('login_failure'), HOUR);
    await Promise.all([1, 2, 3].map(() => host.pruning.prune()));
    expect(await countOf(host, 'auth_events')).toBe(10_000);
    await host.close();
    await database.drop();
  });
});

describeEachPooled('a session that another transaction has locked, on %s', (name) => {
  it('is skipped by pruning, which does not wait for it', async () => {
    const database = await createDatabase(name);
    const host = await Host.start({ database });
    const [first] = [await host.login(), await host.login('bob')];
    host.clock.advance(8 * DAY);
    const other = host.dataSource.createQueryRunner();
    await other.startTransaction();
    await other.query(`SELECT id FROM auth_sessions WHERE id = '${first.session_id}' FOR UPDATE`);
    expect(await host.pruning.prune()).toMatchObject({ endedSessions: 1 });
    await other.rollbackTransaction();
    await other.release();
    expect(await host.pruning.prune()).toMatchObject({ endedSessions: 1 });
    await host.close();
    await database.drop();
  });
});
