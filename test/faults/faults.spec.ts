import { DataSource } from 'typeorm';
import { Database } from '../../libs/auth/src/store/database/database';
import { createDatabase, DATABASES, type TestDatabase } from '../support/databases';
import { Host } from '../support/host';
import { Tap } from '../support/tap';
import { FaultHook, FAULTS, type Fault } from './faults';
import { countsOf, newFixture, OPERATIONS, SecondFactorOfSome, TicketController } from './operations';
import type { Fixture, Operation } from './operations';

describe.each(DATABASES)('when the database fails half-way on %s', (name) => {
  let database: TestDatabase;
  let host: Host;
  let tap: Tap;
  let observer: DataSource;

  beforeAll(async () => {
    database = await createDatabase(name);
    host = await Host.start({
      database,
      users: [],
      auth: { secondFactor: new SecondFactorOfSome() },
      controllers: [TicketController],
    });
    // Nothing else is under way that a conflict could be waited out for.
    Object.assign(host.app.get(Database), { pause: () => Promise.resolve() });
    tap = new Tap(host);
    observer = await new DataSource(database.options).initialize();
  });
  afterAll(async () => {
    await observer.destroy();
    await host.close();
    await database.drop();
  });

  const faults = FAULTS.filter(({ on }) => on.includes(name));
  const cases = OPERATIONS.flatMap((operation) =>
    faults.map((fault) => ({ operation, fault, title: `${operation.name} that ${fault.name}` })),
  );

  it.each(cases)('$title leaves all of the old or all of the new, at every statement', async ({ operation, fault }) => {
    const done = await stateAfter(operation);
    let statements = 0;
    while (await inject(operation, fault, statements + 1, done)) statements++;
    const isSingle = name === 'postgres' && operation.name === 'a refresh';
    expect(statements).toBeGreaterThanOrEqual(isSingle ? 1 : name === 'sqlite' ? 3 : 5);
  });

  /** The state after the operation when nothing fails. */
  async function stateAfter(operation: Operation): Promise<Record<string, unknown>> {
    const fixture = await newFixture(host);
    expect((await operation.run(fixture)).status).toBe(operation.status);
    return countsOf(fixture);
  }

  /** @returns false where the operation has fewer statements than that */
  async function inject(
    operation: Operation,
    fault: Fault,
    at: number,
    done: Record<string, unknown>,
  ): Promise<boolean> {
    const fixture = await newFixture(host);
    const before = await countsOf(fixture);
    let stopHanging!: (reason: Error) => void;
    const hanging = new Promise<never>((_, reject) => (stopHanging = reject));
    hanging.catch(() => undefined);
    const hook = new FaultHook(fault, at, { name, observer, hanging });
    // On SQLite the library waits for another writer for as long as the caller waits.
    const isWaitedFor = fault.name === 'hangs' || (fault.lasting && name === 'sqlite');
    if (isWaitedFor) Object.assign(host.app.get(Database), { answerWithinMs: 200 });
    tap.hook = hook;
    const answer = await operation.run(fixture);
    tap.hook = {};
    stopHanging(new Error('end of the test'));
    Object.assign(host.app.get(Database), { answerWithinMs: 5_000 });
    if (hook.struck === null) return false;

    const worked = answer.status === operation.status && answer.status !== 503;
    if (mustWork(operation, fault, hook.struck))
      expect([answer.status, hook.struck]).toEqual([operation.status, hook.struck]);
    if (!worked) {
      expect([answer.status, answer.body]).toEqual([503, { detail: 'The database does not answer.' }]);
      expect(answer.headers['retry-after']).toBe(operation.name.includes('refresh') ? '1' : '5');
    }
    const after = await countsOf(fixture);
    const possible = possibleStates(operation, fault, hook.struck, before, done);
    expect(worked ? possible.whenWorked : possible.whenFailed).toContainEqual(after);
    await expectUsable(operation, fixture, after, before, worked ? (answer.body as Pair) : null);
    return true;
  }
});

interface Pair {
  readonly access_token?: string;
  readonly refresh_token?: string;
}

/** When the COMMIT finds the connection cut, a refresh and a login that run again find out that it went through. */
function mustWork(operation: Operation, fault: Fault, struck: string): boolean {
  if (fault.outcome !== 'works before COMMIT') return fault.outcome === 'works';
  const isLastBeforeCommit =
    /^(INSERT INTO .auth_events|SET lock_wait_timeout)/.test(struck) && fault.after !== undefined;
  return operation.name === 'a refresh' || isLogin(operation) || !(struck === 'COMMIT' || isLastBeforeCommit);
}

function isLogin({ name }: Operation): boolean {
  return name.startsWith('a login');
}

interface Possible {
  readonly whenWorked: readonly Record<string, unknown>[];
  readonly whenFailed: readonly Record<string, unknown>[];
}

/** A revocation is committed without its event where that cannot be written; a COMMIT whose result is lost may be done. */
function possibleStates(
  operation: Operation,
  fault: Fault,
  struck: string,
  before: Record<string, unknown>,
  done: Record<string, unknown>,
): Possible {
  // The event, and the bounds of the wait for it.
  const isLogRow = /^(INSERT INTO .auth_events|SET .*lock_(wait|timeout))/.test(struck);
  const withoutRow = { ...done, events: before['events'] };
  const whenWorked = operation.isRevocation && isLogRow ? [done, withoutRow] : [done];
  const isAutocommit = struck.startsWith('WITH changed');
  const mayBeDone =
    (struck.startsWith('COMMIT') || isAutocommit) &&
    (fault.after !== undefined || fault.outcome === 'works before COMMIT' || fault.name === 'hangs');
  return { whenWorked, whenFailed: mayBeDone ? [before, done] : [before] };
}

/** Both tokens of a pair are live, or neither is. */
async function expectUsable(
  operation: Operation,
  { host, session }: Fixture,
  after: Record<string, unknown>,
  before: Record<string, unknown>,
  issued: Pair | null,
): Promise<void> {
  const works = async (pair: Pair): Promise<boolean[]> => [
    (await host.auth.authenticate(pair.access_token!)) !== null,
    await host.auth.refresh(pair.refresh_token!).then(
      () => true,
      () => false,
    ),
  ];
  if (issued?.access_token) expect(await works(issued)).toEqual([true, true]);
  else if (JSON.stringify(after) === JSON.stringify(before)) expect(await works(session)).toEqual([true, true]);
  else if (!isLogin(operation)) expect(await host.auth.authenticate(session.access_token)).toBeNull();
}
