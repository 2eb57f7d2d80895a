import { DataSource } from 'typeorm';
import { Database } from '../../libs/auth/src/database/database';
import { createDatabase, DATABASES, DIALECTS, type TestDatabase } from '../support/databases';
import { TestApplication } from '../support/test-application';
import { Tap } from '../support/tap';
import { FaultHook, FAULTS, type Fault } from './faults';
import { countsOf, newFixture, OPERATIONS, SecondFactorOfSome, TicketController } from './operations';
import type { Fixture, Operation } from './operations';

describe.each(DATABASES)('when the database fails during an operation on %s', (name) => {
  let database: TestDatabase;
  let app: TestApplication;
  let tap: Tap;
  let observer: DataSource;

  beforeAll(async () => {
    database = await createDatabase(name);
    app = await TestApplication.start({
      database,
      users: [],
      auth: { secondFactor: new SecondFactorOfSome() },
      controllers: [TicketController],
    });
    // The retries do not wait, because no other transaction runs that could end in the meantime.
    Object.assign(app.nest.get(Database), { pause: () => Promise.resolve() });
    tap = new Tap(app);
    observer = await new DataSource(database.options).initialize();
  });
  afterAll(async () => {
    await observer.destroy();
    await app.close();
    await database.drop();
  });

  const faults = FAULTS.filter(({ on }) => on.includes(DIALECTS[name]));
  const cases = OPERATIONS.flatMap((operation) =>
    faults.map((fault) => ({ operation, fault, title: `${operation.name} with a statement that ${fault.name}` })),
  );

  it.each(cases)(
    '$title changes everything or nothing, except the event of a revocation, whichever statement it is',
    async ({ operation, fault }) => {
      const done = await stateAfter(operation);
      let statements = 0;
      while (await inject(operation, fault, statements + 1, done)) statements++;
      const isSingle = DIALECTS[name] === 'postgres' && operation.name === 'a refresh';
      expect(statements).toBeGreaterThanOrEqual(isSingle ? 1 : name === 'sqlite' ? 3 : 5);
    },
  );

  /** Returns the state after the operation without a fault. */
  async function stateAfter(operation: Operation): Promise<Record<string, unknown>> {
    const fixture = await newFixture(app);
    expect((await operation.run(fixture)).status).toBe(operation.status);
    return countsOf(fixture);
  }

  /** @returns false if the operation has fewer statements */
  async function inject(
    operation: Operation,
    fault: Fault,
    at: number,
    done: Record<string, unknown>,
  ): Promise<boolean> {
    const fixture = await newFixture(app);
    const before = await countsOf(fixture);
    let stopHanging!: (reason: Error) => void;
    const hanging = new Promise<never>((_, reject) => (stopHanging = reject));
    hanging.catch(() => undefined);
    const hook = new FaultHook(fault, at, { name, observer, hanging });
    // On SQLite, the library waits for other writers until the deadline of the caller.
    const isWaitedFor = fault.name === 'hangs' || (fault.lasting && name === 'sqlite');
    if (isWaitedFor) Object.assign(app.nest.get(Database), { answerWithinMs: 200 });
    tap.hook = hook;
    const answer = await operation.run(fixture);
    tap.hook = {};
    stopHanging(new Error('end of the test'));
    Object.assign(app.nest.get(Database), { answerWithinMs: 5_000 });
    if (hook.struck === null) return false;

    const worked = answer.status === operation.status && answer.status !== 503;
    if (mustWork(operation, fault, hook.struck))
      expect([answer.status, hook.struck]).toEqual([operation.status, hook.struck]);
    if (!worked) {
      expect([answer.status, answer.body]).toEqual([503, { detail: 'The database is unavailable.' }]);
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

/** If the connection is cut at the COMMIT, a repeated refresh or login finds out that the COMMIT succeeded. */
function mustWork(operation: Operation, fault: Fault, struck: string): boolean {
  if (fault.outcome !== 'works before COMMIT') return fault.outcome === 'works';
  const isLastBeforeCommit =
    /^(INSERT INTO .auth_events|UPDATE .auth_users|SET lock_wait_timeout)/.test(struck) && fault.after !== undefined;
  return operation.name === 'a refresh' || isLogin(operation) || !(struck === 'COMMIT' || isLastBeforeCommit);
}

function isLogin({ name }: Operation): boolean {
  return name.startsWith('a login');
}

interface Possible {
  readonly whenWorked: readonly Record<string, unknown>[];
  readonly whenFailed: readonly Record<string, unknown>[];
}

/**
 * A revocation is committed without its event if the event cannot be written. A COMMIT whose result is lost may
 * have succeeded.
 */
function possibleStates(
  operation: Operation,
  fault: Fault,
  struck: string,
  before: Record<string, unknown>,
  done: Record<string, unknown>,
): Possible {
  // The statement that inserts the event, or a statement that sets the timeout for the insert.
  const isLogRow = /^(INSERT INTO .auth_events|SET .*lock_(wait|timeout))/.test(struck);
  const withoutRow = { ...done, events: before['events'] };
  const whenWorked = operation.isRevocation && isLogRow ? [done, withoutRow] : [done];
  const isAutocommit = struck.startsWith('WITH changed');
  const mayBeDone =
    (struck.startsWith('COMMIT') || isAutocommit) &&
    (fault.after !== undefined || fault.outcome === 'works before COMMIT' || fault.name === 'hangs');
  return { whenWorked, whenFailed: mayBeDone ? [before, done] : [before] };
}

/** Asserts that either both tokens of a pair are valid, or neither of them. */
async function expectUsable(
  operation: Operation,
  { app, session }: Fixture,
  after: Record<string, unknown>,
  before: Record<string, unknown>,
  issued: Pair | null,
): Promise<void> {
  const works = async (pair: Pair): Promise<boolean[]> => [
    (await app.auth.authenticate(pair.access_token!)) !== null,
    await app.auth.refresh(pair.refresh_token!).then(
      () => true,
      () => false,
    ),
  ];
  if (issued?.access_token) expect(await works(issued)).toEqual([true, true]);
  else if (JSON.stringify(after) === JSON.stringify(before)) expect(await works(session)).toEqual([true, true]);
  else if (!isLogin(operation)) expect(await app.auth.authenticate(session.access_token)).toBeNull();
}
