import { EventEmitter2 } from '@nestjs/event-emitter';
import { DATABASES } from '../support/databases';
import { describeOnEachDatabase } from '../support/environment';
import { startForTest } from '../support/start-for-test';
import { PASSWORD } from '../support/test-application';

describeOnEachDatabase('signals', {}, ({ app }) => {
  it('`this.event` of a listener is the name of the signal', async () => {
    const seen: unknown[] = [];
    const emitter = app.nest.get(EventEmitter2);
    const listener = function (this: { event?: unknown }): void {
      seen.push(this.event);
    };
    emitter.on('user_logged_in', listener);
    emitter.onAny(listener);
    await app.login();
    emitter.off('user_logged_in', listener);
    emitter.offAny(listener);
    expect(seen).toEqual(['user_logged_in', 'user_logged_in']);
  });

  it('the signals of a login contain the session as its user sees it, frozen and without tokens', async () => {
    const login = await app.login();
    const [signal] = app.sent('user_logged_in');
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
        createdAt: new Date(app.clock.now()),
        lastActivity: new Date(app.clock.now()),
        isCurrent: true,
        lastIpAddress: '127.0.0.1',
        expiresAt: new Date(app.clock.now() + 604_800_000),
        methods: ['pwd'],
        impersonated: false,
      },
    });
    expect(Object.isFrozen(signal) && Object.isFrozen(signal!.session)).toBe(true);
    expect(JSON.stringify(app.signals)).not.toContain('nsa');
  });

  it('login_failed contains the count, and the threshold is emitted once per failure streak', async () => {
    const fail = (): Promise<unknown> =>
      app.http.post('/auth/login').send({ username: 'alice', password: 'wrong' }).expect(400);
    for (let failure = 0; failure < 6; failure++) await fail();
    expect(app.sent('login_failed').map(({ failureCount }) => failureCount)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(app.sent('brute_force_threshold_hit')).toEqual([
      { username: 'alice', ipAddress: '127.0.0.1', failureCount: 5, scope: 'network' },
    ]);
  });

  it('login_failed and brute_force_threshold_hit mask an unknown name, which may be a misplaced password', async () => {
    const typed = 'my secret passphrase';
    for (let i = 0; i < 10; i++) await app.auth.login({ username: typed, password: 'wrong' }).catch(() => null);
    for (const name of ['login_failed', 'brute_force_threshold_hit'] as const) {
      expect(app.sent(name).at(-1)!.username).toBe('my********');
    }
    expect(JSON.stringify(app.signals)).not.toContain(typed);
  });

  it('a listener that throws, rejects or never settles does not prevent other listeners from receiving a signal', async () => {
    const emitter = app.nest.get(EventEmitter2);
    const throwing = (): never => {
      throw new Error('a listener');
    };
    const rejecting = () => Promise.reject(new Error('a listener')) as never;
    const listeners = [throwing, rejecting, () => new Promise(() => undefined) as never];
    for (const listener of listeners) emitter.prependListener('user_logged_in', listener);
    await app.login();
    for (const listener of listeners) emitter.off('user_logged_in', listener);
    expect(app.sent('user_logged_in')).toHaveLength(1);
  });
});

describe.each(DATABASES)('the tracked client on %s', (name) => {
  const CHROME =
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36';
  const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:127.0) Gecko/20100101 Firefox/127.0';

  it('a login stores the address, User-Agent and device of the client, and emits whether the device is new', async () => {
    const app = await startForTest(name);
    await app.login('alice', PASSWORD, CHROME);
    await app.login('alice', PASSWORD, CHROME);
    app.clock.advance(1);
    const { access_token: token } = await app.login('alice', PASSWORD, FIREFOX);
    const [session] = (await app.get('/auth/sessions', token)).body;
    const device = { os_family: 'Linux', browser_family: 'Firefox', device_type: 'desktop' };
    expect(session).toMatchObject({ ip_address: '127.0.0.1', ...device });
    await app.login('alice', PASSWORD, CHROME);
    // Without a User-Agent, there is no device to compare.
    await app.login('alice', PASSWORD, '');
    expect(app.sent('user_logged_in').map(({ newDevice }) => newDevice)).toEqual([false, false, true, false, false]);
    const history = await app.history(token);
    expect(history.map(({ extra }) => extra)).toEqual([{}, {}, { new_device: true }, {}, {}]);
    expect(history[2]).toMatchObject({ ip_address: '127.0.0.1', user_agent: FIREFOX });
  });

  it.each([
    ['no address', { trackIps: false }, { ip_address: null, browser_family: 'Firefox' }, FIREFOX],
    ['no User-Agent', { trackUserAgents: false }, { ip_address: '127.0.0.1', browser_family: 'Other' }, ''],
    ['no device', { trackDevices: false }, { ip_address: '127.0.0.1', browser_family: 'Other' }, FIREFOX],
  ])('the stored client has %s if tracking it is switched off', async (_, auth, expected, userAgent) => {
    const app = await startForTest(name, { auth });
    await app.login('alice', PASSWORD, CHROME);
    app.clock.advance(1);
    const { access_token: token } = await app.login('alice', PASSWORD, FIREFOX);
    const [session] = (await app.get('/auth/sessions', token)).body;
    expect(session).toMatchObject(expected);
    const [event] = await app.history(token);
    expect(event).toMatchObject({ ip_address: expected.ip_address, user_agent: userAgent, extra: {} });
    const tables = ['auth_sessions', 'auth_events', 'auth_login_failures'];
    const rows = await Promise.all(tables.map((table) => app.dataSource.query(`SELECT * FROM ${table}`)));
    expect(JSON.stringify(rows).includes('127.0.0.1')).toBe(expected.ip_address !== null);
  });
});
