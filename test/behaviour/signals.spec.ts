import { EventEmitter2 } from '@nestjs/event-emitter';
import { createDatabase, DATABASES, type TestDatabase } from '../support/databases';
import { Host, PASSWORD } from '../support/host';

describe.each(DATABASES)('signals on %s', (name) => {
  let database: TestDatabase;
  let host: Host;

  beforeAll(async () => {
    database = await createDatabase(name);
    host = await Host.start({ database });
  });
  afterAll(async () => {
    await host.close();
    await database.drop();
  });
  beforeEach(() => host.reset());

  const reasons = (): string[] => host.sent('user_logged_out').map(({ reason }) => reason);

  it('of a login hold the session as its user sees it, frozen and without tokens', async () => {
    const login = await host.login();
    const [signal] = host.sent('user_logged_in');
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
        createdAt: new Date(host.clock.now()),
        lastActivity: new Date(host.clock.now()),
        isCurrent: true,
      },
    });
    expect(Object.isFrozen(signal) && Object.isFrozen(signal!.session)).toBe(true);
    expect(JSON.stringify(host.signals)).not.toContain('nsa');
  });

  it('of an ended session are emitted once, with the reason', async () => {
    const one = await host.login();
    const two = await host.login();
    await host.delete(`/auth/sessions/${two.session_id}`, one.access_token);
    await host.login();
    await host.post('/auth/logout/all', one.access_token, {});
    expect(reasons().sort()).toEqual(['logout', 'logout_all', 'user']);
    expect(
      host
        .sent('user_logged_out')
        .map(({ session }) => session.state)
        .sort(),
    ).toEqual(['logged_out', 'revoked', 'revoked']);
  });

  it('of an administrator and of a password reset have their reasons', async () => {
    const { session_id: id } = await host.login();
    const { userId } = host.sent('user_logged_in')[0]!;
    await host.auth.revokeSession(userId, id, {}, { by: 'admin' });
    await host.login();
    await host.auth.resetPassword(userId, PASSWORD);
    expect(reasons()).toEqual(['admin', 'password_reset']);
    expect(host.sent('password_reset')).toEqual([{ userId }]);
    const events = (await host.auth.history(userId)).map(({ event, extra }) => [event, extra['reason']]);
    expect(events).toEqual([
      ['password_reset', undefined],
      ['forced_logout', 'password_reset'],
      ['login_success', undefined],
      ['session_revoked', 'admin'],
      ['login_success', undefined],
    ]);
  });

  it('of failed logins hold the count, and the threshold is emitted once per failure streak', async () => {
    const fail = (): Promise<unknown> =>
      host.http.post('/auth/login').send({ username: 'alice', password: 'wrong' }).expect(400);
    for (let failure = 0; failure < 6; failure++) await fail();
    expect(host.sent('login_failed').map(({ failureCount }) => failureCount)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(host.sent('brute_force_threshold_hit')).toEqual([
      { username: 'alice', ipAddress: '127.0.0.1', failureCount: 5, scope: 'network' },
    ]);
    await host.login();
    await fail();
    expect(host.sent('login_failed').at(-1)).toMatchObject({ failureCount: 1 });
    host.clock.advance(299_999);
    await fail();
    host.clock.advance(300_000);
    await fail();
    expect(
      host
        .sent('login_failed')
        .map(({ failureCount }) => failureCount)
        .slice(-2),
    ).toEqual([2, 1]);
  });

  it('mask a name that no user has, which may be a password in the wrong field', async () => {
    const typed = 'my secret passphrase';
    for (let i = 0; i < 10; i++) await host.auth.login({ username: typed, password: 'wrong' }).catch(() => undefined);
    const names = (['login_failed', 'brute_force_threshold_hit'] as const).map(
      (name) => host.sent(name).at(-1)?.username,
    );
    expect(names).toEqual(['my********', 'my********']);
    expect(JSON.stringify(host.signals)).not.toContain(typed);
  });

  it('count each of ten parallel failures, and no attempt that is delayed', async () => {
    const attempts = Array.from({ length: 20 }, () =>
      host.http.post('/auth/login').send({ username: 'nobody', password: 'wrong' }),
    );
    const statuses = (await Promise.all(attempts)).map(({ status }) => status);
    // From the tenth on they are delayed, and what is delayed is not counted.
    expect(statuses.sort()).toEqual([...Array<number>(10).fill(400), ...Array<number>(10).fill(429)]);
    const counts = host.sent('login_failed').map(({ failureCount }) => failureCount);
    expect(counts.sort((a, b) => a - b)).toEqual(Array.from({ length: 10 }, (_, index) => index + 1));
    const rows = await host.dataSource.query('SELECT user_id, extra FROM auth_events');
    expect(
      rows.every((row: { user_id: unknown; extra: string }) => row.user_id === null && !row.extra.includes('nobody')),
    ).toBe(true);
    expect(host.sent('brute_force_threshold_hit')).toHaveLength(1);
  });

  it('reach other listeners although one throws, rejects or hangs', async () => {
    const emitter = host.app.get(EventEmitter2);
    const listeners: ReadonlyArray<() => never> = [
      () => {
        throw new Error('a listener');
      },
      () => Promise.reject(new Error('a listener')) as never,
      () => new Promise(() => undefined) as never,
    ];
    for (const listener of listeners) emitter.prependListener('user_logged_in', listener);
    await host.login();
    for (const listener of listeners) emitter.off('user_logged_in', listener);
    expect(host.sent('user_logged_in')).toHaveLength(1);
  });
});

describe.each(DATABASES)('the tracked client on %s', (name) => {
  const CHROME =
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36';
  const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:127.0) Gecko/20100101 Firefox/127.0';

  it('is its address, User-Agent and device, and a new device is emitted', async () => {
    const database = await createDatabase(name);
    const host = await Host.start({ database });
    await host.login('alice', PASSWORD, CHROME);
    await host.login('alice', PASSWORD, CHROME);
    host.clock.advance(1);
    const { access_token: token } = await host.login('alice', PASSWORD, FIREFOX);
    expect(host.sent('user_logged_in').map(({ newDevice }) => newDevice)).toEqual([false, false, true]);
    const [session] = (await host.get('/auth/sessions', token)).body;
    expect(session).toMatchObject({
      ip_address: '127.0.0.1',
      os_family: 'Linux',
      browser_family: 'Firefox',
      device_type: 'desktop',
    });
    const [event] = (await host.get('/auth/history?limit=1', token)).body;
    expect(event).toMatchObject({ ip_address: '127.0.0.1', user_agent: FIREFOX, extra: { new_device: true } });
    await host.close();
    await database.drop();
  });

  it.each([
    ['no address', { trackIps: false }, { ip_address: null, browser_family: 'Firefox' }, FIREFOX],
    ['no User-Agent', { trackUserAgents: false }, { ip_address: '127.0.0.1', browser_family: 'Other' }, ''],
    ['no device', { trackDevices: false }, { ip_address: '127.0.0.1', browser_family: 'Other' }, FIREFOX],
  ])('has %s where the options say so', async (_, auth, expected, userAgent) => {
    const database = await createDatabase(name);
    const host = await Host.start({ database, auth });
    await host.login('alice', PASSWORD, CHROME);
    host.clock.advance(1);
    const { access_token: token } = await host.login('alice', PASSWORD, FIREFOX);
    const [session] = (await host.get('/auth/sessions', token)).body;
    expect(session).toMatchObject(expected);
    const [event] = (await host.get('/auth/history?limit=1', token)).body;
    expect(event).toMatchObject({ ip_address: expected.ip_address, user_agent: userAgent, extra: {} });
    const rows = JSON.stringify([
      await host.dataSource.query('SELECT * FROM auth_sessions'),
      await host.dataSource.query('SELECT * FROM auth_events'),
      await host.dataSource.query('SELECT * FROM auth_login_failures'),
    ]);
    expect(rows.includes('127.0.0.1')).toBe(expected.ip_address !== null);
    await host.close();
    await database.drop();
  });
});
