import { DeviceDetector, type ClientInfo, type DeviceInfo } from 'nestjs-session-auth';
import { MINUTE } from '../support/driven-clock';
import { describeApplication } from '../support/environment';

const UNKNOWN = { device_type: 'other', os_family: 'Other', browser_family: 'Other', device_name: 'Other' };

/** A device detector that returns what a test sets. */
class ScriptedDetector extends DeviceDetector {
  answer: () => unknown = () => null;

  detect(): DeviceInfo {
    return this.answer() as DeviceInfo;
  }
}

const detector = new ScriptedDetector();
const phone: DeviceInfo = { deviceType: 'mobile', osFamily: 'iOS', browserFamily: 'Safari', deviceName: 'iPhone' };

describeApplication("the application's device detector", { auth: { deviceDetector: detector } }, ({ app }) => {
  // The detector's failures are logged at most once a minute, so each test begins a minute later.
  beforeEach(() => app.clock.advance(MINUTE));

  const expectStored = async (answer: () => unknown, device: object): Promise<void> => {
    detector.answer = answer;
    const { body } = await app.get('/auth/sessions', (await app.login()).access_token).expect(200);
    expect(body[0]).toMatchObject(device);
  };

  it.each<[string, () => unknown, RegExp]>([
    ['throws', () => JSON.parse('{'), /SyntaxError: .*JSON.*[^]* at ScriptedDetector/],
    ['returns nothing', () => undefined, /detect\(\) returned undefined/],
    ['returns a Promise that rejects', () => Promise.reject(new Error('late')), /detect\(\) returned a Promise/],
    ['returns an unknown type', () => ({ ...phone, deviceType: 'phone' }), /deviceType.* 'desktop', 'mobile'/],
    ['returns a name that is not a string', () => ({ ...phone, osFamily: { toString: null } }), /osFamily/],
  ])('a login stores an unknown device and logs an error if the device detector %s', async (_, answer, line) => {
    await expectStored(answer, UNKNOWN);
    expect(app.logs.join('\n')).toMatch(line);
  });

  it('a login stores what the device detector returns, without control characters, as well-formed text of at most 64 characters', async () => {
    const names = { os_family: 'iOS', browser_family: 'Safari', device_name: 'iPhone' };
    await expectStored(() => phone, { device_type: 'mobile', ...names });
    await app.reset();
    const deviceName = `${'x'.repeat(63)}\u{1f511}`;
    await expectStored(() => ({ ...phone, osFamily: 'i\0OS\u0007\n', browserFamily: 'x'.repeat(10_000), deviceName }), {
      ...{ os_family: 'iOS', browser_family: 'x'.repeat(64), device_name: `${'x'.repeat(63)}\ufffd` },
    });
    await app.reset();
    const empty = { deviceType: 'mobile', osFamily: '', browserFamily: ' \t', deviceName: '\0' };
    await expectStored(() => empty, { ...UNKNOWN, device_type: 'mobile' });
    expect(app.logs).toEqual([]);
  });
});

describeApplication('clients of a session', {}, ({ app }) => {
  it('openSession() with an address and User-Agent of another type records both as unknown', async () => {
    const id = await app.userId();
    const values = [5, {}, ['a'], Buffer.from('x'), Symbol('x')];
    for (const value of values) {
      await app.auth.openSession(id, { ipAddress: value, userAgent: value } as unknown as ClientInfo);
    }
    expect(await app.auth.history(id)).toMatchObject(values.map(() => ({ ipAddress: null, userAgent: '' })));
  });
});
