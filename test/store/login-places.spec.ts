import fc from 'fast-check';
import { AuthLoginFailure } from 'nestjs-session-auth';
import {
  admissionOf,
  currentRun,
  NO_RUN,
  withPlaceTaken,
  type LoginRun,
  type RunLimits,
} from '../../libs/auth/src/domain/login-run';
import { AuthTables } from '../../libs/auth/src/store/auth-tables';
import { LoginPlaces, REMEMBER_NAME_MS } from '../../libs/auth/src/store/login-places';
import { PooledDatabase } from '../../libs/auth/src/store/sql/pooled-database';
import { createDatabase, describeOn, type TestDatabase } from '../support/databases';
import { Host } from '../support/host';

const NOW = 1_800_000_000_000;
const KEYS = { network: 'n'.repeat(64), name: 'u'.repeat(64) };

const around = fc.integer({ min: NOW - 2, max: NOW + 2 });
const run = (most: number): fc.Arbitrary<LoginRun | null> =>
  fc.option(
    fc.record({
      failures: fc.integer({ min: 0, max: most }),
      pending: fc.integer({ min: 0, max: most }),
      pendingUntil: around,
      delayedUntil: around,
      expiresAt: around,
    }),
  );

describeOn('postgres')('places for attempts, taken in one statement', () => {
  let database: TestDatabase;
  let host: Host;
  let places: LoginPlaces;

  beforeAll(async () => {
    database = await createDatabase('postgres');
    host = await Host.start({ database });
    places = new LoginPlaces(
      new PooledDatabase(host.dataSource, 'postgres'),
      new AuthTables(host.dataSource, 'postgres', null),
    );
  });
  afterAll(async () => {
    await host.close();
    await database.drop();
  });

  async function store(key: string, given: LoginRun | null): Promise<void> {
    if (!given) return;
    const { failures: failureCount, ...rest } = given;
    await host.dataSource.getRepository(AuthLoginFailure).insert({ key, nameKey: KEYS.name, failureCount, ...rest });
  }

  async function stored(key: string): Promise<LoginRun | null> {
    const row = await host.dataSource.getRepository(AuthLoginFailure).findOneBy({ key });
    if (!row) return null;
    const { failureCount: failures, pending, pendingUntil, delayedUntil, expiresAt } = row;
    return { failures, pending, pendingUntil, delayedUntil, expiresAt };
  }

  it('are there and are written as the rules of the domain say, whatever is on record', async () => {
    const limits = fc.record({ throttleFrom: fc.integer({ min: 1, max: 6 }), windowMs: fc.constant(300_000) });
    await fc.assert(
      fc.asyncProperty(run(8), run(110), limits, async (ofNetwork, ofName, bounds: RunLimits) => {
        await host.dataSource.getRepository(AuthLoginFailure).clear();
        await store(KEYS.network, ofNetwork);
        await store(KEYS.name, ofName);
        const current = (given: LoginRun | null): LoginRun => currentRun(given ?? NO_RUN, NOW);
        const admitted = (name: LoginRun): boolean =>
          admissionOf(current(ofNetwork), name, NOW, bounds).kind === 'admitted';

        const taken = await places.take(KEYS, NOW, bounds);

        const wanted = admitted(current(ofName)) ? [KEYS.network, KEYS.name] : admitted(NO_RUN) ? [KEYS.network] : [];
        expect(taken).toEqual(wanted);
        const after = (key: string, given: LoginRun | null, rememberMs: number): LoginRun | null =>
          taken.includes(key) ? withPlaceTaken(current(given), NOW, rememberMs) : given;
        expect(await stored(KEYS.network)).toEqual(after(KEYS.network, ofNetwork, bounds.windowMs));
        expect(await stored(KEYS.name)).toEqual(after(KEYS.name, ofName, REMEMBER_NAME_MS));
      }),
      { numRuns: 500 },
    );
  });
});
