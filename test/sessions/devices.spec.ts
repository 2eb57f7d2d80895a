import { AuthUser, DeviceDetector, type ClientInfo, type DeviceInfo } from 'nestjs-session-auth';
import { MINUTE } from '../support/driven-clock';
import { PASSWORD } from '../support/test-application';
import {
  historyOf,
  sendRaw,
  describeOnEachDatabase,
  describeOnBothPlatforms,
  type TestEnvironment,
} from '../support/environment';

const UNKNOWN = { device_type: 'other', os_family: 'Other', browser_family: 'Other', device_name: 'Other' };

async function deviceOf({ app }: TestEnvironment, token: string): Promise<unknown> {
  const { body } = await app.get('/auth/sessions', token).expect(200);
  const { device_type, os_family, browser_family, device_name } = body[0];
  return { device_type, os_family, browser_family, device_name };
}

/** A device detector that returns what a test sets. */
class ScriptedDetector extends DeviceDetector {
  answer: () => unknown = () => null;

  detect(): DeviceInfo {
    return this.answer() as DeviceInfo;
  }
}

const detector = new ScriptedDetector();
const phone: DeviceInfo = { deviceType: 'mobile', osFamily: 'iOS', browserFamily: 'Safari', deviceName: 'iPhone' };

describeOnEachDatabase(
  "the application's device detector",
  { auth: { deviceDetector: detector } },
  (env: TestEnvironment) => {
    const login = async (): Promise<unknown> => deviceOf(env, (await env.app.login()).access_token);
    // The detector's failures are logged at most once a minute, so each test begins a minute later.
    beforeEach(() => env.app.clock.advance(MINUTE));

    it('a login stores what the device detector returns', async () => {
      detector.answer = () => phone;
      expect(await login()).toEqual({
        device_type: 'mobile',
        os_family: 'iOS',
        browser_family: 'Safari',
        device_name: 'iPhone',
      });
      expect(env.app.logs).toEqual([]);
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
    ])('a login stores an unknown device and logs a warning if the device detector %s', async (_, answer, line) => {
      detector.answer = answer;
      expect(await login()).toEqual(UNKNOWN);
      expect(env.app.logs.join('\n')).toMatch(line);
    });

    it('failures of the device detector are logged once a minute', async () => {
      const { app } = env;
      detector.answer = () => {
        throw new RangeError('no rule');
      };
      const failures = (): number => app.logs.filter((line) => line.includes('RangeError: no rule')).length;
      for (let times = 0; times < 3; times++) await login();
      expect(failures()).toBe(1);
      app.clock.advance(MINUTE - 1);
      await login();
      expect(failures()).toBe(1);
      app.clock.advance(1);
      await login();
      expect(failures()).toBe(2);
    });

    it('device names are stored without control characters, as well-formed text of at most 64 characters', async () => {
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
      env.app.clock.advance(1);
      detector.answer = () => ({ ...phone, osFamily: '', browserFamily: ' \t', deviceName: '\0' });
      expect(await login()).toEqual({ ...UNKNOWN, device_type: 'mobile' });
    });
  },
);

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

describeOnBothPlatforms('clients of a login', {}, (env: TestEnvironment) => {
  it.each(HOSTILE)('a login succeeds with %s', async (_, headers) => {
    const { app } = env;
    const body = JSON.stringify({ username: 'alice', password: PASSWORD });
    const lines = ['POST /auth/login/ HTTP/1.1', 'Content-Type: application/json', `Content-Length: ${body.length}`];
    const answer = await sendRaw(app, [...lines, ...headers], body);
    expect(answer.status).toBe(200);
    const { access_token: token, refresh_token } = JSON.parse(answer.body);
    expect((await app.get('/auth/sessions', token).expect(200)).body).toHaveLength(1);
    const { user_agent } = (await historyOf(app, token))[0]!;
    expect(user_agent.length).toBeLessThanOrEqual(500);
    expect(user_agent).not.toMatch(/\p{Cc}/u);
    await app.refresh(refresh_token).expect(200);
    expect(app.logs).toEqual([]);
  });

  it.each([5, {}, ['a'], Buffer.from('x'), Symbol('x')])(
    'openSession() with %p as the address and User-Agent records both as unknown',
    async (value) => {
      const { app } = env;
      const user = await app.dataSource.getRepository(AuthUser).findOneByOrFail({ username: 'alice' });
      const client = { ipAddress: value, userAgent: value } as unknown as ClientInfo;
      await app.auth.openSession(user, client);
      expect(await app.auth.history(user.id)).toMatchObject([{ ipAddress: null, userAgent: '' }]);
    },
  );
});
