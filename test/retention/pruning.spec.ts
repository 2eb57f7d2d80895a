import { AuthEvent, AuthSession, AuthUser, type PruneReport } from 'nestjs-session-auth';
import { firstEventIdAt } from '../../libs/auth/src/history/event-log';
import { createDatabase, DATABASES, describeEachPooled } from '../support/databases';
import { DAY, HOUR, MINUTE } from '../support/driven-clock';
import { TestApplication } from '../support/test-application';
import {
  eventsOf,
  INVALID_REFRESH,
  setActive,
  storedEnd,
  describeOnEachDatabase,
  type TestEnvironment,
} from '../support/environment';

const NOTHING: PruneReport = {
  dryRun: false,
  endedSessions: 0,
  sessions: 0,
  events: 0,
  loginFailures: 0,
  loginTickets: 0,
  passwordResets: 0,
};

async function countOf(app: TestApplication, table: string): Promise<number> {
  return Number((await app.dataSource.query(`SELECT COUNT(*) AS n FROM ${table}`))[0].n);
}

/** Writes events of the given age to the log, oldest first. */
async function writeEvents(
  app: TestApplication,
  userId: string | null,
  events: readonly string[],
  age = 0,
): Promise<void> {
  const first = app.clock.now() - age;
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
    await app.dataSource.getRepository(AuthEvent).insert(rows.slice(i, i + 500));
  }
}

async function aliceId(app: TestApplication): Promise<string> {
  return (await app.dataSource.getRepository(AuthUser).findOneByOrFail({ username: 'alice' })).id;
}

const stored = ({ app }: TestEnvironment, id: string): Promise<AuthSession> =>
  app.dataSource.getRepository(AuthSession).findOneByOrFail({ id });

describeOnEachDatabase('pruning of sessions', { auth: { history: { retentionDays: 90 } } }, (env: TestEnvironment) => {
  it('pruning does not change valid sessions', async () => {
    const { app } = env;
    const first = await app.login();
    const { body: pair } = await app.refresh(first.refresh_token).expect(200);
    app.clock.advance(7 * DAY - 1);
    expect(await app.pruning.prune()).toEqual(NOTHING);
    await app.refresh(pair.refresh_token).expect(200);
  });

  it('pruning ends expired sessions, and reports each end once', async () => {
    const { app } = env;
    const session = await app.login();
    await app.login('bob');
    app.clock.advance(7 * DAY);
    expect(await app.pruning.prune({ dryRun: true })).toEqual({ ...NOTHING, dryRun: true, endedSessions: 2 });
    expect(await app.pruning.prune()).toEqual({ ...NOTHING, endedSessions: 2 });
    expect(await app.pruning.prune()).toEqual(NOTHING);
    expect(await storedEnd(app, session.session_id)).toEqual({ state: 'expired', end_reason: 'expired' });
    const ended = app.sent('user_logged_out');
    expect(ended.map(({ reason }) => reason)).toEqual(['expired', 'expired']);
    expect(ended.map(({ userId }) => userId)).toContain(await aliceId(app));
    app.clock.advance(-HOUR);
    await app.get('/me', session.access_token).expect(401);
  });

  it('pruning does not end a session that a refresh has extended, and schedules it for its new expiry', async () => {
    const { app } = env;
    const { session_id: id, refresh_token: token } = await app.login();
    const openedAt = app.clock.now();
    app.clock.advance(6 * DAY);
    const { body: pair } = await app.refresh(token).expect(200);
    expect((await stored(env, id)).checkAt).toBe(openedAt + 7 * DAY);
    app.clock.advance(DAY);
    expect(await app.pruning.prune({ dryRun: true })).toEqual({ ...NOTHING, dryRun: true });
    expect(await app.pruning.prune()).toEqual(NOTHING);
    expect((await stored(env, id)).checkAt).toBe(openedAt + 13 * DAY);
    await app.refresh(pair.refresh_token).expect(200);
    expect((await stored(env, id)).checkAt).toBe(openedAt + 13 * DAY);
  });

  it('pruning visits no session before its scheduled time, and a session that expires earlier is refused and stored as expired', async () => {
    const { app, database } = env;
    const { refresh_token: token, session_id: id } = await app.login();
    const lowered = await TestApplication.start({ database, auth: { idleTimeoutSeconds: 3600 }, users: [] });
    try {
      lowered.clock.advance(app.clock.now() - lowered.clock.now() + 2 * HOUR);
      expect(await lowered.pruning.prune()).toEqual(NOTHING);
      expect(await storedEnd(app, id)).toMatchObject({ state: 'active' });
      await lowered.refresh(token).expect(400, INVALID_REFRESH);
      expect(await storedEnd(app, id)).toMatchObject({ state: 'expired' });
    } finally {
      await lowered.close();
    }
  });

  it('pruning ends a session at its absolute timeout if that is earlier than its idle timeout', async () => {
    const { app } = env;
    let { refresh_token: token } = await app.login();
    for (let week = 0; week < 4; week++) {
      app.clock.advance(7 * DAY - 1);
      token = (await app.refresh(token).expect(200)).body.refresh_token;
      expect(await app.pruning.prune()).toEqual(NOTHING);
    }
    app.clock.advance(2 * DAY + 3);
    expect(await app.pruning.prune()).toEqual(NOTHING);
    app.clock.advance(1);
    expect(await app.pruning.prune()).toEqual({ ...NOTHING, endedSessions: 1 });
  });

  it('pruning keeps the reuse of any earlier token detectable while its session is active', async () => {
    const { app } = env;
    const first = await app.login();
    let token = first.refresh_token;
    for (let week = 0; week < 4; week++) {
      app.clock.advance(7 * DAY - 1);
      token = (await app.refresh(token).expect(200)).body.refresh_token;
      expect(await app.pruning.prune()).toEqual(NOTHING);
    }
    for (let time = 0; time < 2; time++) {
      await app.refresh(first.refresh_token).expect(400, INVALID_REFRESH);
      expect(app.sent('token_reuse_detected')).toHaveLength(1);
    }
  });

  it.each(['disabled', 'deleted'])(
    'pruning ends an idle session of a user who was %s, and records forced_logout',
    async (how) => {
      const { app } = env;
      const carol = await app.auth.createUser({ username: 'carol', password: 'correct horse battery staple' });
      const { session_id: id, refresh_token: token } = await app.login('carol');
      app.clock.advance(6 * DAY);
      await app.refresh(token).expect(200);
      if (how === 'disabled') await setActive(app, 'carol', false);
      else await app.dataSource.getRepository(AuthUser).delete({ username: 'carol' });
      app.clock.advance(DAY - 1);
      expect(await app.pruning.prune()).toEqual(NOTHING);
      app.clock.advance(1);
      expect(await app.pruning.prune({ dryRun: true })).toEqual({ ...NOTHING, dryRun: true, endedSessions: 1 });
      expect(await app.pruning.prune()).toEqual({ ...NOTHING, endedSessions: 1 });
      expect(await app.pruning.prune()).toEqual(NOTHING);
      const reason = `user_${how}`;
      expect(await storedEnd(app, id)).toEqual({ state: 'revoked', end_reason: reason });
      expect(app.sent('user_logged_out')).toMatchObject([{ userId: carol.id, reason }]);
      const [event] = await app.auth.history(carol.id);
      expect(event).toMatchObject({ event: 'forced_logout', extra: { session_id: id, reason } });
      await app.dataSource.getRepository(AuthUser).delete({ username: 'carol' });
    },
  );

  it('pruning keeps an ended session until its login is as old as the retention time of the history', async () => {
    const { app } = env;
    const session = await app.login();
    app.clock.advance(5 * MINUTE);
    await app.post('/auth/logout', session.access_token).expect(200);
    app.clock.advance(90 * DAY - 5 * MINUTE - 1);
    expect(await app.pruning.prune()).toEqual(NOTHING);
    app.clock.advance(1);
    expect(await app.pruning.prune({ dryRun: true })).toEqual({ ...NOTHING, dryRun: true, sessions: 1 });
    // Pruning skips a locked row, for example one whose activity is still being written.
    let report = await app.pruning.prune();
    for (let tries = 0; tries < 50 && report.sessions === 0; tries++) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      report = await app.pruning.prune();
    }
    expect(report).toEqual({ ...NOTHING, sessions: 1 });
    expect(await countOf(app, 'auth_sessions')).toBe(0);
  });

  it('a session that ends after the retention time of the history is deleted by the next pruning', async () => {
    const { app } = env;
    await app.login();
    app.clock.advance(91 * DAY);
    expect(await app.pruning.prune()).toMatchObject({ endedSessions: 1, sessions: 0 });
    expect(await app.pruning.prune()).toMatchObject({ endedSessions: 0, sessions: 1 });
  });

  it('a dry run changes nothing', async () => {
    const { app } = env;
    await app.login();
    const ended = await app.login();
    await app.post('/auth/logout', ended.access_token).expect(200);
    app.clock.advance(200 * DAY);
    const tables = ['auth_sessions', 'auth_events', 'auth_login_failures'];
    const dump = (): Promise<unknown[]> =>
      Promise.all(tables.map((name) => app.dataSource.query(`SELECT * FROM ${name}`)));
    const before = await dump();
    const report = await app.pruning.prune({ dryRun: true });
    expect(report).toEqual({ ...NOTHING, dryRun: true, endedSessions: 1, sessions: 1, events: 3 });
    expect(await dump()).toEqual(before);
    expect(app.sent('user_logged_out')).toHaveLength(1);
  });
});

describeOnEachDatabase(
  'pruning of the history',
  { auth: { history: { retentionDays: 90, maxRowsPerUser: 20 } } },
  (env: TestEnvironment) => {
    it('pruning deletes events after the retention time', async () => {
      const { app } = env;
      const userId = await aliceId(app);
      await writeEvents(app, userId, ['login_success', 'logout'], 90 * DAY + 2);
      await writeEvents(app, null, ['login_failure'], 90 * DAY + MINUTE);
      await writeEvents(app, userId, ['login_success'], 90 * DAY - MINUTE);
      expect(await app.pruning.prune({ dryRun: true })).toMatchObject({ events: 3 });
      expect(await app.pruning.prune()).toMatchObject({ events: 3 });
      expect(await countOf(app, 'auth_events')).toBe(1);
    });

    it('pruning keeps the configured number of events per user, and deletes refreshes first, then failed logins, then the oldest', async () => {
      const { app } = env;
      const userId = await aliceId(app);
      const kept = async (): Promise<Record<string, number>> => {
        const rows = await app.dataSource.query('SELECT event, COUNT(*) AS n FROM auth_events GROUP BY event');
        return Object.fromEntries(rows.map((row: { event: string; n: unknown }) => [row.event, Number(row.n)]));
      };
      await writeEvents(app, userId, Array<string>(10).fill('login_success'), 9 * HOUR);
      await writeEvents(app, userId, Array<string>(10).fill('login_failure'), 8 * HOUR);
      await writeEvents(app, userId, Array<string>(10).fill('token_refresh'), 7 * HOUR);
      expect(await app.pruning.prune({ dryRun: true })).toMatchObject({ events: 10 });
      expect(await app.pruning.prune()).toMatchObject({ events: 10 });
      expect(await kept()).toEqual({ login_success: 10, login_failure: 10 });
      await writeEvents(app, userId, Array<string>(4).fill('logout'), 6 * HOUR);
      expect(await app.pruning.prune()).toMatchObject({ events: 4 });
      expect(await kept()).toEqual({ login_success: 10, login_failure: 6, logout: 4 });
      await writeEvents(app, userId, Array<string>(9).fill('session_revoked'), 5 * HOUR);
      expect(await app.pruning.prune()).toMatchObject({ events: 9 });
      expect(await kept()).toEqual({ login_success: 7, logout: 4, session_revoked: 9 });
      const session = await app.login();
      expect(await eventsOf(app, session.access_token)).toHaveLength(21);
      expect(await app.pruning.prune({ dryRun: true })).toMatchObject({ events: 1 });
    });

    it('pruning deletes events of password reset requests, which anybody can cause, before events of the user', async () => {
      const { app } = env;
      const userId = await aliceId(app);
      await writeEvents(app, userId, ['login_success', 'password_change', 'token_reuse'], 9 * HOUR);
      await writeEvents(app, userId, Array<string>(30).fill('password_reset_requested'), 8 * HOUR);
      expect(await app.pruning.prune()).toMatchObject({ events: 13 });
      const rows = await app.dataSource.query('SELECT event, COUNT(*) AS n FROM auth_events GROUP BY event');
      const kept = Object.fromEntries(rows.map((row: { event: string; n: unknown }) => [row.event, Number(row.n)]));
      expect(kept).toEqual({ login_success: 1, password_change: 1, token_reuse: 1, password_reset_requested: 17 });
    });

    it('pruning keeps 10,000 events of unknown names', async () => {
      const { app } = env;
      await writeEvents(app, null, Array<string>(10_700).fill('login_failure'), HOUR);
      expect(await app.pruning.prune({ dryRun: true })).toMatchObject({ events: 700 });
      expect(await app.pruning.prune()).toMatchObject({ events: 700 });
      expect(await app.pruning.prune()).toEqual(NOTHING);
      expect(await countOf(app, 'auth_events')).toBe(10_000);
    });

    it('pruning deletes expired counts of failed logins', async () => {
      const { app } = env;
      await app.http.post('/auth/login').send({ username: 'alice', password: 'wrong' }).expect(400);
      app.clock.advance(5 * MINUTE - 1);
      expect(await app.pruning.prune()).toEqual(NOTHING);
      app.clock.advance(1);
      expect(await app.pruning.prune()).toEqual({ ...NOTHING, loginFailures: 1 });
    });
  },
);

describe.each(DATABASES)('pruning by two instances at the same time on %s', (name) => {
  it('parallel pruning ends and deletes each row once, and leaves each user the configured number of events', async () => {
    const database = await createDatabase(name);
    const auth = { history: { maxRowsPerUser: 100 } };
    const apps = [
      await TestApplication.start({ database, auth }),
      await TestApplication.start({ database, auth, users: [] }),
    ] as const;
    const userId = await aliceId(apps[0]);
    for (let i = 0; i < 5; i++) await apps[0].login();
    for (const app of apps) app.clock.advance(8 * DAY);
    await writeEvents(apps[0], userId, Array<string>(1_000).fill('token_refresh'), HOUR);
    await writeEvents(apps[0], userId, Array<string>(90).fill('login_success'), HOUR - MINUTE);
    await writeEvents(apps[0], null, Array<string>(3_000).fill('login_failure'), 100 * DAY);
    const reports = await Promise.all(apps.map((app) => app.pruning.prune()));
    const sum = (key: 'events' | 'endedSessions'): number => reports.reduce((total, report) => total + report[key], 0);
    expect(sum('endedSessions')).toBe(5);
    expect(apps.flatMap((app) => app.sent('user_logged_out'))).toHaveLength(5);
    // 1,095 events belong to alice, of which 100 may remain.
    expect(sum('events')).toBe(3_000 + 995);
    const left = await apps[0].dataSource.query("SELECT event FROM auth_events WHERE event = 'login_success'");
    expect(left).toHaveLength(95);
    for (const app of apps) await app.close();
    await database.drop();
  });
});

describe.each(DATABASES)('three pruning runs at the same time on %s', (name) => {
  it('three parallel pruning runs leave 10,000 events of unknown names', async () => {
    const database = await createDatabase(name);
    const app = await TestApplication.start({ database });
    await writeEvents(app, null, Array<string>(11_200).fill('login_failure'), HOUR);
    await Promise.all([1, 2, 3].map(() => app.pruning.prune()));
    expect(await countOf(app, 'auth_events')).toBe(10_000);
    await app.close();
    await database.drop();
  });
});

describeEachPooled('pruning beside a locked session, on %s', (name) => {
  it('pruning skips a locked session without waiting', async () => {
    const database = await createDatabase(name);
    const app = await TestApplication.start({ database });
    const [first] = [await app.login(), await app.login('bob')];
    app.clock.advance(8 * DAY);
    const other = app.dataSource.createQueryRunner();
    await other.startTransaction();
    await other.query(`SELECT id FROM auth_sessions WHERE id = '${first.session_id}' FOR UPDATE`);
    expect(await app.pruning.prune()).toMatchObject({ endedSessions: 1 });
    await other.rollbackTransaction();
    await other.release();
    expect(await app.pruning.prune()).toMatchObject({ endedSessions: 1 });
    await app.close();
    await database.drop();
  });
});
