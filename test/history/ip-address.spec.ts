import { AuthEvent, SessionAdministration } from 'nestjs-session-auth';
import { canonicalIp, networkOf } from '../../libs/auth/src/history/event-log';
import { describeOnEachDatabase } from '../support/environment';
import { PASSWORD } from '../support/test-application';

it.each([
  ['203.0.113.7', '203.0.113.7'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['::FFFF:cb00:7107', '203.0.113.7'],
  ['2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
  ['2001:db8::0001', '2001:db8::1'],
  ['fe80::1%eth0', 'fe80::1'],
  ['::1', '::1'],
  ['[::1]', '::1'],
  ['1.2.3.4:80', '1.2.3.4'],
  ['[2001:DB8::0001]:443', '2001:db8::1'],
  ['[fe80::1%eth0]:443', 'fe80::1'],
  ['[::ffff:203.0.113.7]:65535', '203.0.113.7'],
])('the canonical form of the address %j is %j', (text, canonical) => {
  expect(canonicalIp(text)).toBe(canonical);
});

it.each([
  ...['999.1.1.1', '1.2.3', '1.2.3.4.', '01.2.3.4', '[1.2.3.4]:80', '1.2.3.4:', '1.2.3.4:http', '1.2.3.4:123456'],
  ...[
    `[${':'.repeat(100_000)}`,
    '[::1',
    '[::1]x',
    '[::1]:',
    ' 1.2.3.4',
    "')) OR 18=(SELECT 18 FROM PG_SLEEP(15))--",
    '',
    undefined,
  ],
])('the text %j is not an address', (text) => expect(canonicalIp(text)).toBeNull());

const TRUNCATED = { auth: { trackIps: 'truncated', refreshReuseGraceSeconds: 10 } } as const;

describeOnEachDatabase('truncated addresses', TRUNCATED, ({ app }) => {
  it.each([
    ['192.0.2.77', '192.0.2.78', '198.51.100.99', '192.0.2.0', '198.51.100.0'],
    ['2001:db8:1:77::7', '2001:db8:1:78::8', '2001:db8:2:99::9', '2001:db8:1::', '2001:db8:2::'],
    ['::ffff:203.0.113.77', '203.0.113.78', '2001:db8:3:99::9', '203.0.113.0', '2001:db8:3::'],
  ])('no table and no signal contains the full address %s, %s or %s', async (first, near, far, stored, storedFar) => {
    const credentials = { username: 'alice', password: PASSWORD };
    const opened = await app.auth.login(credentials, { ipAddress: first, userAgent: 'Firefox' });
    const wrong = { ...credentials, password: 'wrong' };
    for (let i = 0; i < 11; i++) await app.auth.login(wrong, { ipAddress: near }).catch(() => undefined);
    await app.auth.verifyCredentials(credentials, { ipAddress: far });
    const nearby = await app.auth.refresh(opened.refreshToken, { ipAddress: near });
    expect(app.sent('session_network_changed')).toEqual([]);
    const moved = await app.auth.refresh(nearby.refreshToken, { ipAddress: far });
    const [changed] = app.sent('session_network_changed');
    expect(changed).toMatchObject({ from: networkOf(stored), to: networkOf(storedFar) });
    const session = await app.storedSession(opened.sessionId);
    expect(session).toMatchObject({ ipAddress: stored, lastIpAddress: storedFar, loginNetwork: networkOf(stored) });
    const listed = await app.nest.get(SessionAdministration).list({ ipAddress: near });
    expect(listed.items).toMatchObject([{ id: opened.sessionId, ipAddress: stored }]);
    await app.auth.refresh(opened.refreshToken, { ipAddress: far }).catch(() => undefined);
    expect(app.sent('token_reuse_detected')).toMatchObject([{ ipAddress: storedFar }]);
    expect(await app.auth.authenticate(moved.accessToken, { ipAddress: first })).toBeNull();
    expect(app.sent('login_blocked')).toMatchObject([{ ipAddress: stored }]);
    const tables = app.dataSource.entityMetadatas.map(({ target }) => app.dataSource.getRepository(target).find());
    const kept = JSON.stringify([await Promise.all(tables), app.signals, app.logs]);
    expect(await app.dataSource.getRepository(AuthEvent).countBy({ ipAddress: storedFar })).toBeGreaterThan(1);
    for (const address of [first, near, far].map((text) => canonicalIp(text)!)) {
      for (const full of [`"${address}`, networkOf(address)]) expect(kept).not.toContain(full);
    }
  });
});
