import { AuthLoginFailure, type StoredUser, VerificationUnavailable } from 'nestjs-session-auth';
import { type AuthError, databaseUnavailable, tooBusy } from '../../libs/auth/src/base/errors';
import { Database } from '../../libs/auth/src/database/database';
import { ClientInspector, type Operation } from '../../libs/auth/src/history/event-log';
import { type Charge, Throttle } from '../../libs/auth/src/throttle/throttle';
import { describeOnEachDatabase } from '../support/environment';

const THROTTLED = { auth: { failedLogins: { throttleFrom: 3 } }, users: [] } as const;
const USER: StoredUser = { id: 'u-1', username: 'alice', passwordHash: null, active: true };

describeOnEachDatabase('the throttle', THROTTLED, ({ app }) => {
  let throttle: Throttle;
  beforeAll(() => (throttle = app.nest.get(Throttle)));

  const operation = (ipAddress = '192.0.2.1'): Operation => ({
    client: app.nest.get(ClientInspector).inspect({ ipAddress }),
    tx: null,
  });
  const charged = (ipAddress?: string, method = 'otp'): Promise<Charge> => {
    const op = operation(ipAddress);
    return throttle.charge(throttle.ofLogin(method, 'alice', USER, op.client), op);
  };
  /** Returns the failures in the network or session, the charged attempt included. */
  const failures = async (ipAddress?: string) => (await charged(ipAddress)).counters[0]!.failures;
  const codeOf = (error: AuthError) => error.code;

  it('an attempt whose result is never stored, or whose count cannot be taken back, counts as failed until its counters expire', async () => {
    const failed = await charged();
    const failing = jest.spyOn(app.nest.get(Database), 'transaction').mockRejectedValueOnce(databaseUnavailable());
    await expect(throttle.refund(failed, tooBusy(), operation())).rejects.toMatchObject({ code: 'busy' });
    failing.mockRestore();
    expect([await failures(), await failures()]).toEqual([2, 3]);
    expect(await charged().catch(codeOf)).toBe('too_many_attempts');
    app.clock.advance(300_000);
    expect(await failures()).toBe(1);
  });

  it('a success deletes the counters of the attempt and of its account, but not those of other networks and methods', async () => {
    const first = await charged();
    await charged('192.0.2.2');
    await charged('192.0.2.1', 'recovery');
    await throttle.clearNow(first, operation());
    expect(await app.dataSource.getRepository(AuthLoginFailure).count()).toBe(3);
    expect([await failures(), await failures('192.0.2.2')]).toEqual([1, 2]);
  });

  it.each([
    ['a failure of the database', () => databaseUnavailable()],
    ['a full queue', () => tooBusy()],
    ['VerificationUnavailable', () => new VerificationUnavailable()],
  ])('%s takes back the count of the attempt only, and the delay that it began', async (_, failure) => {
    for (let i = 0; i < 2; i++) await charged();
    const error = failure();
    await expect(throttle.refund(await charged(), error, operation())).rejects.toBe(error);
    let again = await charged().catch(codeOf);
    // After a failure of the database, the caller does not wait until the count is taken back.
    for (let tries = 0; typeof again === 'string' && tries < 100; tries++) {
      await new Promise(setImmediate);
      again = await charged().catch(codeOf);
    }
    expect(again).toMatchObject({ counters: [{ failures: 3 }, { failures: 3 }], begun: [{ scope: 'network' }] });
    expect(app.sent('login_failed')).toEqual([]);
  });
});
