import { EventEmitter2 } from '@nestjs/event-emitter';
import { AuthEvent } from 'nestjs-session-auth';
import { describeOnEachDatabase } from '../support/environment';
import { PASSWORD } from '../support/test-application';

const CHROME =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36';
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:127.0) Gecko/20100101 Firefox/127.0';

describeOnEachDatabase('signals and the stored client', {}, ({ app, start }) => {
  it('`this.event` of a listener is the name of the signal', async () => {
    const seen: unknown[] = [];
    const emitter = app.nest.get(EventEmitter2);
    const listener = function (this: { event?: unknown }): void {
      seen.push(this.event);
    };
    emitter.once('user_logged_in', listener);
    emitter.onAny(listener);
    await app.login();
    emitter.offAny(listener);
    expect(seen).toEqual(['user_logged_in', 'user_logged_in']);
  });

  it('the signals of a login contain the session as its user sees it, frozen and without tokens', async () => {
    const login = await app.login();
    const now = new Date(app.clock.now());
    const [signal] = app.sent('user_logged_in');
    expect(signal).toEqual({
      userId: expect.any(String),
      newDevice: false,
      session: {
        ...{ id: login.session_id, state: 'active', isCurrent: true, impersonated: false, methods: ['pwd'] },
        ...{ ipAddress: '127.0.0.1', lastIpAddress: '127.0.0.1', deviceType: 'other', osFamily: 'Other' },
        ...{ browserFamily: 'Other', deviceName: 'Other', createdAt: now, lastActivity: now },
        expiresAt: new Date(app.clock.now() + 604_800_000),
      },
    });
    expect(Object.isFrozen(signal) && Object.isFrozen(signal!.session)).toBe(true);
    expect(JSON.stringify(app.signals)).not.toContain('nsa');
  });

  it('login_failed contains the user and the count, and the threshold is emitted once per failure streak', async () => {
    for (let failure = 0; failure < 6; failure++) await app.failLogin();
    const identity = { username: 'alice', userId: await app.userId(), ipAddress: '127.0.0.1' };
    const payloads = [1, 2, 3, 4, 5, 6].map((failureCount) => ({ ...identity, failureCount }));
    expect(app.sent('login_failed')).toEqual(payloads);
    expect(app.sent('brute_force_threshold_hit')).toEqual([
      { username: 'alice', ipAddress: '127.0.0.1', failureCount: 5, scope: 'network' },
    ]);
  });

  it('login_failed, brute_force_threshold_hit and login_blocked mask an unknown name, which may be a misplaced password', async () => {
    const typed = 'my secret passphrase';
    for (let i = 0; i < 10; i++) await app.failLogin(typed);
    for (const name of ['login_failed', 'brute_force_threshold_hit', 'login_blocked'] as const) {
      expect(app.sent(name).at(-1)!.username).toBe('my********');
    }
    expect(JSON.stringify(app.signals)).not.toContain(typed);
    expect(app.sent('login_blocked')).toMatchObject([{ userId: null }]);
    const events = await app.dataSource.getRepository(AuthEvent).find();
    expect(new Set(events.map(({ userId }) => userId))).toEqual(new Set([null]));
    expect(events.map(({ extra }) => extra)).toContainEqual({ username: 'my********', failure_count: 1 });
    expect(JSON.stringify(events)).not.toContain('secret');
  });

  it('a listener that throws, rejects or never settles does not prevent other listeners from receiving a signal', async () => {
    const emitter = app.nest.get(EventEmitter2);
    const listeners = [
      () => JSON.parse('{') as never,
      () => Promise.reject(new Error('a listener')) as never,
      () => new Promise(() => undefined) as never,
    ];
    for (const listener of listeners) emitter.prependListener('user_logged_in', listener);
    await app.login();
    for (const listener of listeners) emitter.off('user_logged_in', listener);
    expect(app.sent('user_logged_in')).toHaveLength(1);
  });

  it('a login stores the address, User-Agent and device of the client, and emits whether the device is new', async () => {
    for (let time = 0; time < 2; time++) await app.login('alice', PASSWORD, CHROME);
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
  ])('the stored client has %s if tracking it is switched off', async (_, auth, expected, user_agent) => {
    const other = await start({ auth: { ...auth, refreshReuseGraceSeconds: 10 } });
    const opened = await other.login('alice', PASSWORD, CHROME);
    other.clock.advance(1);
    const { access_token: token } = await other.login('alice', PASSWORD, FIREFOX);
    const [session] = (await other.get('/auth/sessions', token)).body;
    expect(session).toMatchObject(expected);
    const [event] = await other.history(token);
    expect(event).toMatchObject({ ip_address: expected.ip_address, user_agent, extra: {} });
    // The second refresh is a replay.
    for (let time = 0; time < 2; time++) await other.refreshed(opened);
    const tables = ['auth_sessions', 'auth_events', 'auth_login_failures'];
    const rows = await Promise.all(tables.map((table) => other.dataSource.query(`SELECT * FROM ${table}`)));
    expect(JSON.stringify(rows).includes('127.0.0.1')).toBe(expected.ip_address !== null);
  });
});
