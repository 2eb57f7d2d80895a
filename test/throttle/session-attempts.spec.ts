import type { AuthModuleRootOptions } from 'nestjs-session-auth';
import { CountingHasher } from '../support/counting-hasher';
import { DAY, HOUR, SECOND } from '../support/driven-clock';
import { TestApplication, PASSWORD } from '../support/test-application';
import { restorePassword, describeOnEachDatabase } from '../support/environment';

const NEW = 'another long password';
const TOO_MANY = { detail: 'Too many failed attempts. Try again later.' };

const hasher = new CountingHasher();
const auth: AuthModuleRootOptions = { passwordHasher: hasher, endpoints: { reauthenticate: true } };

type Response = ReturnType<TestApplication['refresh']>;
const change = (app: TestApplication, token: string, current: string, next = NEW): Response =>
  app.post('/auth/password/change', token, { current_password: current, new_password: next });
const reauthenticate = (app: TestApplication, token: string, password: string): Response =>
  app.post('/auth/reauthenticate', token, { password });

async function guess(app: TestApplication, token: string, times: number): Promise<void> {
  for (let i = 0; i < times; i++) await reauthenticate(app, token, 'wrong').expect(400);
}

describeOnEachDatabase('wrong passwords within a session', { auth }, ({ app }) => {
  it('after the tenth wrong password in a session, attempts fail with 429 and the seconds to wait, even with the right password', async () => {
    const { access_token: token } = await app.login();
    for (let i = 0; i < 5; i++) await change(app, token, 'wrong').expect(400);
    await guess(app, token, 5);
    hasher.verified.length = 0;
    for (const send of [() => change(app, token, PASSWORD), () => reauthenticate(app, token, PASSWORD)]) {
      const { headers } = await send().expect(429, TOO_MANY);
      expect(headers['retry-after']).toBe('30');
    }
    expect(hasher.verified).toEqual([]);
    app.clock.advance(30 * SECOND - 1);
    await reauthenticate(app, token, PASSWORD).expect(429);
    app.clock.advance(1);
    await reauthenticate(app, token, 'wrong').expect(400);
    expect((await reauthenticate(app, token, PASSWORD).expect(429)).headers['retry-after']).toBe('60');
    app.clock.advance(60 * SECOND);
    await reauthenticate(app, token, PASSWORD).expect(200);
  });

  it('only the right password ends the failure streak of a session, not time, a refresh, a new login or resetFailedLogins', async () => {
    const session = await app.login();
    await guess(app, session.access_token, 9);
    app.clock.advance(2 * DAY);
    const { body: refreshed } = await app.refresh(session.refresh_token).expect(200);
    await app.login();
    await app.auth.resetFailedLogins('alice');
    await guess(app, refreshed.access_token, 1);
    await reauthenticate(app, refreshed.access_token, PASSWORD).expect(429);
    app.clock.advance(30 * SECOND);
    const { body: confirmed } = await reauthenticate(app, refreshed.access_token, PASSWORD).expect(200);
    await guess(app, confirmed.access_token, 9);
    // The current password is right, although the new one is refused.
    await change(app, confirmed.access_token, PASSWORD, 'short').expect(400);
    await guess(app, confirmed.access_token, 9);
    const { body: changed } = await change(app, confirmed.access_token, PASSWORD).expect(200);
    await guess(app, changed.access_token, 9);
    await reauthenticate(app, changed.access_token, NEW).expect(200);
    await restorePassword(app);
  });

  it('the 100th wrong password ends only its own session, and the end is recorded and emitted', async () => {
    const other = await app.login();
    const opened = await app.login();
    await guess(app, opened.access_token, 1);
    await app.dataSource.query('UPDATE auth_login_failures SET failure_count = 98');
    await guess(app, opened.access_token, 1);
    app.clock.advance(HOUR);
    const { access_token: token } = (await app.refresh(opened.refresh_token).expect(200)).body;
    expect(app.sent('user_logged_out')).toEqual([]);
    await reauthenticate(app, token, 'wrong').expect(400, { password: ['Invalid password.'] });
    await app.get('/me', token).expect(401);
    await app.refresh(other.refresh_token).expect(200);
    expect(app.sent('user_logged_out')).toMatchObject([
      { reason: 'failed_reauthentication', session: { id: opened.session_id, state: 'revoked', isCurrent: true } },
    ]);
    const history = await app.auth.history(app.sent('login_failed')[0]!.userId!, { event: 'forced_logout' });
    expect(history.map(({ extra }) => extra)).toEqual([
      { session_id: opened.session_id, reason: 'failed_reauthentication' },
    ]);
  });

  it('wrong passwords are counted separately in each session, and separately from failed logins', async () => {
    const [first, second] = [await app.login(), await app.login()];
    await guess(app, first.access_token, 10);
    await guess(app, second.access_token, 9);
    await app.login();
    const wrong = { username: 'alice', password: 'wrong' };
    for (let i = 0; i < 10; i++) await app.http.post('/auth/login').send(wrong).expect(400);
    await app.http.post('/auth/login').send(wrong).expect(429);
    await reauthenticate(app, first.access_token, PASSWORD).expect(429);
    await reauthenticate(app, second.access_token, PASSWORD).expect(200);
  });

  it('wrong passwords within a session are recorded with their count, and each delay is recorded once', async () => {
    const { access_token: token } = await app.login();
    await guess(app, token, 10);
    for (let i = 0; i < 3; i++) await reauthenticate(app, token, PASSWORD).expect(429);
    const until = new Date(app.clock.now() + 30 * SECOND);
    expect(app.sent('login_failed').map(({ failureCount }) => failureCount)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(app.sent('brute_force_threshold_hit')).toMatchObject([{ failureCount: 5, scope: 'session' }]);
    expect(app.sent('login_blocked')).toMatchObject([{ username: 'alice', scope: 'session', until }]);
    const events = await app.events(token);
    expect(events).toEqual(['login_blocked', ...Array<string>(10).fill('login_failure'), 'login_success']);
  });

  it('a session that has ended gives no further guesses to a principal from before its end', async () => {
    const { access_token: token } = await app.login();
    const principal = (await app.auth.authenticate(token))!;
    await app.auth.logout(principal);
    hasher.verified.length = 0;
    for (const password of ['wrong', PASSWORD]) {
      const refused = { code: 'access_token_invalid' };
      await expect(app.auth.reauthenticate(principal, password)).rejects.toMatchObject(refused);
    }
    expect(hasher.verified).toEqual([]);
    expect(await app.dataSource.query('SELECT * FROM auth_login_failures')).toEqual([]);
  });
});

const WITHOUT_DELAYS = { auth: { ...auth, failedLogins: { throttleFrom: false } } } as const;

describeOnEachDatabase('wrong passwords within a session without delays', WITHOUT_DELAYS, ({ app }) => {
  it('wrong passwords are not delayed, and the 100th, the last of several parallel ones that is verified, ends the session', async () => {
    const { access_token: token } = await app.login();
    await guess(app, token, 12);
    await app.dataSource.query('UPDATE auth_login_failures SET failure_count = 99');
    hasher.verified.length = 0;
    const answers = await Promise.all(Array.from({ length: 10 }, () => reauthenticate(app, token, 'wrong')));
    expect(hasher.verified).toHaveLength(1);
    const [first, ...others] = answers.map(({ status }) => status).sort();
    expect([first, others.filter((status) => ![401, 429].includes(status))]).toEqual([400, []]);
    expect(app.sent('login_blocked')).toEqual([]);
    await reauthenticate(app, token, PASSWORD).expect(401);
  });
});
