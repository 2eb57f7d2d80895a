import { AuthSession, type ClientInfo } from 'nestjs-session-auth';
import { randomUUID } from 'node:crypto';
import { DAY, HOUR, MINUTE } from '../support/driven-clock';
import { type LoginAnswer, PASSWORD, type TestApplication } from '../support/test-application';
import { INVALID_CREDENTIALS, INVALID_REFRESH, describeOnEachDatabase } from '../support/environment';

async function loginEachMinute(app: TestApplication, times: number): Promise<LoginAnswer[]> {
  const answers: LoginAnswer[] = [];
  for (let time = 0; time < times; time++) {
    answers.push(await app.login());
    app.clock.advance(MINUTE);
  }
  return answers;
}

async function activeIds(app: TestApplication): Promise<string[]> {
  const rows: { id: string }[] = await app.dataSource.query(
    `SELECT id FROM auth_sessions WHERE state = 'active' ORDER BY created_at`,
  );
  return rows.map(({ id }) => id);
}

/** Stores sessions in addition to one that was created first and used last, and returns their ids. */
async function fill(
  { dataSource, clock }: TestApplication,
  { session_id: id }: LoginAnswer,
  total: number,
): Promise<string[]> {
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

describeOnEachDatabase('sessions without a limit', { auth: { onSessionLimit: 'reject' } }, ({ app }) => {
  it('a user has at most 1,000 active sessions, and a further login ends the least recently used one', async () => {
    const first = await app.login();
    const [leastRecentlyUsed] = await fill(app, first, 1_000);
    const bob = await app.login('bob');
    const next = await app.login();
    expect(await activeIds(app)).toHaveLength(1_001);
    expect(await app.storedEnd(leastRecentlyUsed!)).toEqual({ state: 'revoked', end_reason: 'session_policy' });
    expect(app.emittedEnds()).toEqual([[leastRecentlyUsed, 'session_policy']]);
    expect(app.sent('session_limit_reached')).toEqual([]);
    const [, forced] = await app.history(next.access_token);
    const extra = { session_id: leastRecentlyUsed, reason: 'session_policy' };
    expect(forced).toMatchObject({ event: 'forced_logout', extra });
    for (const { access_token: token } of [first, next, bob]) await app.get('/me', token).expect(200);
  });

  it('1,000 active sessions end in one call', async () => {
    const first = await app.login();
    await fill(app, first, 1_000);
    await app.post('/auth/logout/all', first.access_token).expect(200, { detail: 'Revoked 1000 session(s).' });
    expect(await activeIds(app)).toEqual([]);
    expect(app.sent('user_logged_out')).toHaveLength(1_000);
  });
});

describeOnEachDatabase('the policy of a single session', { auth: { sessionPolicy: 'single' } }, ({ app }) => {
  it("a login ends the user's other session and no session of other users", async () => {
    const bob = await app.login('bob');
    const [first, second] = await loginEachMinute(app, 2);
    await app.get('/me', first!.access_token).expect(401);
    await app.refresh(first!.refresh_token).expect(400, INVALID_REFRESH);
    await app.get('/me', second!.access_token).expect(200);
    await app.get('/me', bob.access_token).expect(200);
    expect(await app.storedEnd(first!.session_id)).toEqual({ state: 'revoked', end_reason: 'session_policy' });
    expect(app.emittedEnds()).toEqual([[first!.session_id, 'session_policy']]);
  });

  it('a failed login ends no session', async () => {
    const { access_token: token } = await app.login();
    const wrong = { username: 'alice', password: 'wrong' };
    await app.http.post('/auth/login').send(wrong).expect(400, INVALID_CREDENTIALS);
    await app.get('/me', token).expect(200);
  });

  it('parallel logins leave one session', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => app.login()));
    const left = await activeIds(app);
    expect(left).toHaveLength(1);
    const alive = await Promise.all(answers.map((one) => app.get('/me', one.access_token)));
    expect(alive.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(app.sent('user_logged_out')).toHaveLength(9);
  });
});

const THREE = { sessionPolicy: 'max_count', maxSessions: 3 } as const;

describeOnEachDatabase('a limit of three sessions that ends the oldest', { auth: THREE }, ({ app, start }) => {
  it('the fourth login ends the session with the oldest created_at, even if it is the most active one', async () => {
    const [first, second, third] = await loginEachMinute(app, 3);
    await app.refresh(first!.refresh_token).expect(200);
    const fourth = await app.login();
    expect(await activeIds(app)).toEqual([second!.session_id, third!.session_id, fourth.session_id]);
    expect(await app.storedEnd(first!.session_id)).toEqual({ state: 'revoked', end_reason: 'session_policy' });
    expect(app.emittedEnds()).toEqual([[first!.session_id, 'session_policy']]);
    expect(app.sent('session_limit_reached')).toEqual([]);
    await app.login('bob');
    expect(app.sent('user_logged_out')).toHaveLength(1);
  });

  it('after the policy was lowered, the next login ends as many sessions as needed, oldest first', async () => {
    const ids = (await loginEachMinute(app, 3)).map((one) => one.session_id);
    const lowered = await start({ auth: { ...THREE, maxSessions: 2 } });
    expect(await activeIds(app)).toEqual(ids);
    const { session_id: next } = await lowered.login();
    expect(await activeIds(app)).toEqual([ids[2], next]);
    expect(lowered.sent('user_logged_out').map(({ session }) => session.id)).toEqual(ids.slice(0, 2));
  });
});

const REJECTING = { auth: { ...THREE, onSessionLimit: 'reject' } } as const;

describeOnEachDatabase('a limit of three sessions that refuses logins', REJECTING, ({ app }) => {
  const attempt = () => app.http.post('/auth/login/').send({ username: 'alice', password: PASSWORD });

  it('the fourth login is refused with the code session_limit_reached and recorded, and no session changes', async () => {
    const [first, , third] = await loginEachMinute(app, 3);
    const { body, headers } = await attempt().expect(403);
    expect(body).toEqual({ detail: expect.any(String), code: 'session_limit_reached' });
    expect(headers['cache-control']).toBe('no-store');
    expect(app.sent('session_limit_reached').map(({ activeSessions }) => activeSessions)).toEqual([3]);
    expect(app.sent('user_logged_out')).toEqual([]);
    await app.get('/me', first!.access_token).expect(200);
    const [refused, ...logins] = await app.history(third!.access_token);
    const extra = { reason: 'session_limit' };
    expect(refused).toMatchObject({ event: 'login_blocked', extra, ip_address: '127.0.0.1' });
    expect(logins.map(({ event }) => event)).toEqual(['login_success', 'login_success', 'login_success']);
    await app.login('bob');
  });

  /** Logs in from each of the given clients, and returns the number of recorded refusals. */
  const refusedFrom = async (...clients: ClientInfo[]): Promise<number> => {
    for (const client of clients) {
      const login = app.auth.login({ username: 'alice', password: PASSWORD }, client);
      await expect(login).rejects.toMatchObject({ code: 'session_limit_reached' });
    }
    return (await app.auth.history(await app.userId())).filter(({ event }) => event === 'login_blocked').length;
  };

  it('refused logins of a client that keeps trying are recorded once an hour for each network', async () => {
    await loginEachMinute(app, 3);
    const [here, there] = [{ ipAddress: '192.0.2.1' }, { ipAddress: '2001:db8::1' }];
    expect(await refusedFrom(here, here, here)).toBe(1);
    expect(await refusedFrom(there, { ipAddress: '2001:db8::2' }, here)).toBe(2);
    expect(await refusedFrom({}, {}, here)).toBe(3);
    app.clock.advance(HOUR - 1);
    expect(await refusedFrom(here)).toBe(3);
    app.clock.advance(1);
    expect(await refusedFrom(here, here)).toBe(4);
    expect(app.sent('session_limit_reached')).toHaveLength(12);
  });

  it('at the limit, a right password ends the failure streak, and a wrong password receives its usual response', async () => {
    await loginEachMinute(app, 3);
    const wrong = { username: 'alice', password: 'wrong' };
    for (let time = 0; time < 9; time++)
      await app.http.post('/auth/login').send(wrong).expect(400, INVALID_CREDENTIALS);
    expect(app.sent('session_limit_reached')).toEqual([]);
    await attempt().expect(403);
    expect(await app.dataSource.query('SELECT * FROM auth_login_failures')).toEqual([]);
  });

  it('a login is accepted again after a logout, or when a session has expired', async () => {
    const [first] = await loginEachMinute(app, 3);
    await app.post('/auth/logout', first!.access_token).expect(200);
    await attempt().expect(200);
    await attempt().expect(403);
    app.clock.advance(7 * DAY);
    await attempt().expect(200);
    expect(await activeIds(app)).toHaveLength(1);
  });

  it('the limit accepts exactly as many parallel logins as there are free slots', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, attempt));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, ...Array<number>(7).fill(403)]);
    expect(await activeIds(app)).toHaveLength(3);
    expect(app.sent('session_limit_reached')).toHaveLength(7);
    const events = await app.dataSource.query("SELECT id FROM auth_events WHERE event = 'login_blocked'");
    expect(events).toHaveLength(1);
  });
});
