import { AuthSession, AuthUser, type PruneReport } from 'nestjs-session-auth';
import { EventLog, type NewAuthEvent } from '../../libs/auth/src/history/event-log';
import { DATABASES, describeEachPooled } from '../support/databases';
import { DAY, HOUR, MINUTE } from '../support/driven-clock';
import { withEndedSessions } from '../support/ended-sessions';
import { many, writeEvents } from '../support/rows';
import { databaseForTest, startForTest } from '../support/start-for-test';
import type { TestApplication } from '../support/test-application';
import { describeOnEachDatabase } from '../support/environment';

const NONE = { loginFailures: 0, loginTickets: 0, passwordResets: 0, apiKeys: 0 };
const NOTHING: PruneReport = { dryRun: false, endedSessions: 0, sessions: 0, events: 0, ...NONE };

/** Expects that a dry run and the next run report the same rows, and that a further run finds none. */
async function expectPruned({ pruning }: TestApplication, rows: Partial<PruneReport>): Promise<void> {
  expect(await pruning.prune({ dryRun: true })).toEqual({ ...NOTHING, ...rows, dryRun: true });
  expect(await pruning.prune()).toEqual({ ...NOTHING, ...rows });
  expect(await pruning.prune()).toEqual(NOTHING);
}

async function countOf(app: TestApplication, table: string): Promise<number> {
  return Number((await app.dataSource.query(`SELECT COUNT(*) AS n FROM ${table}`))[0].n);
}

async function eventCounts(app: TestApplication): Promise<Record<string, number>> {
  const rows = await app.dataSource.query('SELECT event, COUNT(*) AS n FROM auth_events GROUP BY event');
  return Object.fromEntries(rows.map(({ event, n }: { event: string; n: unknown }) => [event, Number(n)]));
}

/** Makes the instance count events as if it had written them. */
function writeWithoutDatabase(app: TestApplication, events: number): void {
  const event = { event: 'logout', userId: null, ipAddress: null, userAgent: '', extra: {}, at: 0 } as const;
  const write = app.nest.get(EventLog).write(Array<NewAuthEvent>(events).fill(event));
  for (let step = write.next(); !step.done;) step = write.next({ rows: [], affected: 0 });
}

describeOnEachDatabase('pruning of sessions', {}, ({ app }) => {
  it('pruning ends an expired session and reports its end once, and schedules a session that a refresh has extended for its new expiry', async () => {
    const [expiring, extended] = [await app.login(), await app.login('bob')];
    const openedAt = app.clock.now();
    const checkAt = async () => (await app.storedSession(extended.session_id)).checkAt;
    app.clock.advance(6 * DAY);
    const pair = await app.refreshed(extended);
    expect(await checkAt()).toBe(openedAt + 7 * DAY);
    app.clock.advance(DAY - 1);
    expect(await app.pruning.prune()).toEqual(NOTHING);
    app.clock.advance(1);
    await expectPruned(app, { endedSessions: 1 });
    expect(await app.storedEnd(expiring.session_id)).toEqual({ state: 'expired', end_reason: 'expired' });
    expect(app.sent('user_logged_out')).toMatchObject([{ userId: await app.userId(), reason: 'expired' }]);
    expect(await checkAt()).toBe(openedAt + 13 * DAY);
    await app.refreshed(pair);
    expect(await checkAt()).toBe(openedAt + 13 * DAY);
    app.clock.advance(-HOUR);
    await app.get('/me', expiring.access_token).expect(401);
  });

  it.each(['disabled', 'deleted'])(
    'pruning ends an idle session of a user who was %s, and records forced_logout',
    async (how) => {
      const carol = await app.auth.createUser({ username: 'carol', password: 'correct horse battery staple' });
      const { session_id: id, refresh_token: token } = await app.login('carol');
      app.clock.advance(6 * DAY);
      await app.refresh(token).expect(200);
      if (how === 'disabled') await app.setActive('carol', false);
      else await app.dataSource.getRepository(AuthUser).delete({ username: 'carol' });
      app.clock.advance(DAY - 1);
      expect(await app.pruning.prune()).toEqual(NOTHING);
      app.clock.advance(1);
      await expectPruned(app, { endedSessions: 1 });
      const reason = `user_${how}`;
      expect(await app.storedEnd(id)).toEqual({ state: 'revoked', end_reason: reason });
      expect(app.sent('user_logged_out')).toMatchObject([{ userId: carol.id, reason }]);
      const [event] = await app.auth.history(carol.id);
      expect(event).toMatchObject({ event: 'forced_logout', extra: { session_id: id, reason } });
      await app.dataSource.getRepository(AuthUser).delete({ username: 'carol' });
    },
  );
});

const TWENTY_ROWS = { auth: { history: { maxRowsPerUser: 20 } } };

describeOnEachDatabase('pruning of the history', TWENTY_ROWS, ({ app, tap }) => {
  it('pruning deletes events after the retention time', async () => {
    const userId = await app.userId();
    await writeEvents(app, userId, ['login_success', 'logout'], 90 * DAY + 2);
    await writeEvents(app, null, ['login_failure'], 90 * DAY + MINUTE);
    await writeEvents(app, userId, ['login_success'], 90 * DAY - MINUTE);
    await expectPruned(app, { events: 3 });
    expect(await countOf(app, 'auth_events')).toBe(1);
  });

  it('pruning keeps the configured number of events per user, and deletes refreshes first, then failed logins, then the oldest', async () => {
    const userId = await app.userId();
    await writeEvents(app, userId, many('login_success', 10), 9 * HOUR);
    await writeEvents(app, userId, many('login_failure', 10), 8 * HOUR);
    await writeEvents(app, userId, many('token_refresh', 10), 7 * HOUR);
    await expectPruned(app, { events: 10 });
    expect(await eventCounts(app)).toEqual({ login_success: 10, login_failure: 10 });
    await writeEvents(app, userId, many('logout', 4), 6 * HOUR);
    await expectPruned(app, { events: 4 });
    expect(await eventCounts(app)).toEqual({ login_success: 10, login_failure: 6, logout: 4 });
    await writeEvents(app, userId, many('session_revoked', 9), 5 * HOUR);
    await expectPruned(app, { events: 9 });
    expect(await eventCounts(app)).toEqual({ login_success: 7, logout: 4, session_revoked: 9 });
    const session = await app.login();
    expect(await app.events(session.access_token)).toHaveLength(21);
    expect(await app.pruning.prune({ dryRun: true })).toMatchObject({ events: 1 });
  });

  it('pruning deletes events of password reset requests, which anybody can cause, before events of the user', async () => {
    const userId = await app.userId();
    await writeEvents(app, userId, ['login_success', 'password_change', 'token_reuse'], 9 * HOUR);
    await writeEvents(app, userId, many('password_reset_requested', 30), 8 * HOUR);
    await expectPruned(app, { events: 13 });
    const kept = { login_success: 1, password_change: 1, token_reuse: 1 };
    expect(await eventCounts(app)).toEqual({ ...kept, password_reset_requested: 17 });
  });

  it('pruning keeps the beginning of an impersonation while it may last, so that forgetUser() can end it', async () => {
    const userId = await app.userId();
    await writeEvents(app, userId, ['impersonation_started'], 2 * HOUR);
    await writeEvents(app, userId, ['impersonation_started'], HOUR / 2);
    await writeEvents(app, userId, many('session_revoked', 20), HOUR / 4);
    await expectPruned(app, { events: 1 });
    expect(await eventCounts(app)).toEqual({ impersonation_started: 1, session_revoked: 20 });
  });

  it('pruning keeps 10,000 events of unknown names', async () => {
    await writeEvents(app, null, many('login_failure', 10_700), HOUR);
    await expectPruned(app, { events: 700 });
    await writeEvents(app, null, many('login_failure', 1_200), MINUTE);
    await Promise.all([1, 2, 3].map(() => app.pruning.prune()));
    expect(await countOf(app, 'auth_events')).toBe(10_000);
  });

  it('each statement that prunes a history reads a bounded number of events', async () => {
    await writeEvents(app, await app.userId(), many('token_refresh', 1_900), HOUR);
    const reads: string[] = [];
    tap.hook.before = ({ sql }) => void (/^SELECT.*auth_events/s.test(sql) && reads.push(sql));
    expect(await app.pruning.prune()).toMatchObject({ events: 1_880 });
    tap.hook = {};
    expect(reads.length).toBeGreaterThan(6);
    expect(reads.filter((sql) => !/LIMIT| IN \(/.test(sql))).toEqual([]);
  });

  it('pruning finds every user with too many events, however many events other users have', async () => {
    // The statements that count the events per user read 10,000 events at a time.
    const events = { u0: 21, u1: 10_020, u2: 21, u3: 10_020, u4: 21 };
    const users = Object.entries(events);
    for (const [i, [user, count]] of users.entries())
      await writeEvents(app, user, many('logout', count), (i + 1) * HOUR);
    expect(await app.pruning.prune()).toMatchObject({ events: 20_003 });
    const rows = await app.dataSource.query('SELECT COUNT(*) AS n FROM auth_events GROUP BY user_id');
    expect(rows.map(({ n }: { n: unknown }) => Number(n))).toEqual([20, 20, 20, 20, 20]);
  });

  it('at most 1,000 ended sessions of a user are kept, and pruning deletes the oldest', async () => {
    const { active, ended } = await withEndedSessions(app, 2_100);
    await writeEvents(app, await app.userId(), many('logout', 21), HOUR);
    expect(await app.pruning.prune()).toMatchObject({ sessions: 1_100 });
    const left = await app.dataSource.getRepository(AuthSession).find({ select: { id: true } });
    expect(left.map(({ id }) => id).sort()).toEqual([active, ...ended.slice(-1_000)].sort());
    app.clock.advance(DAY);
    expect(await app.pruning.prune()).toMatchObject({ sessions: 0 });
  });
});

const MANY_ROWS = { auth: { history: { maxRowsPerUser: 10_050 } } };

describeOnEachDatabase('pruning with a large maximum of events', MANY_ROWS, ({ app }) => {
  it('all surplus refreshes are removed before other events, also beyond the first 10,000 events', async () => {
    const refreshes = many('token_refresh', 100);
    const events = [...refreshes, ...many('logout', 9_900), ...refreshes, ...many('logout', 100)];
    await writeEvents(app, await app.userId(), events, HOUR);
    expect(await app.pruning.prune()).toMatchObject({ events: 150 });
    expect(await eventCounts(app)).toEqual({ token_refresh: 50, logout: 10_000 });
  });

  it('at most 1,000 ended sessions of a user are kept, although the user has fewer events than the maximum', async () => {
    await withEndedSessions(app, 1_101);
    await writeEvents(app, await app.userId(), many('login_success', 1_100), HOUR);
    expect(await app.pruning.prune()).toMatchObject({ sessions: 101, events: 0 });
  });
});

describe.each(DATABASES)('pruning besides its schedule on %s', (name) => {
  it('an instance prunes after every 100,000 events that it has written, outside the transaction of the last one', async () => {
    const app = await startForTest(name, { auth: { history: { maxRowsPerUser: 20 } } });
    const bob = await app.userId('bob');
    await app.login('bob');
    const { refresh_token: token } = await app.login();
    await writeEvents(app, await app.userId(), many('logout', 30), HOUR);
    writeWithoutDatabase(app, 99_996);
    await app.refresh(token).expect(200);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await countOf(app, 'auth_events')).toBe(33);
    await expect(
      app.dataSource.transaction(async (manager) => {
        await app.auth.inTransaction(manager).disableUser(bob);
        throw new Error('rolled back');
      }),
    ).rejects.toThrow('rolled back');
    for (let tries = 0; tries < 100 && !app.pruning.lastRuns.succeededAt; tries++) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    // Of alice's 32 events, the refresh and the oldest logouts are removed.
    expect(await eventCounts(app)).toEqual({ login_success: 2, logout: 19 });
  });
});

describe.each(DATABASES)('parallel pruning on %s', (name) => {
  it('parallel pruning ends and deletes each row once, and leaves each user the configured number of events', async () => {
    const database = await databaseForTest(name);
    const auth = { history: { maxRowsPerUser: 100 } };
    const apps = [await startForTest(database, { auth }), await startForTest(database, { auth, users: [] })] as const;
    const userId = await apps[0].userId();
    for (let i = 0; i < 5; i++) await apps[0].login();
    for (const app of apps) app.clock.advance(8 * DAY);
    await writeEvents(apps[0], userId, many('token_refresh', 1_000), HOUR);
    await writeEvents(apps[0], userId, many('login_success', 90), HOUR - MINUTE);
    await writeEvents(apps[0], null, many('login_failure', 3_000), 100 * DAY);
    const reports = await Promise.all(apps.map((app) => app.pruning.prune()));
    const sum = (key: 'events' | 'endedSessions'): number => reports.reduce((total, report) => total + report[key], 0);
    expect(sum('endedSessions')).toBe(5);
    expect(apps.flatMap((app) => app.sent('user_logged_out'))).toHaveLength(5);
    // 1,095 events belong to alice, of which 100 may remain.
    expect(sum('events')).toBe(3_000 + 995);
    const left = await apps[0].dataSource.query("SELECT event FROM auth_events WHERE event = 'login_success'");
    expect(left).toHaveLength(95);
  });
});

describeEachPooled('pruning beside locked rows, on %s', (name) => {
  /** Locks the rows that the statements select, and returns a function that releases them. */
  async function lock(app: TestApplication, ...statements: string[]): Promise<() => Promise<void>> {
    const runner = app.dataSource.createQueryRunner();
    await runner.startTransaction();
    for (const sql of statements) await runner.query(`${sql} FOR UPDATE`);
    return () => runner.rollbackTransaction().then(() => runner.release());
  }

  it('pruning skips a locked session without waiting', async () => {
    const app = await startForTest(name);
    const [first] = [await app.login(), await app.login('bob')];
    app.clock.advance(8 * DAY);
    const release = await lock(app, `SELECT id FROM auth_sessions WHERE id = '${first.session_id}'`);
    expect(await app.pruning.prune()).toMatchObject({ endedSessions: 1 });
    await release();
    expect(await app.pruning.prune()).toMatchObject({ endedSessions: 1 });
  });

  it('pruning skips locked events and ended sessions of a user with too many, without waiting', async () => {
    const app = await startForTest(name, { auth: { history: { maxRowsPerUser: 2_000 } } });
    const { ended } = await withEndedSessions(app, 1_010);
    await writeEvents(app, await app.userId(), many('token_refresh', 2_020), 2 * HOUR);
    await writeEvents(app, 'another user', many('logout', 2_010), HOUR);
    const session = `SELECT id FROM auth_sessions WHERE id = '${ended[0]}'`;
    const release = await lock(app, session, 'SELECT id FROM auth_events ORDER BY id LIMIT 1');
    // Of the 2,023 and 2,010 events, 33 exceed the maximum, of which one is locked. Of the 1,010 sessions, 1,009 are found.
    expect(await app.pruning.prune()).toMatchObject({ events: 32, sessions: 9 });
    await release();
    expect(await app.pruning.prune()).toMatchObject({ events: 1, sessions: 1 });
  });
});
