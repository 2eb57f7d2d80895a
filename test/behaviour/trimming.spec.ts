import { AuthEvent, AuthSession, AuthUser } from 'nestjs-session-auth';
import { firstEventIdAt } from '../../libs/auth/src/store/events/event-ids';
import { stories, type Stage } from '../e2e/stories';
import { DAY, HOUR } from '../support/driven-clock';
import type { Host } from '../support/host';
import { statementsOf, Tap } from '../support/tap';

const AUTH = { history: { maxRowsPerUser: 20 }, pruneIntervalSeconds: false as const };

async function idOf(host: Host): Promise<string> {
  return (await host.dataSource.getRepository(AuthUser).findOneByOrFail({ username: 'alice' })).id;
}

/** Writes events to the log, oldest first. */
async function writeEvents(host: Host, userId: string, events: readonly string[]): Promise<void> {
  const first = host.clock.now() - HOUR;
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
    await host.dataSource.getRepository(AuthEvent).insert(rows.slice(i, i + 500) as object[]);
  }
}

const many = (event: string, times: number): string[] => Array<string>(times).fill(event);

async function eventCounts(host: Host): Promise<Record<string, number>> {
  const rows = await host.dataSource.query('SELECT event, COUNT(*) AS n FROM auth_events GROUP BY event');
  return Object.fromEntries(rows.map(({ event, n }: { event: string; n: unknown }) => [event, Number(n)]));
}

/** Copies an ended session so often; the first copy is the oldest. */
async function copyEnded(host: Host, id: string, times: number): Promise<string[]> {
  const sessions = host.dataSource.getRepository(AuthSession);
  const row = await sessions.findOneByOrFail({ id });
  // In another order than their ages.
  const idAt = (i: number): string => `${String((i * 7_919) % 10_000).padStart(8, '0')}-0000-4000-8000-000000000000`;
  const copies = Array.from({ length: times }, (_, i) => ({
    ...row,
    id: idAt(i),
    createdAt: Number(row.createdAt) - times + i,
  }));
  for (let i = 0; i < times; i += 200) await sessions.insert(copies.slice(i, i + 200));
  return copies.map((copy) => copy.id);
}

stories('a history that is too long', { auth: AUTH }, (at: Stage) => {
  it('is trimmed in batches that search on behind the one before, refreshes first', async () => {
    const { host } = at;
    const alice = await idOf(host);
    const old = ['login_failure', ...many('login_success', 10_050)];
    await writeEvents(host, alice, [...old, 'token_refresh', 'token_refresh', 'login_failure', 'logout']);
    expect(await host.pruning.prune()).toMatchObject({ events: 10_035 });
    expect(await eventCounts(host)).toEqual({ login_success: 19, logout: 1 });
  });

  it('is trimmed by statements that each read a bounded number of its events', async () => {
    const { host } = at;
    await writeEvents(host, await idOf(host), many('token_refresh', 1_900));
    const reads: string[] = [];
    const tap = new Tap(host);
    tap.hook = {
      before: (call) => {
        if (statementsOf(call)[0] === 'SELECT' && call.sql.includes('auth_events')) reads.push(call.sql);
      },
    };
    expect(await host.pruning.prune()).toMatchObject({ events: 1_880 });
    tap.hook = {};
    expect(reads.length).toBeGreaterThan(8);
    expect(reads.filter((sql) => !/LIMIT/.test(sql))).toEqual([]);
  });
});

stories('a user who has many events between two prunings', { auth: AUTH }, (at: Stage) => {
  it('is trimmed each time that this instance has written as many events as are kept', async () => {
    const { host } = at;
    await host.pruning.trimGrown();
    let { refresh_token: token } = await host.login();
    for (let i = 0; i < 18; i++) token = (await host.refresh(token).expect(200)).body.refresh_token;
    await host.login();
    await writeEvents(host, await idOf(host), many('token_refresh', 50));
    // The 20th event of alice was the second login. The next ones are counted anew.
    await host.pruning.trimGrown();
    expect(await eventCounts(host)).toEqual({ login_success: 2, token_refresh: 18 });
    for (let i = 0; i < 19; i++) token = (await host.refresh(token).expect(200)).body.refresh_token;
    await host.pruning.trimGrown();
    expect(await eventCounts(host)).toEqual({ login_success: 2, token_refresh: 37 });
    await host.refresh(token).expect(200);
    await host.pruning.trimGrown();
    expect(await eventCounts(host)).toEqual({ login_success: 2, token_refresh: 18 });
  });
});

stories('ended sessions of one user', { auth: AUTH }, (at: Stage) => {
  /** A user with an active session, and ended ones, the oldest first. */
  const withEnded = async (times: number): Promise<{ active: string; ended: string[] }> => {
    const { host } = at;
    const session = await host.login();
    await host.post('/auth/logout', session.access_token).expect(200);
    const { session_id: active } = await host.login();
    return { active, ended: [...(await copyEnded(host, session.session_id, times - 1)), session.session_id] };
  };

  it('are removed in batches with their user, after everything that authenticates', async () => {
    const { host } = at;
    const { active } = await withEnded(1_200);
    const alice = await idOf(host);
    await writeEvents(host, alice, many('token_refresh', 1_100));
    const deleted: [string, number][] = [];
    const tap = new Tap(host);
    tap.hook = {
      before: ({ sql, params }) => {
        const [, table] = /^DELETE FROM \W?(auth_\w+)/.exec(sql) ?? [];
        if (table) deleted.push([table, params.length]);
      },
    };
    await host.auth.forgetUser(alice);
    tap.hook = {};
    // The active session and the reset tokens, batches of 500 rows, then what is left in each table.
    expect(deleted.filter(([table]) => table !== 'auth_login_failures')).toEqual([
      ['auth_sessions', 1],
      ['auth_password_resets', 1],
      ['auth_login_tickets', 1],
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
    expect(await host.dataSource.getRepository(AuthSession).count()).toBe(0);
    expect(await eventCounts(host)).toEqual({});
    expect(host.sent('user_logged_out').filter(({ session }) => session.id === active)).toMatchObject([
      { reason: 'user_deleted' },
    ]);
  });

  it('are removed by a second call where the first one failed half-way, which has ended and reported the active one', async () => {
    const { host } = at;
    const { active } = await withEnded(600);
    const alice = await idOf(host);
    const tap = new Tap(host);
    tap.hook = {
      before: ({ sql, params }) => {
        if (/^DELETE FROM \W?auth_sessions/.test(sql) && params.length === 500) throw new Error('away');
      },
    };
    await expect(host.auth.forgetUser(alice)).rejects.toMatchObject({ code: 'database_unavailable' });
    tap.hook = {};
    const ends = (): unknown[] => host.sent('user_logged_out').filter(({ session }) => session.id === active);
    expect(ends()).toHaveLength(1);
    await host.auth.forgetUser(alice);
    expect(ends()).toHaveLength(1);
    expect(await host.dataSource.getRepository(AuthSession).count()).toBe(0);
  });

  it('are kept up to 1,000: the oldest are removed when the history is trimmed', async () => {
    const { host } = at;
    const { active, ended } = await withEnded(2_100);
    await writeEvents(host, await idOf(host), many('logout', 21));
    expect(await host.pruning.prune()).toMatchObject({ sessions: 1_100 });
    const left = await host.dataSource.getRepository(AuthSession).find({ select: { id: true } });
    expect(left.map(({ id }) => id).sort()).toEqual([active, ...ended.slice(-1_000)].sort());
    host.clock.advance(DAY);
    expect(await host.pruning.prune()).toMatchObject({ sessions: 0 });
  });
});
