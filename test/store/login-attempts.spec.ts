import fc from 'fast-check';
import { AuthLoginFailure } from 'nestjs-session-auth';
import {
  admissionOf,
  NO_STREAK,
  slotsOfAttempt,
  type CountedFailure,
  type FailureStreak,
  type StreakLimits,
} from '../../libs/auth/src/domain/failure-streak';
import { LoginAttemptStore } from '../../libs/auth/src/domain/ports/accounts';
import { createDatabase, DATABASES, describeEachPooled, describeOn, type TestDatabase } from '../support/databases';
import { Host } from '../support/host';
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

/** The rule of the upsert, in the words of the domain. */
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

const storeOf = (host: Host): LoginAttemptStore => host.app.get(LoginAttemptStore);

describe.each(DATABASES)('the failure streaks on %s', (name) => {
  let database: TestDatabase;
  let host: Host;
  let attempts: LoginAttemptStore;
  let statements: string[] = [];

  beforeAll(async () => {
    database = await createDatabase(name);
    host = await Host.start({ database });
    attempts = storeOf(host);
    new Tap(host).hook = {
      before: (call) => void statements.push(...statementsOf(call)),
    };
  });
  afterAll(async () => {
    await host.close();
    await database.drop();
  });
  beforeEach(async () => {
    await host.dataSource.query('DELETE FROM auth_login_failures');
    statements = [];
  });

  const write = async (key: string, streak: FailureStreak | null): Promise<void> => {
    if (!streak) return;
    const { failures: failureCount, ...rest } = streak;
    await host.dataSource
      .getRepository(AuthLoginFailure)
      .insert({ key, accountKey: KEYS.owner, method: KEYS.method, failureCount, ...rest });
  };

  const read = async (key: string): Promise<FailureStreak | null> => {
    const row = await host.dataSource.getRepository(AuthLoginFailure).findOneBy({ key });
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

  it('are written by an admitted attempt as the domain says, and not at all by a refused one', async () => {
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
        async (ofNetwork, ofAccount, limits, bound) => {
          await host.dataSource.getRepository(AuthLoginFailure).clear();
          await write(KEYS.network, ofNetwork);
          await write(KEYS.account, ofAccount);
          const slots = slotsOfAttempt(NOW);
          const after = { network: merged(ofNetwork, slots.network), account: merged(ofAccount, slots.account) };
          const expected = admissionOf(after, NOW, limits, bound);

          expect(await attempts.admit({ ...ATTEMPT, limits, enforceAccountLimits: bound })).toEqual(expected);

          const isAdmitted = expected.kind === 'admitted';
          expect(await read(KEYS.network)).toEqual(isAdmitted ? after.network : ofNetwork);
          expect(await read(KEYS.account)).toEqual(isAdmitted ? after.account : ofAccount);
        },
      ),
      { numRuns: 200 },
    );
  });

  it('take four statements to admit an attempt, and four to refuse one', async () => {
    const begin = name === 'mariadb' ? 'START' : 'BEGIN';
    for (const end of ['COMMIT', 'COMMIT', 'ROLLBACK']) {
      statements = [];
      const { kind } = await attempts.admit(ATTEMPT);
      expect(kind).toBe(end === 'COMMIT' ? 'admitted' : 'at_capacity');
      expect(statements).toEqual([begin, 'INSERT', 'SELECT', end]);
    }
  });

  it('take six statements to count and record a failure', async () => {
    await attempts.admit(ATTEMPT);
    statements = [];
    expect((await attempts.fail(failure())).failureCount).toBe(1);
    expect(statements).toHaveLength(6);
    expect([await read(KEYS.network), await read(KEYS.account)]).toMatchObject([
      { failures: 1, pending: 0 },
      { failures: 1, pending: 0 },
    ]);
  });

  it('admit an attempt again once a slot is returned, or its time has passed', async () => {
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

describeEachPooled('attempts that are admitted at the same moment on %s', (name) => {
  it('wait for each other, so that the second sees the slots of the first', async () => {
    const database = await createDatabase(name);
    const hosts = [await Host.start({ database }), await Host.start({ database, users: [] })] as const;
    const attempt = { ...ATTEMPT, limits: { ...LIMITS, throttleFrom: 1 } };
    let commit!: () => void;
    const committing = new Promise<void>((reached) => {
      new Tap(hosts[0]).hook = {
        before: async ({ sql }) => {
          if (sql !== 'COMMIT') return;
          reached();
          await new Promise<void>((resolve) => (commit = resolve));
        },
      };
    });
    const first = storeOf(hosts[0]).admit(attempt);
    await committing;
    const second = storeOf(hosts[1]).admit(attempt);
    await new Promise((resolve) => setTimeout(resolve, 100));
    commit();
    expect([await first, await second]).toEqual([{ kind: 'admitted' }, { kind: 'at_capacity', scope: 'network' }]);
    for (const host of hosts) await host.close();
    await database.drop();
  });
});

describeOn('mariadb').each(['READ UNCOMMITTED', 'READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE'])(
  'connections of the application whose isolation level is %s, on mariadb',
  (level) => {
    it('do not exceed a limit with parallel attempts, and answer all of them', async () => {
      const database = await createDatabase('mariadb');
      const host = await Host.start({ database });
      const { pool } = host.dataSource.driver as unknown as {
        pool: { on(event: 'acquire', listener: (connection: { query(sql: string): void }) => void): void };
      };
      pool.on('acquire', (connection) => connection.query(`SET SESSION TRANSACTION ISOLATION LEVEL ${level}`));
      const [row] = await host.dataSource.query('SELECT @@tx_isolation AS level');
      expect(row.level).toBe(level.replace(' ', '-'));
      const store = storeOf(host);
      const admissions = await Promise.all(Array.from({ length: 20 }, () => store.admit(ATTEMPT)));
      const admitted = admissions.filter(({ kind }) => kind === 'admitted');
      expect(admitted).toHaveLength(2);
      await host.close();
      await database.drop();
    });
  },
);
