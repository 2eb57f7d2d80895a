import {
  AuthLoginFailure,
  type AuthModuleOptions,
  type StoredUser,
  VerificationUnavailable,
} from 'nestjs-session-auth';
import { type AuthError, databaseUnavailable, tooBusy } from '../../libs/auth/src/base/errors';
import { Database } from '../../libs/auth/src/database/database';
import { ClientInspector, type Operation } from '../../libs/auth/src/history/event-log';
import { type Charge, Throttle } from '../../libs/auth/src/throttle/throttle';
import { describeOnEachDatabase } from '../support/environment';
import type { TestApplication } from '../support/test-application';

const auth: AuthModuleOptions = { failedLogins: { throttleFrom: 3 } };
const USER: StoredUser = { id: 'u-1', username: 'alice', passwordHash: null, active: true };

const operationAt = (app: TestApplication, ipAddress = '192.0.2.1'): Operation => ({
  client: app.nest.get(ClientInspector).inspect({ ipAddress }),
  tx: null,
});
const throttleOf = (app: TestApplication): Throttle => app.nest.get(Throttle);

/** Charges an attempt, and returns the charge, or the code of the error. */
async function charge(app: TestApplication, ipAddress?: string, method = 'otp'): Promise<Charge | string> {
  const op = operationAt(app, ipAddress);
  return throttleOf(app)
    .charge(throttleOf(app).ofLogin(method, 'alice', USER, op.client), op)
    .catch((error: AuthError) => error.code);
}

/** Returns the failures in the network or session, the charged attempt included. */
const failuresOf = ({ counters }: Charge): number => counters[0]!.failures;

describeOnEachDatabase('the throttle', { auth, users: [] }, ({ app }) => {
  const rows = () => app.dataSource.getRepository(AuthLoginFailure);
  const charged = async (ipAddress?: string): Promise<Charge> => (await charge(app, ipAddress)) as Charge;

  it('an attempt whose result is never stored counts as failed until its counters expire', async () => {
    for (let i = 0; i < 3; i++) await charge(app);
    expect(await charge(app)).toBe('too_many_attempts');
    app.clock.advance(300_000);
    expect(failuresOf(await charged())).toBe(1);
  });

  it('a success deletes the counters of the attempt and of its account, but not those of other networks and methods', async () => {
    const first = await charged();
    await charge(app, '192.0.2.2');
    await charge(app, '192.0.2.1', 'recovery');
    await throttleOf(app).clearNow(first, operationAt(app));
    expect(await rows().count()).toBe(3);
    expect(failuresOf(await charged())).toBe(1);
    expect(failuresOf(await charged('192.0.2.2'))).toBe(2);
  });

  it.each([
    ['a failure of the database', () => databaseUnavailable()],
    ['a full queue', () => tooBusy()],
    ['VerificationUnavailable', () => new VerificationUnavailable()],
  ])('%s takes the count of the attempt back, and the delay that it began', async (_, failure) => {
    for (let i = 0; i < 2; i++) await charge(app);
    const error = failure();
    await expect(throttleOf(app).refund(await charged(), error, operationAt(app))).rejects.toBe(error);
    let again = await charge(app);
    // After a failure of the database, the caller does not wait until the count is taken back.
    for (let tries = 0; typeof again === 'string' && tries < 100; tries++) {
      await new Promise(setImmediate);
      again = await charge(app);
    }
    expect(again).toMatchObject({ counters: [{ failures: 3 }, { failures: 3 }], begun: [{ scope: 'network' }] });
    expect(app.sent('login_failed')).toEqual([]);
  });

  it('a count that cannot be taken back stays until its counters expire', async () => {
    const failed = await charged();
    const failing = jest.spyOn(app.nest.get(Database), 'transaction').mockRejectedValueOnce(databaseUnavailable());
    await expect(throttleOf(app).refund(failed, tooBusy(), operationAt(app))).rejects.toMatchObject({ code: 'busy' });
    failing.mockRestore();
    expect(failuresOf(await charged())).toBe(2);
    app.clock.advance(300_000);
    expect(failuresOf(await charged())).toBe(1);
  });

  it('a count that is taken back leaves the counts of parallel attempts', async () => {
    const [first, second] = [await charged(), await charged()];
    await expect(throttleOf(app).refund(first, new VerificationUnavailable(), operationAt(app))).rejects.toThrow();
    expect(failuresOf(await charged())).toBe(failuresOf(second));
  });
});
