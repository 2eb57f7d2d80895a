import { AuthSession, type ClientInfo } from 'nestjs-session-auth';
import { randomUUID } from 'node:crypto';
import { HOUR, MINUTE } from '../support/driven-clock';
import { type LoginAnswer, PASSWORD, type TestApplication } from '../support/test-application';
import { describeOnEachDatabase } from '../support/environment';

const ENDED = { state: 'revoked', end_reason: 'session_policy' };

async function loginEachMinute(app: TestApplication, times: number): Promise<LoginAnswer[]> {
  const answers: LoginAnswer[] = [];
  for (let time = 0; time < times; time++) {
    answers.push(await app.login());
    app.clock.advance(MINUTE);
  }
  return answers;
}

async function activeIds({ dataSource }: TestApplication): Promise<string[]> {
  const rows = await dataSource
    .getRepository(AuthSession)
    .find({ where: { state: 'active' }, order: { createdAt: 'ASC' } });
  return rows.map(({ id }) => id);
}

/** Stores 999 sessions in addition to one that was created first and used last, and returns the least recently used. */
async function fill({ dataSource, clock }: TestApplication, { session_id: id }: LoginAnswer): Promise<string> {
  const sessions = dataSource.getRepository(AuthSession);
  const row = await sessions.findOneByOrFail({ id });
  const copies = Array.from({ length: 999 }, (_, index) => {
    const createdAt = row.createdAt + index + 1;
    return { ...row, id: randomUUID(), createdAt, lastActivity: createdAt };
  });
  for (let i = 0; i < copies.length; i += 100) await sessions.insert(copies.slice(i, i + 100));
  clock.advance(1_000);
  await sessions.update({ id }, { lastActivity: clock.now() });
  return copies[0]!.id;
}

describeOnEachDatabase('sessions without a limit', { auth: { onSessionLimit: 'reject' } }, ({ app }) => {
  it('a user has at most 1,000 active sessions, which end in one call, and a further login ends the least recently used one', async () => {
    const first = await app.login();
    const leastRecentlyUsed = await fill(app, first);
    const [bob, next] = [await app.login('bob'), await app.login()];
    expect(await activeIds(app)).toHaveLength(1_001);
    expect(await app.storedEnd(leastRecentlyUsed)).toEqual(ENDED);
    expect(app.emittedEnds()).toEqual([[leastRecentlyUsed, 'session_policy']]);
    expect(app.sent('session_limit_reached')).toEqual([]);
    const [, forced] = await app.history(next.access_token);
    const extra = { session_id: leastRecentlyUsed, reason: 'session_policy' };
    expect(forced).toMatchObject({ event: 'forced_logout', extra });
    await app.expectLive(first, next, bob);
    await app.post('/auth/logout/all', first.access_token).expect(200, { detail: 'Revoked 1000 session(s).' });
    expect(await activeIds(app)).toEqual([bob.session_id]);
    expect(app.sent('user_logged_out')).toHaveLength(1_001);
  });
});

describeOnEachDatabase('the policy of a single session', { auth: { sessionPolicy: 'single' } }, ({ app }) => {
  it("a login ends the user's other session and no session of other users, and a failed login ends no session", async () => {
    const bob = await app.login('bob');
    const [first, second] = (await loginEachMinute(app, 2)) as [LoginAnswer, LoginAnswer];
    await app.failLogin();
    await app.expectRevoked(first);
    await app.expectLive(second, bob);
    expect(await app.storedEnd(first.session_id)).toEqual(ENDED);
    expect(app.emittedEnds()).toEqual([[first.session_id, 'session_policy']]);
  });
});

const THREE = { sessionPolicy: 'max_count', maxSessions: 3 } as const;

describeOnEachDatabase('a limit of three sessions that ends the oldest', { auth: THREE }, ({ app, start }) => {
  it('the fourth login ends the session with the oldest created_at, even if it is the most active one', async () => {
    const [first, ...others] = await loginEachMinute(app, 3);
    await app.refreshed(first!);
    others.push(await app.login());
    expect(await activeIds(app)).toEqual(others.map(({ session_id: id }) => id));
    expect(await app.storedEnd(first!.session_id)).toEqual(ENDED);
    await app.login('bob');
    expect(app.emittedEnds()).toEqual([[first!.session_id, 'session_policy']]);
    expect(app.sent('session_limit_reached')).toEqual([]);
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
    const sessions = await loginEachMinute(app, 3);
    const { body, headers } = await attempt().expect(403);
    expect(body).toEqual({ detail: expect.any(String), code: 'session_limit_reached' });
    expect(headers['cache-control']).toBe('no-store');
    expect(app.sent('session_limit_reached').map(({ activeSessions }) => activeSessions)).toEqual([3]);
    expect(app.sent('user_logged_out')).toEqual([]);
    await app.expectLive(...sessions);
    const [refused, ...logins] = await app.history(sessions[0]!.access_token);
    const extra = { reason: 'session_limit' };
    expect(refused).toMatchObject({ event: 'login_blocked', extra, ip_address: '127.0.0.1' });
    expect(logins.map(({ event }) => event)).toEqual(['login_success', 'login_success', 'login_success']);
    await app.login('bob');
  });

  it('refused logins of a client that keeps trying are recorded once an hour for each network', async () => {
    await loginEachMinute(app, 3);
    /** Logs in from the given clients at the same time, and returns the number of recorded refusals. */
    const refusedFrom = async (...clients: ClientInfo[]): Promise<number> => {
      const logins = clients.map((client) => app.auth.login({ username: 'alice', password: PASSWORD }, client));
      for (const login of await Promise.allSettled(logins))
        expect(login).toMatchObject({ reason: { code: 'session_limit_reached' } });
      return (await app.auth.history(await app.userId(), { event: ['login_blocked'] })).length;
    };
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
    for (let time = 0; time < 9; time++) await app.failLogin();
    expect(app.sent('session_limit_reached')).toEqual([]);
    await attempt().expect(403);
    expect(await app.dataSource.query('SELECT * FROM auth_login_failures')).toEqual([]);
  });
});
