import { AuthUser, DeviceDetector, type ClientInfo, type DeviceInfo } from 'nestjs-session-auth';
import { MINUTE } from '../support/driven-clock';
import { PASSWORD } from '../support/host';
import { historyOf, sendRaw, stories, storiesOnBothPlatforms, type Stage } from './stories';

const UNKNOWN = { device_type: 'other', os_family: 'Other', browser_family: 'Other', device_name: 'Other' };

async function deviceOf({ host }: Stage, token: string): Promise<unknown> {
  const { body } = await host.get('/auth/sessions', token).expect(200);
  const { device_type, os_family, browser_family, device_name } = body[0];
  return { device_type, os_family, browser_family, device_name };
}

/** A detector of an application, which returns whatever a test says. */
class ScriptedDetector extends DeviceDetector {
  answer: () => unknown = () => null;

  detect(): DeviceInfo {
    return this.answer() as DeviceInfo;
  }
}

const detector = new ScriptedDetector();
const phone: DeviceInfo = { deviceType: 'mobile', osFamily: 'iOS', browserFamily: 'Safari', deviceName: 'iPhone' };

stories('a login with the device detector of an application', { auth: { deviceDetector: detector } }, (at: Stage) => {
  const login = async (): Promise<unknown> => deviceOf(at, (await at.host.login()).access_token);
  // The clock of the host only moves forward: what was logged a minute ago does not count.
  beforeEach(() => at.host.clock.advance(MINUTE));

  it('stores what it detects', async () => {
    detector.answer = () => phone;
    expect(await login()).toEqual({
      device_type: 'mobile',
      os_family: 'iOS',
      browser_family: 'Safari',
      device_name: 'iPhone',
    });
    expect(at.host.logs).toEqual([]);
  });

  it.each<[string, () => unknown, RegExp]>([
    ['throws', () => JSON.parse('{'), /SyntaxError: .*JSON.*[^]* at ScriptedDetector/],
    ['returns nothing', () => undefined, /detect\(\) returned undefined/],
    ['returns null', () => null, /detect\(\) returned null/],
    ['returns a Promise', () => Promise.resolve(phone), /detect\(\) returned a Promise/],
    ['returns a Promise that rejects', () => Promise.reject(new Error('late')), /detect\(\) returned a Promise/],
    [
      'returns an unknown type of device',
      () => ({ ...phone, deviceType: 'phone' }),
      /deviceType.* 'desktop', 'mobile'/,
    ],
    ['returns no type of device', () => ({ ...phone, deviceType: undefined }), /deviceType/],
    ['returns a name that is not a string', () => ({ ...phone, osFamily: { toString: null } }), /osFamily/],
  ])('succeeds with an unknown device, and logs it, if it %s', async (_, answer, line) => {
    detector.answer = answer;
    expect(await login()).toEqual(UNKNOWN);
    expect(at.host.logs.join('\n')).toMatch(line);
  });

  it('logs failures of the detector once a minute', async () => {
    const { host } = at;
    detector.answer = () => {
      throw new RangeError('no rule');
    };
    const failures = (): number => host.logs.filter((line) => line.includes('RangeError: no rule')).length;
    for (let times = 0; times < 3; times++) await login();
    expect(failures()).toBe(1);
    host.clock.advance(MINUTE - 1);
    await login();
    expect(failures()).toBe(1);
    host.clock.advance(1);
    await login();
    expect(failures()).toBe(2);
  });

  it('stores names without control characters, whole characters, and 64 of them at most', async () => {
    const osFamily = 'i\0OS\u0007\n';
    const browserFamily = 'x'.repeat(10_000);
    const deviceName = `${'x'.repeat(63)}\u{1f511}`;
    detector.answer = () => ({ ...phone, osFamily, browserFamily, deviceName });
    expect(await login()).toEqual({
      device_type: 'mobile',
      os_family: 'iOS',
      browser_family: 'x'.repeat(64),
      device_name: `${'x'.repeat(63)}\ufffd`,
    });
    at.host.clock.advance(1);
    detector.answer = () => ({ ...phone, osFamily: '', browserFamily: ' \t', deviceName: '\0' });
    expect(await login()).toEqual({ ...UNKNOWN, device_type: 'mobile' });
  });
});

const HOSTILE: [string, string[]][] = [
  ['no User-Agent', []],
  ['an empty User-Agent', ['User-Agent:']],
  ['a blank User-Agent', ['User-Agent:  \t ']],
  ['a User-Agent that names a property of objects', ['User-Agent: __proto__/1.0 (constructor)']],
  ['a long User-Agent', [`User-Agent: ${'x'.repeat(12_000)}`]],
  ['a nested User-Agent', [`User-Agent: ${'Mozilla/5.0 ('.repeat(500)}`]],
  [
    'bytes that are not text',
    [`User-Agent: Mozilla/5.0 (Linux; Android 10; ${'\xff\x80'.repeat(200)}) Chrome/126 Mobile`],
  ],
  ['two User-Agents', ['User-Agent: first', 'User-Agent: second']],
];

storiesOnBothPlatforms('a login', {}, (at: Stage) => {
  it.each(HOSTILE)('succeeds with %s', async (_, headers) => {
    const { host } = at;
    const body = JSON.stringify({ username: 'alice', password: PASSWORD });
    const lines = ['POST /auth/login/ HTTP/1.1', 'Content-Type: application/json', `Content-Length: ${body.length}`];
    const answer = await sendRaw(host, [...lines, ...headers], body);
    expect(answer.status).toBe(200);
    const { access_token: token, refresh_token } = JSON.parse(answer.body);
    expect((await host.get('/auth/sessions', token).expect(200)).body).toHaveLength(1);
    const { user_agent } = (await historyOf(host, token))[0]!;
    expect(user_agent.length).toBeLessThanOrEqual(500);
    expect(user_agent).not.toMatch(/\p{Cc}/u);
    await host.refresh(refresh_token).expect(200);
    expect(host.logs).toEqual([]);
  });

  it.each([5, {}, ['a'], Buffer.from('x'), Symbol('x')])(
    'by the application counts %p as an unknown address and User-Agent',
    async (value) => {
      const { host } = at;
      const user = await host.dataSource.getRepository(AuthUser).findOneByOrFail({ username: 'alice' });
      const client = { ipAddress: value, userAgent: value } as unknown as ClientInfo;
      await host.auth.openSession(user, client);
      expect(await host.auth.history(user.id)).toMatchObject([{ ipAddress: null, userAgent: '' }]);
    },
  );
});
