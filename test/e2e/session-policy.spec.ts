import { AuthSession, AuthUser, type ClientInfo } from 'nestjs-session-auth';
import { randomUUID } from 'node:crypto';
import { DAY, HOUR, MINUTE } from '../support/driven-clock';
import { Host, PASSWORD, type LoginAnswer } from '../support/host';
import { historyOf, INVALID_CREDENTIALS, INVALID_REFRESH, storedEnd, stories, type Stage } from './stories';

async function loginEachMinute(host: Host, times: number): Promise<LoginAnswer[]> {
  const answers: LoginAnswer[] = [];
  for (let time = 0; time < times; time++) {
    answers.push(await host.login());
    host.clock.advance(MINUTE);
  }
  return answers;
}

async function activeIds(host: Host): Promise<string[]> {
  const rows: { id: string }[] = await host.dataSource.query(
    `SELECT id FROM auth_sessions WHERE state = 'active' ORDER BY created_at`,
  );
  return rows.map(({ id }) => id);
}

stories('without a limit', {}, (at: Stage) => {
  it('a user has as many sessions as there were logins', async () => {
    await loginEachMinute(at.host, 12);
    expect(await activeIds(at.host)).toHaveLength(12);
    expect(at.host.sent('user_logged_out')).toEqual([]);
  });
});

/** Stores sessions beside one that is the first to be created and the last to be used, and returns their ids. */
async function fill({ dataSource, clock }: Host, { session_id: id }: LoginAnswer, total: number): Promise<string[]> {
  const sessions = dataSource.getRepository(AuthSession);
  const row = await sessions.findOneByOrFail({ id });
  const copies = Array.from({ length: total - 1 }, (_, index) => {
    const createdAt = row.createdAt + index + 1;
    return { ...row, id: randomUUID(), createdAt, lastActivity: createdAt };
  });
  for (let i = 0; i < copies.length; i += 100) await sessions.insert(copies.slice(i, i + 100));
  clock.advance(total);
  await sessions.update({ id }, { lastActivity: clock.now() });
  return copies.map((copy) => copy.id);
}

stories('without a limit, whatever onSessionLimit says', { auth: { onSessionLimit: 'reject' } }, (at: Stage) => {
  it('a user has 1,000 active sessions at most: a login ends the least recently used one', async () => {
    const { host } = at;
    const first = await host.login();
    const [leastRecentlyUsed] = await fill(host, first, 1_000);
    const bob = await host.login('bob');
    const next = await host.login();
    expect(await activeIds(host)).toHaveLength(1_001);
    expect(await storedEnd(host, leastRecentlyUsed!)).toEqual({ state: 'revoked', end_reason: 'session_policy' });
    expect(host.sent('user_logged_out').map(({ session, reason }) => [session.id, reason])).toEqual([
      [leastRecentlyUsed, 'session_policy'],
    ]);
    expect(host.sent('session_limit_reached')).toEqual([]);
    const [, forced] = await historyOf(host, next.access_token);
    expect([forced!.event, forced!.extra]).toEqual([
      'forced_logout',
      { session_id: leastRecentlyUsed, reason: 'session_policy' },
    ]);
    for (const { access_token: token } of [first, next, bob]) await host.get('/me', token).expect(200);
  });

  it('all of 1,000 active sessions end in one call', async () => {
    const { host } = at;
    const first = await host.login();
    await fill(host, first, 1_000);
    await host.post('/auth/logout/all', first.access_token).expect(200, { detail: 'Revoked 1000 session(s).' });
    expect(await activeIds(host)).toEqual([]);
    expect(host.sent('user_logged_out')).toHaveLength(1_000);
  });
});

stories('under the policy of a single session', { auth: { sessionPolicy: 'single' } }, (at: Stage) => {
  it("a login ends the user's other session and nobody else's", async () => {
    const { host } = at;
    const bob = await host.login('bob');
    const [first, second] = await loginEachMinute(host, 2);
    await host.get('/me', first!.access_token).expect(401);
    await host.refresh(first!.refresh_token).expect(400, INVALID_REFRESH);
    await host.get('/me', second!.access_token).expect(200);
    await host.get('/me', bob.access_token).expect(200);
    expect(await storedEnd(host, first!.session_id)).toEqual({ state: 'revoked', end_reason: 'session_policy' });
    expect(host.sent('user_logged_out').map(({ session, reason }) => [session.id, reason])).toEqual([
      [first!.session_id, 'session_policy'],
    ]);
    const forced = (await historyOf(host, second!.access_token)).filter(({ event }) => event === 'forced_logout');
    expect(forced.map(({ extra }) => extra)).toEqual([{ session_id: first!.session_id, reason: 'session_policy' }]);
  });

  it('a failed login ends nothing', async () => {
    const { host } = at;
    const { access_token: token } = await host.login();
    await host.http.post('/auth/login').send({ username: 'alice', password: 'wrong' }).expect(400, INVALID_CREDENTIALS);
    await host.get('/me', token).expect(200);
  });

  it('parallel logins leave one session', async () => {
    const { host } = at;
    const answers = await Promise.all(Array.from({ length: 10 }, () => host.login()));
    const left = await activeIds(host);
    expect(left).toHaveLength(1);
    const alive = await Promise.all(answers.map((one) => host.get('/me', one.access_token)));
    expect(alive.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(host.sent('user_logged_out')).toHaveLength(9);
  });
});

const THREE = { sessionPolicy: 'max_count', maxSessions: 3 } as const;

stories('under a limit of three that ends the oldest', { auth: THREE }, (at: Stage) => {
  it('the fourth login ends the oldest by created_at, however active it was', async () => {
    const { host } = at;
    const [first, second, third] = await loginEachMinute(host, 3);
    await host.refresh(first!.refresh_token).expect(200);
    const fourth = await host.login();
    expect(await activeIds(host)).toEqual([second!.session_id, third!.session_id, fourth.session_id]);
    expect(await storedEnd(host, first!.session_id)).toEqual({ state: 'revoked', end_reason: 'session_policy' });
    expect(host.sent('user_logged_out').map(({ session, reason }) => [session.id, reason])).toEqual([
      [first!.session_id, 'session_policy'],
    ]);
    expect(host.sent('session_limit_reached')).toEqual([]);
  });

  it('ended and expired sessions do not count', async () => {
    const { host } = at;
    await loginEachMinute(host, 2);
    host.clock.advance(8 * DAY);
    const [first, second, third] = await loginEachMinute(host, 3);
    expect(await activeIds(host)).toEqual([first, second, third].map((one) => one!.session_id));
    expect(host.sent('user_logged_out').map(({ reason }) => reason)).toEqual(['expired', 'expired']);
    await host.post('/auth/logout', first!.access_token).expect(200);
    const fourth = await host.login();
    expect(await activeIds(host)).toEqual([second!.session_id, third!.session_id, fourth.session_id]);
  });

  it('the sessions of each user count separately', async () => {
    const { host } = at;
    await loginEachMinute(host, 3);
    await host.login('bob');
    expect(host.sent('user_logged_out')).toEqual([]);
  });

  it.each([4, 12])('%i parallel logins leave three', async (count) => {
    const { host } = at;
    await Promise.all(Array.from({ length: count }, () => host.login()));
    expect(await activeIds(host)).toHaveLength(3);
    expect(host.sent('user_logged_out')).toHaveLength(count - 3);
  });

  it.each([
    ['max_count', 2, 2],
    ['max_count', 1, 1],
    ['single', 5, 1],
  ] as const)(
    'once lowered to %s %i, the next login ends as many as needed, oldest first',
    async (policy, most, left) => {
      const { host, database } = at;
      const open = await loginEachMinute(host, 3);
      const lowered = await Host.start({ database, auth: { sessionPolicy: policy, maxSessions: most }, users: [] });
      try {
        expect(await activeIds(host)).toHaveLength(3);
        lowered.clock.advance(host.clock.now() - lowered.clock.now());
        const next = await lowered.login();
        const ids = [...open.map((one) => one.session_id), next.session_id];
        expect(await activeIds(host)).toEqual(ids.slice(-left));
        expect(lowered.sent('user_logged_out').map(({ session }) => session.id)).toEqual(ids.slice(0, 4 - left));
      } finally {
        await lowered.close();
      }
    },
  );
});

stories('under a limit of three that refuses', { auth: { ...THREE, onSessionLimit: 'reject' } }, (at: Stage) => {
  const attempt = () => at.host.http.post('/auth/login/').send({ username: 'alice', password: PASSWORD });

  it('the fourth login is refused with a code, which is recorded, and no session changes', async () => {
    const { host } = at;
    const [first, , third] = await loginEachMinute(host, 3);
    const answer = await attempt();
    expect(answer.status).toBe(403);
    expect(answer.body).toEqual({ detail: expect.any(String), code: 'session_limit_reached' });
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(host.sent('session_limit_reached').map(({ activeSessions }) => activeSessions)).toEqual([3]);
    expect(host.sent('user_logged_out')).toEqual([]);
    await host.get('/me', first!.access_token).expect(200);
    const [refused, ...logins] = await historyOf(host, third!.access_token);
    expect(refused).toMatchObject({
      event: 'login_blocked',
      extra: { reason: 'session_limit' },
      ip_address: '127.0.0.1',
    });
    expect(logins.map(({ event }) => event)).toEqual(['login_success', 'login_success', 'login_success']);
    await host.login('bob');
  });

  /** Logs in from an address, and returns how many refusals are on record. */
  const refusedFrom = async (...clients: ClientInfo[]): Promise<number> => {
    const { host } = at;
    for (const client of clients) {
      const login = host.auth.login({ username: 'alice', password: PASSWORD }, client);
      await expect(login).rejects.toMatchObject({ code: 'session_limit_reached' });
    }
    const { id } = await host.dataSource.getRepository(AuthUser).findOneByOrFail({ username: 'alice' });
    return (await host.auth.history(id)).filter(({ event }) => event === 'login_blocked').length;
  };

  it('a client that keeps trying is recorded once an hour for each network', async () => {
    const { host } = at;
    await loginEachMinute(host, 3);
    const [here, there] = [{ ipAddress: '192.0.2.1' }, { ipAddress: '2001:db8::1' }];
    expect(await refusedFrom(here, here, here)).toBe(1);
    expect(await refusedFrom(there, { ipAddress: '2001:db8::2' }, here)).toBe(2);
    expect(await refusedFrom({}, {}, here)).toBe(3);
    host.clock.advance(HOUR - 1);
    expect(await refusedFrom(here)).toBe(3);
    host.clock.advance(1);
    expect(await refusedFrom(here, here)).toBe(4);
    expect(host.sent('session_limit_reached')).toHaveLength(12);
  });

  it('a client that tries many times in parallel is recorded once', async () => {
    await loginEachMinute(at.host, 3);
    const answers = await Promise.all(Array.from({ length: 8 }, attempt));
    expect(answers.map(({ status }) => status)).toEqual(Array<number>(8).fill(403));
    const rows = await at.host.dataSource.query("SELECT id FROM auth_events WHERE event = 'login_blocked'");
    expect(rows).toHaveLength(1);
  });

  it('a session that the application opens is refused and recorded too', async () => {
    const { host } = at;
    await loginEachMinute(host, 3);
    const user = await host.dataSource.getRepository(AuthUser).findOneByOrFail({ username: 'alice' });
    await expect(host.auth.openSession(user)).rejects.toMatchObject({ code: 'session_limit_reached' });
    expect(await host.auth.history(user.id, { limit: 1 })).toMatchObject([
      { event: 'login_blocked', extra: { reason: 'session_limit' } },
    ]);
  });

  it('a right password that is refused ends the failure streak, and leaves no row of one', async () => {
    const { host } = at;
    await loginEachMinute(host, 3);
    const rows = (): Promise<object[]> => host.dataSource.query('SELECT * FROM auth_login_failures');
    await attempt().expect(403);
    expect(await rows()).toEqual([]);
    const wrong = () => host.http.post('/auth/login').send({ username: 'alice', password: 'wrong' });
    for (let time = 0; time < 9; time++) await wrong().expect(400, INVALID_CREDENTIALS);
    await attempt().expect(403);
    expect(await rows()).toEqual([]);
    await wrong().expect(400, INVALID_CREDENTIALS);
    expect(host.sent('login_failed').map(({ failureCount }) => failureCount)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 1]);
  });

  it('a wrong password is reported as such at the limit too', async () => {
    await loginEachMinute(at.host, 3);
    await at.host.http
      .post('/auth/login')
      .send({ username: 'alice', password: 'wrong' })
      .expect(400, INVALID_CREDENTIALS);
    expect(at.host.sent('session_limit_reached')).toEqual([]);
  });

  it('a login is accepted again after a logout, or when a session has expired', async () => {
    const { host } = at;
    const [first] = await loginEachMinute(host, 3);
    await host.post('/auth/logout', first!.access_token).expect(200);
    await attempt().expect(200);
    await attempt().expect(403);
    host.clock.advance(7 * DAY);
    await attempt().expect(200);
    expect(await activeIds(host)).toHaveLength(1);
  });

  it('as many parallel logins are accepted as the limit allows', async () => {
    const { host } = at;
    const answers = await Promise.all(Array.from({ length: 10 }, attempt));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, ...Array<number>(7).fill(403)]);
    expect(await activeIds(host)).toHaveLength(3);
    expect(host.sent('session_limit_reached')).toHaveLength(7);
  });
});

const UNTRACKED = { ...THREE, onSessionLimit: 'reject', trackIps: false } as const;

stories('under a limit that refuses, without addresses', { auth: UNTRACKED }, (at: Stage) => {
  it('a refused login is recorded once an hour', async () => {
    const { host } = at;
    await loginEachMinute(host, 3);
    for (const ipAddress of ['192.0.2.1', '192.0.2.2']) {
      const login = host.auth.login({ username: 'alice', password: PASSWORD }, { ipAddress });
      await expect(login).rejects.toMatchObject({ code: 'session_limit_reached' });
    }
    const rows = await host.dataSource.query("SELECT ip_address FROM auth_events WHERE event = 'login_blocked'");
    expect(rows).toEqual([{ ip_address: null }]);
  });
});
