import { DataSource } from 'typeorm';
import { Database } from '../../libs/auth/src/store/sql/database';
import { createDatabase, DATABASES, type TestDatabase } from '../support/databases';
import { Host } from '../support/host';
import { Tap } from '../support/tap';
import { census, DEEDS, setTheScene, type Deed, type Scene } from './deeds';
import { FaultHook, FAULTS, type Fault } from './faults';

describe.each(DATABASES)('when the database fails half-way on %s', (name) => {
  let database: TestDatabase;
  let host: Host;
  let tap: Tap;
  let observer: DataSource;

  beforeAll(async () => {
    database = await createDatabase(name);
    host = await Host.start({ database, users: [] });
    tap = new Tap(host);
    observer = await new DataSource(database.options).initialize();
  });
  afterAll(async () => {
    await observer.destroy();
    await host.close();
    await database.drop();
  });

  const faults = FAULTS.filter(({ on }) => on.includes(name));
  const cases = DEEDS.flatMap((deed) =>
    faults.map((fault) => ({ deed, fault, title: `${deed.name} that ${fault.name}` })),
  );

  it.each(cases)('$title leaves all of the old or all of the new, at every statement', async ({ deed, fault }) => {
    const done = await stateAfter(deed);
    let statements = 0;
    while (await strike(deed, fault, statements + 1, done)) statements++;
    const atOnce: Record<string, number> = name === 'postgres' ? { 'a refresh': 1, 'a login': 4 } : {};
    const fewest = atOnce[deed.name] ?? (name === 'sqlite' ? 3 : 5);
    expect(statements).toBeGreaterThanOrEqual(fewest);
  });

  /** The state that the deed leaves when nothing fails. */
  async function stateAfter(deed: Deed): Promise<Record<string, unknown>> {
    const scene = await setTheScene(host);
    expect((await deed.run(scene)).status).toBe(deed.status);
    return census(scene);
  }

  /** @returns false where the deed has fewer statements than that */
  async function strike(deed: Deed, fault: Fault, at: number, done: Record<string, unknown>): Promise<boolean> {
    const scene = await setTheScene(host);
    const before = await census(scene);
    let stopHanging!: (reason: Error) => void;
    const hanging = new Promise<never>((_, reject) => (stopHanging = reject));
    hanging.catch(() => undefined);
    const hook = new FaultHook(fault, at, { name, observer, hanging });
    // What is in the way on SQLite is waited for as long as the caller waits.
    const isWaitedFor = fault.name === 'hangs' || (fault.lasting && name === 'sqlite');
    if (isWaitedFor) Object.assign(host.app.get(Database), { answerWithinMs: 50 });
    tap.hook = hook;
    const answer = await deed.run(scene);
    tap.hook = {};
    stopHanging(new Error('the test is over'));
    Object.assign(host.app.get(Database), { answerWithinMs: 5_000 });
    if (hook.struck === null) return false;

    const worked = answer.status === deed.status && answer.status !== 503;
    if (mustWork(deed, fault, hook.struck)) expect([answer.status, hook.struck]).toEqual([deed.status, hook.struck]);
    if (!worked) {
      expect([answer.status, answer.body]).toEqual([503, { detail: 'The database does not answer.' }]);
      expect(answer.headers['retry-after']).toBe('5');
    }
    const after = await census(scene);
    const possible = possibleStates(deed, fault, hook.struck, before, done);
    expect(worked ? possible.whenWorked : possible.whenFailed).toContainEqual(after);
    await expectUsable(deed, scene, after, before, worked ? (answer.body as Pair) : null);
    return true;
  }
});

interface Pair {
  readonly access_token?: string;
  readonly refresh_token?: string;
}

/** When the COMMIT finds the connection cut, only a refresh can tell, tried again, that it went through: by its tokens. */
function mustWork(deed: Deed, fault: Fault, struck: string): boolean {
  if (fault.outcome !== 'works before COMMIT') return fault.outcome === 'works';
  const isLastBeforeCommit =
    /^(INSERT INTO .auth_events|SET lock_wait_timeout)/.test(struck) && fault.after !== undefined;
  return deed.name === 'a refresh' || !(struck === 'COMMIT' || isLastBeforeCommit);
}

interface Possible {
  readonly whenWorked: readonly Record<string, unknown>[];
  readonly whenFailed: readonly Record<string, unknown>[];
}

/** A revocation is done without its row where that cannot be written; a COMMIT whose answer is lost may have been done. */
function possibleStates(
  deed: Deed,
  fault: Fault,
  struck: string,
  before: Record<string, unknown>,
  done: Record<string, unknown>,
): Possible {
  // The row, and the bounds of the wait for it.
  const isLogRow = /^(INSERT INTO .auth_events|SET .*lock_(wait|timeout))/.test(struck);
  const withoutRow = { ...done, events: before['events'] };
  const whenWorked = deed.isRevocation && isLogRow ? [done, withoutRow] : [done];
  const isAtOnce = struck.startsWith('WITH won');
  const mayBeDone =
    (struck === 'COMMIT' || isAtOnce) &&
    (fault.after !== undefined || fault.outcome === 'works before COMMIT' || fault.name === 'hangs');
  return { whenWorked, whenFailed: mayBeDone ? [before, done] : [before] };
}

/** No pair half works: both tokens are good for what they are, or neither is. */
async function expectUsable(
  deed: Deed,
  { host, session }: Scene,
  after: Record<string, unknown>,
  before: Record<string, unknown>,
  given: Pair | null,
): Promise<void> {
  const works = async (pair: Pair): Promise<boolean[]> => [
    (await host.auth.authenticate(pair.access_token!)) !== null,
    await host.auth.refresh(pair.refresh_token!).then(
      () => true,
      () => false,
    ),
  ];
  if (given?.access_token) expect(await works(given)).toEqual([true, true]);
  else if (JSON.stringify(after) === JSON.stringify(before)) expect(await works(session)).toEqual([true, true]);
  else if (deed.name !== 'a login') expect(await host.auth.authenticate(session.access_token)).toBeNull();
}
