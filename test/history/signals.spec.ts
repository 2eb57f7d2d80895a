import { EventEmitter2 } from '@nestjs/event-emitter';
import { createDatabase, DATABASES } from '../support/databases';
import { describeOnEachDatabase, type TestEnvironment } from '../support/environment';
import { TestApplication, PASSWORD } from '../support/test-application';

describeOnEachDatabase('signals', {}, (env: TestEnvironment) => {
  const reasons = (): string[] => env.app.sent('user_logged_out').map(({ reason }) => reason);

  it('`this.event` of a listener is the name of the signal', async () => {
    const seen: unknown[] = [];
    const emitter = env.app.nest.get(EventEmitter2);
    const listener = function (this: { event?: unknown }): void {
      seen.push(this.event);
    };
    emitter.on('user_logged_in', listener);
    emitter.onAny(listener);
    await env.app.login();
    emitter.off('user_logged_in', listener);
    emitter.offAny(listener);
    expect(seen).toEqual(['user_logged_in', 'user_logged_in']);
  });

  it('the signals of a login contain the session as its user sees it, frozen and without tokens', async () => {
    const login = await env.app.login();
    const [signal] = env.app.sent('user_logged_in');
    expect(signal).toEqual({
      userId: expect.any(String),
      newDevice: false,
      session: {
        id: login.session_id,
        state: 'active',
        ipAddress: '127.0.0.1',
        deviceType: 'other',
        osFamily: 'Other',
        browserFamily: 'Other',
        deviceName: 'Other',
        createdAt: new Date(env.app.clock.now()),
        lastActivity: new Date(env.app.clock.now()),
        isCurrent: true,
      },
    });
    expect(Object.isFrozen(signal) && Object.isFrozen(signal!.session)).toBe(true);
    expect(JSON.stringify(env.app.signals)).not.toContain('nsa');
  });

  it('the end of a session is emitted once, with its reason', async () => {
    const one = await env.app.login();
    const two = await env.app.login();
    await env.app.delete(`/auth/sessions/${two.session_id}`, one.access_token);
    await env.app.login();
    await env.app.post('/auth/logout/all', one.access_token, {});
    expect(reasons().sort()).toEqual(['logout', 'logout_all', 'user']);
    expect(
      env.app
        .sent('user_logged_out')
        .map(({ session }) => session.state)
        .sort(),
    ).toEqual(['logged_out', 'revoked', 'revoked']);
  });

  it('sessions ended by an administrator or a password reset have the reasons admin and password_reset', async () => {
    const { session_id: id } = await env.app.login();
    const { userId } = env.app.sent('user_logged_in')[0]!;
    await env.app.auth.revokeSession(userId, id, {}, { by: 'admin' });
    await env.app.login();
    await env.app.auth.resetPassword(userId, PASSWORD);
    expect(reasons()).toEqual(['admin', 'password_reset']);
    expect(env.app.sent('password_reset')).toEqual([{ userId }]);
    const events = (await env.app.auth.history(userId)).map(({ event, extra }) => [event, extra['reason']]);
    expect(events).toEqual([
      ['password_reset', undefined],
      ['forced_logout', 'password_reset'],
      ['login_success', undefined],
      ['session_revoked', 'admin'],
      ['login_success', undefined],
    ]);
  });

  it('login_failed contains the count, and the threshold is emitted once per failure streak', async () => {
    const fail = (): Promise<unknown> =>
      env.app.http.post('/auth/login').send({ username: 'alice', password: 'wrong' }).expect(400);
    for (let failure = 0; failure < 6; failure++) await fail();
    expect(env.app.sent('login_failed').map(({ failureCount }) => failureCount)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(env.app.sent('brute_force_threshold_hit')).toEqual([
      { username: 'alice', ipAddress: '127.0.0.1', failureCount: 5, scope: 'network' },
    ]);
    await env.app.login();
    await fail();
    expect(env.app.sent('login_failed').at(-1)).toMatchObject({ failureCount: 1 });
    env.app.clock.advance(299_999);
    await fail();
    env.app.clock.advance(300_000);
    await fail();
    expect(
      env.app
        .sent('login_failed')
        .map(({ failureCount }) => failureCount)
        .slice(-2),
    ).toEqual([2, 1]);
  });

  it('login_failed and brute_force_threshold_hit mask an unknown name, which may be a misplaced password', async () => {
    const typed = 'my secret passphrase';
    for (let i = 0; i < 10; i++)
      await env.app.auth.login({ username: typed, password: 'wrong' }).catch(() => undefined);
    const names = (['login_failed', 'brute_force_threshold_hit'] as const).map(
      (name) => env.app.sent(name).at(-1)?.username,
    );
    expect(names).toEqual(['my********', 'my********']);
    expect(JSON.stringify(env.app.signals)).not.toContain(typed);
  });

  it('login_failed is emitted for each of ten parallel failures, but not for delayed attempts', async () => {
    const attempts = Array.from({ length: 20 }, () =>
      env.app.http.post('/auth/login').send({ username: 'nobody', password: 'wrong' }),
    );
    const statuses = (await Promise.all(attempts)).map(({ status }) => status);
    // From the tenth failure on, attempts are delayed, and delayed attempts are not counted.
    expect(statuses.sort()).toEqual([...Array<number>(10).fill(400), ...Array<number>(10).fill(429)]);
    const counts = env.app.sent('login_failed').map(({ failureCount }) => failureCount);
    expect(counts.sort((a, b) => a - b)).toEqual(Array.from({ length: 10 }, (_, index) => index + 1));
    const rows = await env.app.dataSource.query('SELECT user_id, extra FROM auth_events');
    expect(
      rows.every((row: { user_id: unknown; extra: string }) => row.user_id === null && !row.extra.includes('nobody')),
    ).toBe(true);
    expect(env.app.sent('brute_force_threshold_hit')).toHaveLength(1);
  });

  it('a listener that throws, rejects or never settles does not prevent other listeners from receiving a signal', async () => {
    const emitter = env.app.nest.get(EventEmitter2);
    const listeners: ReadonlyArray<() => never> = [
      () => {
        throw new Error('a listener');
      },
      () => Promise.reject(new Error('a listener')) as never,
      () => new Promise(() => undefined) as never,
    ];
    for (const listener of listeners) emitter.prependListener('user_logged_in', listener);
    await env.app.login();
    for (const listener of listeners) emitter.off('user_logged_in', listener);
    expect(env.app.sent('user_logged_in')).toHaveLength(1);
  });
});

describe.each(DATABASES)('the tracked client on %s', (name) => {
  const CHROME =
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36';
  const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:127.0) Gecko/20100101 Firefox/127.0';

  it('a login stores the address, User-Agent and device of the client, and emits whether the device is new', async () => {
    const database = await createDatabase(name);
    const app = await TestApplication.start({ database });
    await app.login('alice', PASSWORD, CHROME);
    await app.login('alice', PASSWORD, CHROME);
    app.clock.advance(1);
    const { access_token: token } = await app.login('alice', PASSWORD, FIREFOX);
    expect(app.sent('user_logged_in').map(({ newDevice }) => newDevice)).toEqual([false, false, true]);
    const [session] = (await app.get('/auth/sessions', token)).body;
    expect(session).toMatchObject({
      ip_address: '127.0.0.1',
      os_family: 'Linux',
      browser_family: 'Firefox',
      device_type: 'desktop',
    });
    const [event] = (await app.get('/auth/history?limit=1', token)).body;
    expect(event).toMatchObject({ ip_address: '127.0.0.1', user_agent: FIREFOX, extra: { new_device: true } });
    await app.close();
    await database.drop();
  });

  it.each([
    ['no address', { trackIps: false }, { ip_address: null, browser_family: 'Firefox' }, FIREFOX],
    ['no User-Agent', { trackUserAgents: false }, { ip_address: '127.0.0.1', browser_family: 'Other' }, ''],
    ['no device', { trackDevices: false }, { ip_address: '127.0.0.1', browser_family: 'Other' }, FIREFOX],
  ])('the stored client has %s if tracking it is switched off', async (_, auth, expected, userAgent) => {
    const database = await createDatabase(name);
    const app = await TestApplication.start({ database, auth });
    await app.login('alice', PASSWORD, CHROME);
    app.clock.advance(1);
    const { access_token: token } = await app.login('alice', PASSWORD, FIREFOX);
    const [session] = (await app.get('/auth/sessions', token)).body;
    expect(session).toMatchObject(expected);
    const [event] = (await app.get('/auth/history?limit=1', token)).body;
    expect(event).toMatchObject({ ip_address: expected.ip_address, user_agent: userAgent, extra: {} });
    const rows = JSON.stringify([
      await app.dataSource.query('SELECT * FROM auth_sessions'),
      await app.dataSource.query('SELECT * FROM auth_events'),
      await app.dataSource.query('SELECT * FROM auth_login_failures'),
    ]);
    expect(rows.includes('127.0.0.1')).toBe(expected.ip_address !== null);
    await app.close();
    await database.drop();
  });
});
