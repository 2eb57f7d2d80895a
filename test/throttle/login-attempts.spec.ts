import fc from 'fast-check';
import { AuthLoginFailure } from 'nestjs-session-auth';
import {
  admissionOf,
  NO_STREAK,
  slotsOfAttempt,
  type CountedFailure,
  type FailureStreak,
  type StreakLimits,
} from '../../libs/auth/src/throttle/limits';
import { LoginAttemptStore } from '../../libs/auth/src/throttle/throttle';
import {
  createDatabase,
  DATABASES,
  describeEachPooled,
  describeOn,
  DIALECTS,
  type TestDatabase,
} from '../support/databases';
import { TestApplication } from '../support/test-application';
import { statementsOf, Tap } from '../support/tap';

const NOW = 1_800_000_000_000;
const KEYS = { network: 'n'.repeat(64), account: 'u'.repeat(64), owner: 'o'.repeat(64), method: 'otp' };
const LIMITS: StreakLimits = { throttleFrom: 2, windowMs: 300_000, accountBlock: 'unfamiliar' };
const ATTEMPT = { ...KEYS, now: NOW, limits: LIMITS, enforceAccountLimits: true };

const around = fc.integer({ min: NOW - 2, max: NOW + 2 });
const anyStreak = (most: number): fc.Arbitrary<FailureStreak | null> =>
  fc.option(
    fc.record({
      failures: fc.integer({ min: 0, max: most }),
      pending: fc.integer({ min: 0, max: most }),
      pendingUntil: around,
      delayedUntil: around,
      expiresAt: around,
    }),
  );

/** Models the upsert of the store with the types of the domain. */
function merged(stored: FailureStreak | null, slot: FailureStreak): FailureStreak {
  const streak = stored ?? NO_STREAK;
  return {
    failures: streak.expiresAt > NOW ? streak.failures : 0,
    delayedUntil: streak.expiresAt > NOW ? streak.delayedUntil : 0,
    pending: (streak.pendingUntil > NOW ? streak.pending : 0) + slot.pending,
    pendingUntil: Math.max(streak.pendingUntil, slot.pendingUntil),
    expiresAt: Math.max(streak.expiresAt, slot.expiresAt),
  };
}

const storeOf = (app: TestApplication): LoginAttemptStore => app.nest.get(LoginAttemptStore);

describe.each(DATABASES)('failure streaks on %s', (name) => {
  let database: TestDatabase;
  let app: TestApplication;
  let attempts: LoginAttemptStore;
  let statements: string[] = [];

  beforeAll(async () => {
    database = await createDatabase(name);
    app = await TestApplication.start({ database });
    attempts = storeOf(app);
    new Tap(app).hook = {
      before: (call) => void statements.push(...statementsOf(call)),
    };
  });
  afterAll(async () => {
    await app.close();
    await database.drop();
  });
  beforeEach(async () => {
    await app.dataSource.query('DELETE FROM auth_login_failures');
    statements = [];
  });

  const write = async (key: string, streak: FailureStreak | null): Promise<void> => {
    if (!streak) return;
    const { failures: failureCount, ...rest } = streak;
    await app.dataSource
      .getRepository(AuthLoginFailure)
      .insert({ key, accountKey: KEYS.owner, method: KEYS.method, failureCount, ...rest });
  };

  const read = async (key: string): Promise<FailureStreak | null> => {
    const row = await app.dataSource.getRepository(AuthLoginFailure).findOneBy({ key });
    if (!row) return null;
    const { failureCount: failures, pending, pendingUntil, delayedUntil, expiresAt } = row;
    return { failures, pending, pendingUntil, delayedUntil, expiresAt };
  };

  const failure = (limits = LIMITS) => ({
    ...KEYS,
    now: NOW,
    limits,
    isKnown: true,
    events: ({ failureCount }: CountedFailure) => [
      {
        event: 'login_failure' as const,
        userId: null,
        ipAddress: null,
        userAgent: '',
        extra: { failure_count: failureCount },
        at: NOW,
      },
    ],
  });

  it('an admitted attempt writes the streaks that the domain computes, and a refused attempt writes nothing', async () => {
    const anyLimits = fc.record({
      throttleFrom: fc.integer({ min: 1, max: 6 }),
      windowMs: fc.constant(300_000),
      accountBlock: fc.constantFrom(...(['unfamiliar', 'strict', false] as const)),
    });
    await fc.assert(
      fc.asyncProperty(
        anyStreak(8),
        anyStreak(110),
        anyLimits,
        fc.boolean(),
        async (ofNetwork, ofAccount, limits, isEnforced) => {
          await app.dataSource.getRepository(AuthLoginFailure).clear();
          await write(KEYS.network, ofNetwork);
          await write(KEYS.account, ofAccount);
          const slots = slotsOfAttempt(NOW);
          const after = { network: merged(ofNetwork, slots.network), account: merged(ofAccount, slots.account) };
          const expected = admissionOf(after, NOW, limits, isEnforced);

          expect(await attempts.admit({ ...ATTEMPT, limits, enforceAccountLimits: isEnforced })).toEqual(expected);

          const isAdmitted = expected.kind === 'admitted';
          expect(await read(KEYS.network)).toEqual(isAdmitted ? after.network : ofNetwork);
          expect(await read(KEYS.account)).toEqual(isAdmitted ? after.account : ofAccount);
        },
      ),
      { numRuns: 200 },
    );
  });

  it('admitting or refusing an attempt takes four statements', async () => {
    const begin = DIALECTS[name] === 'mysql' ? 'START' : 'BEGIN';
    for (const end of ['COMMIT', 'COMMIT', 'ROLLBACK']) {
      statements = [];
      const { kind } = await attempts.admit(ATTEMPT);
      expect(kind).toBe(end === 'COMMIT' ? 'admitted' : 'at_capacity');
      expect(statements).toEqual([begin, 'INSERT', 'SELECT', end]);
    }
  });

  it('counting and recording a failure takes six statements', async () => {
    await attempts.admit(ATTEMPT);
    statements = [];
    expect((await attempts.fail(failure())).failureCount).toBe(1);
    expect(statements).toHaveLength(6);
    expect([await read(KEYS.network), await read(KEYS.account)]).toMatchObject([
      { failures: 1, pending: 0 },
      { failures: 1, pending: 0 },
    ]);
  });

  it('an attempt is admitted again once a slot has been released or has expired', async () => {
    for (let i = 0; i < 2; i++) await attempts.admit(ATTEMPT);
    const admits = async (now: number): Promise<string> => (await attempts.admit({ ...ATTEMPT, now })).kind;
    expect(await admits(NOW)).toBe('at_capacity');
    await attempts.release(KEYS);
    expect(await admits(NOW)).toBe('admitted');
    expect(await admits(NOW + 29_999)).toBe('at_capacity');
    expect(await admits(NOW + 30_000)).toBe('admitted');
    expect(await read(KEYS.network)).toMatchObject({ pending: 1 });
  });
});

describeEachPooled('parallel admissions on %s', (name) => {
  it('the second of two parallel attempts waits for the first and counts its slots', async () => {
    const database = await createDatabase(name);
    const apps = [
      await TestApplication.start({ database }),
      await TestApplication.start({ database, users: [] }),
    ] as const;
    const attempt = { ...ATTEMPT, limits: { ...LIMITS, throttleFrom: 1 } };
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
    const first = storeOf(apps[0]).admit(attempt);
    await committing;
    const second = storeOf(apps[1]).admit(attempt);
    await new Promise((resolve) => setTimeout(resolve, 100));
    commit();
    expect([await first, await second]).toEqual([{ kind: 'admitted' }, { kind: 'at_capacity', scope: 'network' }]);
    for (const app of apps) await app.close();
    await database.drop();
  });
});

describeOn('mysql')('connections to %s', (name) => {
  const levels = ['READ UNCOMMITTED', 'READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE'];
  describe.each(levels)('with the isolation level %s', (level) => {
    it('parallel attempts do not exceed the limit, and none of them fails', async () => {
      const database = await createDatabase(name);
      const app = await TestApplication.start({ database });
      const { pool } = app.dataSource.driver as unknown as {
        pool: { on(event: 'acquire', listener: (connection: { query(sql: string): void }) => void): void };
      };
      pool.on('acquire', (connection) => connection.query(`SET SESSION TRANSACTION ISOLATION LEVEL ${level}`));
      const variable = name === 'mariadb' ? '@@tx_isolation' : '@@transaction_isolation';
      const [row] = await app.dataSource.query(`SELECT ${variable} AS level`);
      expect(row.level).toBe(level.replace(' ', '-'));
      const store = storeOf(app);
      const admissions = await Promise.all(Array.from({ length: 20 }, () => store.admit(ATTEMPT)));
      const admitted = admissions.filter(({ kind }) => kind === 'admitted');
      expect(admitted).toHaveLength(2);
      await app.close();
      await database.drop();
    });
  });
});
