import fc from 'fast-check';
import {
  AuthLoginFailure,
  type AuthModuleOptions,
  type StoredUser,
  VerificationUnavailable,
} from 'nestjs-session-auth';
import { type AuthError, databaseUnavailable, tooBusy } from '../../libs/auth/src/base/errors';
import { Database } from '../../libs/auth/src/database/database';
import { ClientInspector, type Operation } from '../../libs/auth/src/history/event-log';
import { begins, type Charge, expiryAfter, refusal, Throttle } from '../../libs/auth/src/throttle/throttle';
import { createDatabase, DATABASES, describeEachPooled, DIALECTS, type TestDatabase } from '../support/databases';
import { statementsOf, Tap } from '../support/tap';
import { TestApplication } from '../support/test-application';

const LIMITS = {
  failedLogins: { throttleFrom: 3, windowSeconds: 300, accountBlock: 'unfamiliar', signalAt: 5 },
  absoluteTimeoutSeconds: 2_592_000,
} as const;
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

interface Stored {
  readonly failureCount: number;
  readonly delayedUntil: number;
  readonly expiresAt: number;
}

describe.each(DATABASES)('the throttle on %s', (name) => {
  let database: TestDatabase;
  let app: TestApplication;
  let statements: string[] = [];

  beforeAll(async () => {
    database = await createDatabase(name);
    app = await TestApplication.start({ database, auth, users: [] });
    new Tap(app).hook = { before: (call) => void statements.push(...statementsOf(call)) };
  });
  afterAll(async () => {
    await app.close();
    await database.drop();
  });
  beforeEach(async () => {
    await app.reset();
    statements = [];
  });

  const rows = () => app.dataSource.getRepository(AuthLoginFailure);
  const read = async (key: string): Promise<Stored | null> => {
    const row = await rows().findOneBy({ key });
    return row && { failureCount: row.failureCount, delayedUntil: row.delayedUntil, expiresAt: row.expiresAt };
  };
  const charged = async (ipAddress?: string): Promise<Charge> => (await charge(app, ipAddress)) as Charge;

  it('an attempt stores the counters that the limits compute, and a refused attempt stores nothing', async () => {
    const subject = throttleOf(app).ofLogin('otp', 'alice', USER, operationAt(app).client);
    const now = app.clock.now();
    const around = fc.integer({ min: now - 2, max: now + 2 });
    const anyCounter = (most: number): fc.Arbitrary<Stored | null> =>
      fc.option(
        fc.record({ failureCount: fc.integer({ min: 0, max: most }), delayedUntil: around, expiresAt: around }),
      );
    await fc.assert(
      fc.asyncProperty(anyCounter(5), anyCounter(110), async (...before) => {
        await rows().clear();
        const counters = subject.counters.map((counter, index) => ({ ...counter, before: before[index] ?? null }));
        for (const { key, owner, before: stored } of counters) {
          if (stored) await rows().insert({ key, accountKey: owner, method: 'otp', ...stored });
        }
        const counted = counters.map(({ scope, before: stored }) => {
          const live = stored && stored.expiresAt > now ? stored : { failureCount: 0, delayedUntil: 0 };
          return { scope, failureCount: live.failureCount + 1, delayedUntil: live.delayedUntil };
        });
        const isRefused = refusal(counted, now) !== null;
        expect(typeof (await charge(app)) === 'string').toBe(isRefused);
        for (const [index, { key, scope, before: stored }] of counters.entries()) {
          const { failureCount, delayedUntil } = counted[index]!;
          const begun = begins(scope, failureCount, now, LIMITS, true);
          const expiresAt = Math.max(stored?.expiresAt ?? 0, expiryAfter(scope, now, LIMITS));
          const after = begun
            ? { failureCount, delayedUntil: begun.until, expiresAt: begun.expiresAt }
            : { failureCount, delayedUntil, expiresAt };
          expect(await read(key)).toEqual(isRefused ? stored : after);
        }
      }),
      { numRuns: 150 },
    );
  });

  it('an attempt takes three statements, or four on MySQL and MariaDB, and one more if it begins a delay', async () => {
    const counting = DIALECTS[name] === 'mysql' ? ['START', 'INSERT', 'SELECT'] : ['BEGIN', 'INSERT'];
    for (const rest of [['COMMIT'], ['COMMIT'], ['UPDATE', 'COMMIT'], ['ROLLBACK']]) {
      statements = [];
      await charge(app);
      expect(statements).toEqual([...counting, ...rest]);
    }
  });

  it('recording a failure takes one statement, also if a delay begins', async () => {
    for (let i = 0; i < 3; i++) {
      const counted = await charged();
      statements = [];
      await throttleOf(app).report(counted, USER, operationAt(app));
      expect(statements).toEqual(['INSERT']);
    }
    expect(app.sent('login_blocked')).toHaveLength(1);
  });

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
    while (typeof again === 'string') again = await charge(app);
    expect(failuresOf(again)).toBe(3);
    expect(again.begun).toHaveLength(1);
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

  it('any other error counts as a failure, and is reported as one', async () => {
    const error = new Error('the code has an unknown format');
    await expect(throttleOf(app).refund(await charged(), error, operationAt(app))).rejects.toBe(error);
    expect(app.sent('login_failed')).toMatchObject([{ username: 'alice', failureCount: 1 }]);
    expect(failuresOf(await charged())).toBe(2);
  });

  it('a count that is taken back leaves the counts of parallel attempts', async () => {
    const [first, second] = [await charged(), await charged()];
    await expect(throttleOf(app).refund(first, new VerificationUnavailable(), operationAt(app))).rejects.toThrow();
    expect(failuresOf(await charged())).toBe(failuresOf(second));
  });

  it('methods other than the password have a counter per session, and one per user across sessions and tickets', async () => {
    const inSession = (id: string, method: string): Promise<Charge> =>
      throttleOf(app).charge(throttleOf(app).inSession(id, method, USER), operationAt(app));
    await charge(app);
    for (let i = 0; i < 2; i++) await inSession(`s-${i}`, 'otp');
    const account = await rows().findOneByOrFail({ failureCount: 3 });
    expect(account.method).toBe('otp');
    await rows().update({ key: account.key }, { failureCount: 99 });
    expect((await inSession('s-2', 'otp')).begun).toMatchObject([{ scope: 'account' }]);
    await expect(inSession('s-3', 'otp')).rejects.toMatchObject({ code: 'too_many_attempts' });
    expect(failuresOf(await inSession('s-3', 'pwd'))).toBe(1);
  });

  it('forgetting a user deletes all counters of the user, and a reset keeps those within sessions', async () => {
    await charge(app);
    await throttleOf(app).charge(throttleOf(app).inSession('s-1', 'pwd', USER), operationAt(app));
    await throttleOf(app).reset('alice', USER, null);
    expect(await rows().count()).toBe(1);
    await throttleOf(app).forget(USER.id, null);
    expect(await rows().count()).toBe(0);
  });
});

describeEachPooled('parallel attempts on %s', (name) => {
  it('the second of two parallel attempts waits for the first, and is counted after it', async () => {
    const database = await createDatabase(name);
    const options = { database, auth: { failedLogins: { throttleFrom: 1 } }, users: [] };
    const apps = [await TestApplication.start(options), await TestApplication.start(options)] as const;
    let commit!: () => void;
    const committing = new Promise<void>((reached) => {
      new Tap(apps[0]).hook = {
        before: async ({ sql }) => {
          if (sql !== 'COMMIT') return;
          reached();
          await new Promise<void>((resolve) => (commit = resolve));
        },
      };
    });
    const first = charge(apps[0]);
    await committing;
    const second = charge(apps[1]);
    await new Promise((resolve) => setTimeout(resolve, 100));
    commit();
    expect([failuresOf((await first) as Charge), await second]).toEqual([1, 'too_many_attempts']);
    for (const app of apps) await app.close();
    await database.drop();
  });

  it('20 parallel attempts do not exceed the limit, and none of them fails', async () => {
    const database = await createDatabase(name);
    const app = await TestApplication.start({ database, auth, users: [] });
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => charge(app)));
    const counts = outcomes.map((outcome) => (typeof outcome === 'string' ? outcome : failuresOf(outcome)));
    expect(counts.sort()).toEqual([1, 2, 3, ...Array<string>(17).fill('too_many_attempts')]);
    await app.close();
    await database.drop();
  });
});
