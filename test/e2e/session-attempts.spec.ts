import { AuthSession, type AuthModuleOptions } from 'nestjs-session-auth';
import { CountingHasher } from '../support/counting-hasher';
import { MINUTE, SECOND } from '../support/driven-clock';
import { Host, PASSWORD } from '../support/host';
import { eventsOf, restorePassword, stories, type Stage } from './stories';

const DAY = 24 * 60 * MINUTE;
const NEW = 'another long password';
const TOO_MANY = { detail: 'Too many failed logins. Try again later.' };

const hasher = new CountingHasher();
const auth: AuthModuleOptions = { passwordHasher: hasher, recentLogin: { endpoint: true } };

type Response = ReturnType<Host['refresh']>;
const change = (host: Host, token: string, current: string, next = NEW): Response =>
  host.post('/auth/password/change', token, { current_password: current, new_password: next });
const reauthenticate = (host: Host, token: string, password: string): Response =>
  host.post('/auth/reauthenticate', token, { password });

async function guess(host: Host, token: string, times: number): Promise<void> {
  for (let i = 0; i < times; i++) await reauthenticate(host, token, 'wrong').expect(400);
}

stories('wrong passwords within a session', { auth }, (at: Stage) => {
  it('are delayed from the tenth on, the right one too: 429 with the seconds to wait', async () => {
    const { host } = at;
    const { access_token: token } = await host.login();
    for (let i = 0; i < 5; i++) await change(host, token, 'wrong').expect(400);
    await guess(host, token, 5);
    hasher.verified.length = 0;
    for (const send of [() => change(host, token, PASSWORD), () => reauthenticate(host, token, PASSWORD)]) {
      const { headers } = await send().expect(429, TOO_MANY);
      expect(headers['retry-after']).toBe('30');
    }
    expect(hasher.verified).toEqual([]);
    host.clock.advance(30 * SECOND - 1);
    await reauthenticate(host, token, PASSWORD).expect(429);
    host.clock.advance(1);
    await reauthenticate(host, token, 'wrong').expect(400);
    expect((await reauthenticate(host, token, PASSWORD).expect(429)).headers['retry-after']).toBe('60');
    host.clock.advance(60 * SECOND);
    await reauthenticate(host, token, PASSWORD).expect(200);
  });

  it('end with a right password alone: not with time, a refresh, a new login or a reset of failed logins', async () => {
    const { host } = at;
    const session = await host.login();
    await guess(host, session.access_token, 9);
    host.clock.advance(2 * DAY);
    const { body: refreshed } = await host.refresh(session.refresh_token).expect(200);
    await host.login();
    await host.auth.resetFailedLogins('alice');
    await guess(host, refreshed.access_token, 1);
    await reauthenticate(host, refreshed.access_token, PASSWORD).expect(429);
    host.clock.advance(30 * SECOND);
    const { body: confirmed } = await reauthenticate(host, refreshed.access_token, PASSWORD).expect(200);
    await guess(host, confirmed.access_token, 9);
    const { body: changed } = await change(host, confirmed.access_token, PASSWORD).expect(200);
    await guess(host, changed.access_token, 9);
    await reauthenticate(host, changed.access_token, NEW).expect(200);
    await restorePassword(host);
  });

  it('end the session with the hundredth, which is recorded and emitted, and no other session', async () => {
    const { host } = at;
    const other = await host.login();
    const opened = await host.login();
    let { access_token: token, refresh_token: refreshToken } = opened;
    for (let i = 0; i < 99; i++) {
      await reauthenticate(host, token, 'wrong').expect(400);
      if (i < 9) continue;
      host.clock.advance(60 * MINUTE);
      ({ access_token: token, refresh_token: refreshToken } = (await host.refresh(refreshToken).expect(200)).body);
    }
    expect(host.sent('user_logged_out')).toEqual([]);
    await reauthenticate(host, token, 'wrong').expect(400, { password: ['Invalid password.'] });
    await host.get('/me', token).expect(401);
    await host.refresh(other.refresh_token).expect(200);
    expect(host.sent('user_logged_out')).toMatchObject([
      { reason: 'failed_reauthentication', session: { id: opened.session_id, state: 'revoked', isCurrent: true } },
    ]);
    const history = await host.auth.history(host.sent('login_failed')[0]!.userId!, { event: 'forced_logout' });
    expect(history.map(({ extra }) => extra)).toEqual([
      { session_id: opened.session_id, reason: 'failed_reauthentication' },
    ]);
  });

  it('leave logins alone, and failed logins leave them alone', async () => {
    const { host } = at;
    const { access_token: token } = await host.login();
    await guess(host, token, 10);
    await host.login();
    const wrong = { username: 'alice', password: 'wrong' };
    for (let i = 0; i < 10; i++) await host.http.post('/auth/login').send(wrong).expect(400);
    await host.http.post('/auth/login').send(wrong).expect(429);
    host.clock.advance(30 * SECOND);
    await reauthenticate(host, token, PASSWORD).expect(200);
  });

  it('are counted apart in each session', async () => {
    const { host } = at;
    const [first, second] = [await host.login(), await host.login()];
    await guess(host, first.access_token, 10);
    await guess(host, second.access_token, 9);
    await reauthenticate(host, first.access_token, PASSWORD).expect(429);
    await reauthenticate(host, second.access_token, PASSWORD).expect(200);
  });

  it('are recorded with their count, and each delay that they begin once', async () => {
    const { host } = at;
    const { access_token: token } = await host.login();
    await guess(host, token, 10);
    for (let i = 0; i < 3; i++) await reauthenticate(host, token, PASSWORD).expect(429);
    const until = new Date(host.clock.now() + 30 * SECOND);
    expect(host.sent('login_failed').map(({ failureCount }) => failureCount)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(host.sent('brute_force_threshold_hit')).toMatchObject([{ failureCount: 5, scope: 'session' }]);
    expect(host.sent('login_blocked')).toMatchObject([{ username: 'alice', scope: 'session', until }]);
    const events = await eventsOf(host, token);
    expect(events).toEqual(['login_blocked', ...Array<string>(10).fill('login_failure'), 'login_success']);
  });

  it('are verified one at a time: of 30 parallel guesses ten are, the others are refused', async () => {
    const { host } = at;
    const { access_token: token } = await host.login();
    hasher.verified.length = 0;
    const statuses = await Promise.all(
      Array.from({ length: 30 }, async () => (await reauthenticate(host, token, 'wrong')).status),
    );
    expect(hasher.verified).toHaveLength(10);
    expect(statuses.filter((status) => status === 400)).toHaveLength(10);
    expect(statuses.filter((status) => status === 429)).toHaveLength(20);
  });

  it('whose process died block further ones for half a minute', async () => {
    const { host } = at;
    const { access_token: token, session_id: id } = await host.login();
    const pendingUntil = host.clock.now() + 30 * SECOND;
    await host.dataSource.getRepository(AuthSession).update({ id }, { attemptPendingUntil: pendingUntil });
    host.clock.advance(30 * SECOND);
    await reauthenticate(host, token, PASSWORD).expect(200);
  });

  it('are not blocked by a slot that an instance with a fast clock has left behind', async () => {
    const { host } = at;
    const { access_token: token, session_id: id } = await host.login();
    const pendingUntil = host.clock.now() + 10 * MINUTE;
    await host.dataSource.getRepository(AuthSession).update({ id }, { attemptPendingUntil: pendingUntil });
    await reauthenticate(host, token, PASSWORD).expect(200);
  });

  it('give the slot back where the new password is refused, and count nothing', async () => {
    const { host } = at;
    const { access_token: token, session_id: id } = await host.login();
    await change(host, token, PASSWORD, 'short').expect(400);
    const row = await host.dataSource.getRepository(AuthSession).findOneByOrFail({ id });
    expect([row.failureCount, row.attemptPendingUntil]).toEqual([null, null]);
    await change(host, token, PASSWORD).expect(200);
    await restorePassword(host);
  });
});

stories(
  'wrong passwords within a session, with the throttle off',
  { auth: { ...auth, failedLogins: { throttleFrom: false } } },
  (at) => {
    it('are not delayed, and end the session with the hundredth all the same', async () => {
      const { host } = at;
      const { access_token: token } = await host.login();
      await guess(host, token, 100);
      await host.get('/me', token).expect(401);
    });
  },
);
