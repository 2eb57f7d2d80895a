import { AuthEvent, AuthSession, AuthUser } from 'nestjs-session-auth';
import { firstEventIdAt } from '../../libs/auth/src/history/event-log';
import { describeOnEachDatabase, type TestEnvironment } from '../support/environment';
import { DAY, HOUR } from '../support/driven-clock';
import type { TestApplication } from '../support/test-application';
import { statementsOf, Tap } from '../support/tap';

const AUTH = { history: { maxRowsPerUser: 20 } };

async function idOf(app: TestApplication): Promise<string> {
  return (await app.dataSource.getRepository(AuthUser).findOneByOrFail({ username: 'alice' })).id;
}

/** Writes events to the log, oldest first. */
async function writeEvents(app: TestApplication, userId: string, events: readonly string[]): Promise<void> {
  const first = app.clock.now() - HOUR;
  const rows = events.map((event, index) => ({
    ...{
      id: firstEventIdAt(first) + index,
      userId,
      event,
      ipAddress: null,
      userAgent: '',
      extra: {},
      occurredAt: first,
    },
  }));
  for (let i = 0; i < rows.length; i += 500) {
    await app.dataSource.getRepository(AuthEvent).insert(rows.slice(i, i + 500) as object[]);
  }
}

const many = (event: string, times: number): string[] => Array<string>(times).fill(event);

async function eventCounts(app: TestApplication): Promise<Record<string, number>> {
  const rows = await app.dataSource.query('SELECT event, COUNT(*) AS n FROM auth_events GROUP BY event');
  return Object.fromEntries(rows.map(({ event, n }: { event: string; n: unknown }) => [event, Number(n)]));
}

/** Copies an ended session the given number of times, and returns the ids. The first copy is the oldest. */
async function copyEnded(app: TestApplication, id: string, times: number): Promise<string[]> {
  const sessions = app.dataSource.getRepository(AuthSession);
  const row = await sessions.findOneByOrFail({ id });
  // Inserts the copies in an order that differs from their age.
  const idAt = (i: number): string => `${String((i * 7_919) % 10_000).padStart(8, '0')}-0000-4000-8000-000000000000`;
  const copies = Array.from({ length: times }, (_, i) => ({
    ...row,
    id: idAt(i),
    createdAt: Number(row.createdAt) - times + i,
  }));
  for (let i = 0; i < times; i += 200) await sessions.insert(copies.slice(i, i + 200));
  return copies.map((copy) => copy.id);
}

describeOnEachDatabase('the history of a user with too many events', { auth: AUTH }, (env: TestEnvironment) => {
  it('pruning trims a history of over 10,000 events to the maximum, refreshes and failed logins first', async () => {
    const { app } = env;
    const alice = await idOf(app);
    const old = ['login_failure', ...many('login_success', 10_050)];
    await writeEvents(app, alice, [...old, 'token_refresh', 'token_refresh', 'login_failure', 'logout']);
    expect(await app.pruning.prune()).toMatchObject({ events: 10_035 });
    expect(await eventCounts(app)).toEqual({ login_success: 19, logout: 1 });
  });

  it('each statement that trims a history reads a bounded number of events', async () => {
    const { app } = env;
    await writeEvents(app, await idOf(app), many('token_refresh', 1_900));
    const reads: string[] = [];
    const tap = new Tap(app);
    tap.hook = {
      before: (call) => {
        if (statementsOf(call)[0] === 'SELECT' && call.sql.includes('auth_events')) reads.push(call.sql);
      },
    };
    expect(await app.pruning.prune()).toMatchObject({ events: 1_880 });
    tap.hook = {};
    expect(reads.length).toBeGreaterThan(8);
    expect(reads.filter((sql) => !/LIMIT/.test(sql))).toEqual([]);
  });
});

const LARGE = { ...AUTH, history: { maxRowsPerUser: 10_050 } };

describeOnEachDatabase('a large maximum of events', { auth: LARGE }, (env: TestEnvironment) => {
  it('all surplus refreshes are removed before other events, also beyond the first 10,000 events', async () => {
    const { app } = env;
    const refreshes = many('token_refresh', 100);
    await writeEvents(app, await idOf(app), [
      ...refreshes,
      ...many('logout', 9_900),
      ...refreshes,
      ...many('logout', 100),
    ]);
    expect(await app.pruning.prune()).toMatchObject({ events: 150 });
    expect(await eventCounts(app)).toEqual({ token_refresh: 50, logout: 10_000 });
  });

  it('at most 1,000 ended sessions of a user are kept, although the user has fewer events than the maximum', async () => {
    const { app } = env;
    const { session_id: id, access_token: token } = await app.login();
    await app.post('/auth/logout', token).expect(200);
    await copyEnded(app, id, 1_100);
    await writeEvents(app, await idOf(app), many('login_success', 1_100));
    expect(await app.pruning.prune()).toMatchObject({ sessions: 101, events: 0 });
  });
});

describeOnEachDatabase('a history that grows between two prunings', { auth: AUTH }, (env: TestEnvironment) => {
  it('a history is trimmed each time that the instance has written as many events to it as the configured maximum', async () => {
    const { app } = env;
    await app.pruning.trimGrown();
    let { refresh_token: token } = await app.login();
    for (let i = 0; i < 18; i++) token = (await app.refresh(token).expect(200)).body.refresh_token;
    await app.login();
    await writeEvents(app, await idOf(app), many('token_refresh', 50));
    // The 20th event of alice was the second login. Later events are counted from zero.
    await app.pruning.trimGrown();
    expect(await eventCounts(app)).toEqual({ login_success: 2, token_refresh: 18 });
    for (let i = 0; i < 19; i++) token = (await app.refresh(token).expect(200)).body.refresh_token;
    await app.pruning.trimGrown();
    expect(await eventCounts(app)).toEqual({ login_success: 2, token_refresh: 37 });
    await app.refresh(token).expect(200);
    await app.pruning.trimGrown();
    expect(await eventCounts(app)).toEqual({ login_success: 2, token_refresh: 18 });
  });
});

describeOnEachDatabase('ended sessions of one user', { auth: AUTH }, (env: TestEnvironment) => {
  /** Creates a user with an active session and ended sessions, the oldest first. */
  const withEnded = async (times: number): Promise<{ active: string; ended: string[] }> => {
    const { app } = env;
    const session = await app.login();
    await app.post('/auth/logout', session.access_token).expect(200);
    const { session_id: active } = await app.login();
    return { active, ended: [...(await copyEnded(app, session.session_id, times - 1)), session.session_id] };
  };

  it('forgetUser() deletes ended sessions in batches, after the active sessions and the reset tokens', async () => {
    const { app } = env;
    const { active } = await withEnded(1_200);
    const alice = await idOf(app);
    await writeEvents(app, alice, many('token_refresh', 1_100));
    const deleted: [string, number][] = [];
    const tap = new Tap(app);
    tap.hook = {
      before: ({ sql, params }) => {
        const [, table] = /^DELETE FROM \W?(auth_\w+)/.exec(sql) ?? [];
        if (table) deleted.push([table, params.length]);
      },
    };
    await app.auth.forgetUser(alice);
    tap.hook = {};
    // The active session and the reset tokens, then batches of 500 rows, then the rest of each table.
    expect(deleted.filter(([table]) => table !== 'auth_login_failures')).toEqual([
      ['auth_sessions', 1],
      ['auth_login_tickets', 1],
      ['auth_password_resets', 1],
      ['auth_sessions', 500],
      ['auth_sessions', 500],
      ['auth_events', 500],
      ['auth_events', 500],
      ['auth_sessions', 1],
      ['auth_events', 1],
      ['auth_password_resets', 1],
      ['auth_login_tickets', 1],
      ['auth_user_locks', 1],
    ]);
    expect(await app.dataSource.getRepository(AuthSession).count()).toBe(0);
    expect(await eventCounts(app)).toEqual({});
    expect(app.sent('user_logged_out').filter(({ session }) => session.id === active)).toMatchObject([
      { reason: 'user_deleted' },
    ]);
  });

  it('a second forgetUser() deletes the ended sessions if the first call failed after it deleted the active session', async () => {
    const { app } = env;
    const { active } = await withEnded(600);
    const alice = await idOf(app);
    const tap = new Tap(app);
    tap.hook = {
      before: ({ sql, params }) => {
        if (/^DELETE FROM \W?auth_sessions/.test(sql) && params.length === 500) throw new Error('away');
      },
    };
    await expect(app.auth.forgetUser(alice)).rejects.toMatchObject({ code: 'database_unavailable' });
    tap.hook = {};
    const ends = (): unknown[] => app.sent('user_logged_out').filter(({ session }) => session.id === active);
    expect(ends()).toHaveLength(1);
    await app.auth.forgetUser(alice);
    expect(ends()).toHaveLength(1);
    expect(await app.dataSource.getRepository(AuthSession).count()).toBe(0);
  });

  it('at most 1,000 ended sessions of a user are kept, and trimming the history deletes the oldest', async () => {
    const { app } = env;
    const { active, ended } = await withEnded(2_100);
    await writeEvents(app, await idOf(app), many('logout', 21));
    expect(await app.pruning.prune()).toMatchObject({ sessions: 1_100 });
    const left = await app.dataSource.getRepository(AuthSession).find({ select: { id: true } });
    expect(left.map(({ id }) => id).sort()).toEqual([active, ...ended.slice(-1_000)].sort());
    app.clock.advance(DAY);
    expect(await app.pruning.prune()).toMatchObject({ sessions: 0 });
  });
});
