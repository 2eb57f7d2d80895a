import type { AuthModuleRootOptions } from 'nestjs-session-auth';
import { CountingHasher } from '../support/counting-hasher';
import { DAY, HOUR, SECOND } from '../support/driven-clock';
import { PASSWORD, type TestApplication } from '../support/test-application';
import { restorePassword, describeOnEachDatabase } from '../support/environment';

const NEW = 'another long password';
const TOO_MANY = { detail: 'Too many failed attempts. Try again later.' };

const hasher = new CountingHasher();
const auth: AuthModuleRootOptions = { passwordHasher: hasher, endpoints: { reauthenticate: true } };

const reauthenticate = (app: TestApplication, token: string, password = PASSWORD) =>
  app.post('/auth/reauthenticate', token, { password });

async function guess(app: TestApplication, token: string, times = 1): Promise<void> {
  const problem = { password: ['Invalid password.'] };
  for (let i = 0; i < times; i++) await reauthenticate(app, token, 'wrong').expect(400, problem);
}

/** Stores the count of all wrong passwords of the session. */
const setFailures = ({ dataSource }: TestApplication, count: number) =>
  dataSource.query(`UPDATE auth_login_failures SET failure_count = ${count}`);

describeOnEachDatabase('wrong passwords within a session', { auth }, ({ app }) => {
  it('after the tenth wrong password in a session, attempts fail with 429 and the seconds to wait, even with the right password', async () => {
    const { access_token: token } = await app.login();
    for (let i = 0; i < 5; i++) await app.changePassword(token, NEW, 'wrong').expect(400);
    await guess(app, token, 5);
    hasher.verified.length = 0;
    for (const send of [() => app.changePassword(token, NEW), () => reauthenticate(app, token)]) {
      expect((await send().expect(429, TOO_MANY)).headers['retry-after']).toBe('30');
    }
    expect(hasher.verified).toEqual([]);
    app.clock.advance(30 * SECOND - 1);
    await reauthenticate(app, token).expect(429);
    app.clock.advance(1);
    await guess(app, token);
    expect((await reauthenticate(app, token).expect(429)).headers['retry-after']).toBe('60');
    app.clock.advance(60 * SECOND);
    await reauthenticate(app, token).expect(200);
  });

  it('only the right password ends the failure streak of a session, not time, a refresh, a new login or resetFailedLogins', async () => {
    const session = await app.login();
    await guess(app, session.access_token, 9);
    app.clock.advance(2 * DAY);
    const { access_token: refreshed } = await app.refreshed(session);
    await app.login();
    await app.auth.resetFailedLogins('alice');
    await guess(app, refreshed);
    await reauthenticate(app, refreshed).expect(429);
    app.clock.advance(30 * SECOND);
    const { access_token: confirmed } = (await reauthenticate(app, refreshed).expect(200)).body;
    await guess(app, confirmed, 9);
    // The current password is right, although the new one is refused.
    await app.changePassword(confirmed, 'short').expect(400);
    await guess(app, confirmed, 9);
    const { body: changed } = await app.changePassword(confirmed, NEW).expect(200);
    await guess(app, changed.access_token, 9);
    await reauthenticate(app, changed.access_token, NEW).expect(200);
    await restorePassword(app);
  });

  it('the 100th wrong password ends only its own session, and the end is recorded and emitted', async () => {
    const [other, opened] = [await app.login(), await app.login()];
    await guess(app, opened.access_token);
    await setFailures(app, 98);
    await guess(app, opened.access_token);
    app.clock.advance(HOUR);
    const { access_token: token } = await app.refreshed(opened);
    expect(app.sent('user_logged_out')).toEqual([]);
    await guess(app, token);
    await app.get('/me', token).expect(401);
    await app.refreshed(other);
    expect(app.sent('user_logged_out')).toMatchObject([
      { reason: 'failed_reauthentication', session: { id: opened.session_id, state: 'revoked', isCurrent: true } },
    ]);
    const extra = { session_id: opened.session_id, reason: 'failed_reauthentication' };
    expect(await app.auth.history(await app.userId(), { event: 'forced_logout' })).toMatchObject([{ extra }]);
  });

  it('wrong passwords are counted separately in each session, and separately from failed logins', async () => {
    const [first, second] = [await app.login(), await app.login()];
    await guess(app, first.access_token, 10);
    await guess(app, second.access_token, 9);
    await app.login();
    for (let i = 0; i < 10; i++) await app.failLogin();
    await app.http.post('/auth/login').send({ username: 'alice', password: PASSWORD }).expect(429);
    await reauthenticate(app, first.access_token).expect(429);
    await reauthenticate(app, second.access_token).expect(200);
  });

  it('wrong passwords within a session are recorded with their count, and each delay is recorded once', async () => {
    const { access_token: token } = await app.login();
    await guess(app, token, 10);
    for (let i = 0; i < 3; i++) await reauthenticate(app, token).expect(429);
    const until = new Date(app.clock.now() + 30 * SECOND);
    expect(app.sent('login_failed').map(({ failureCount }) => failureCount)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(app.sent('brute_force_threshold_hit')).toMatchObject([{ failureCount: 5, scope: 'session' }]);
    expect(app.sent('login_blocked')).toMatchObject([{ username: 'alice', scope: 'session', until }]);
    const events = await app.events(token);
    expect(events).toEqual(['login_blocked', ...Array<string>(10).fill('login_failure'), 'login_success']);
  });

  it('a session that has ended gives no further guesses to a principal from before its end', async () => {
    const principal = await app.principal((await app.login()).access_token);
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
    await setFailures(app, 99);
    hasher.verified.length = 0;
    const answers = await Promise.all(Array.from({ length: 10 }, () => reauthenticate(app, token, 'wrong')));
    expect(hasher.verified).toHaveLength(1);
    const [first, ...others] = answers.map(({ status }) => status).sort();
    expect([first, others.filter((status) => ![401, 429].includes(status))]).toEqual([400, []]);
    expect(app.sent('login_blocked')).toEqual([]);
    await reauthenticate(app, token).expect(401);
  });
});
