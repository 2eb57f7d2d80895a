import { AuthLoginFailure, AuthLoginTicket } from 'nestjs-session-auth';
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { DataSource } from 'typeorm';
import { Database } from '../../libs/auth/src/database/database';
import { DIALECTS } from '../support/databases';
import { describeOnEachDatabase, UNAVAILABLE } from '../support/environment';
import { connectionLost, withDeadline } from '../support/tap';
import { deadlock, faultAt, faultsOn, type Fault } from './faults';
import {
  countsOf,
  newFixture,
  OPERATIONS,
  SECOND_FACTOR_OF_SOME,
  signalsOf,
  TicketController,
  untilReconnected,
  type Fixture,
  type Operation,
} from './operations';

type Counts = Record<string, unknown>;

const OPTIONS = {
  users: [],
  auth: { secondFactor: SECOND_FACTOR_OF_SOME, endpoints: { reauthenticate: true } },
  controllers: [TicketController],
};

describeOnEachDatabase('when the database fails during an operation', OPTIONS, ({ app, database, name, tap }) => {
  let observer: DataSource;
  beforeAll(async () => {
    // The retries do not wait, because no other transaction runs that could end in the meantime.
    Object.assign(app.nest.get(Database), { pause: () => Promise.resolve() });
    observer = await new DataSource(database.options).initialize();
  });
  afterAll(() => observer.destroy());

  /** Runs work with a fault of its n-th statement. Returns that statement, or null if the work has fewer. */
  async function strike<T>(fault: Fault, at: number, work: () => PromiseLike<T>): Promise<[string | null, T]> {
    let stopHanging!: (reason: Error) => void;
    const hanging = new Promise<never>((_, reject) => (stopHanging = reject));
    hanging.catch(() => undefined);
    const hook = faultAt(at, fault, { name, observer, hanging });
    // On SQLite, the library waits for other writers until the deadline of the caller.
    const isWaitedFor = fault.name === 'hangs' || (fault.lasting && name === 'sqlite');
    tap.hook = hook;
    app.logs.length = 0;
    const result = await withDeadline(app, isWaitedFor ? 200 : 5_000, async () => work());
    tap.hook = {};
    stopHanging(new Error('end of the test'));
    return [hook.struck, result];
  }

  const faults = faultsOn(name);
  const states = new Map<Operation, Counts>();
  const cases = OPERATIONS.flatMap((operation) =>
    faults.map((fault) => ({ operation, fault, title: `${operation.name} with a statement that ${fault.name}` })),
  );

  it.each(cases)(
    '$title changes everything or nothing, except the event of a revocation, whichever statement it is',
    async ({ operation, fault }) => {
      const done = states.get(operation) ?? (await stateAfter(operation));
      states.set(operation, done);
      let statements = 0;
      while (await inject(operation, fault, statements + 1, done)) statements++;
      const isSingle = DIALECTS[name] === 'postgres' && operation.name === 'a refresh';
      expect(statements).toBeGreaterThanOrEqual(isSingle ? 1 : name === 'sqlite' ? 3 : 5);
    },
  );

  /** Returns the state after the operation without a fault. */
  async function stateAfter({ run, status = 200 }: Operation): Promise<Counts> {
    const fixture = await newFixture(app);
    await run(fixture).expect(status);
    return { ...(await countsOf(fixture)), signals: signalsOf(fixture) };
  }

  /** @returns false if the operation has fewer statements */
  async function inject(operation: Operation, fault: Fault, at: number, done: Counts): Promise<boolean> {
    const { status = 200 } = operation;
    const fixture = await newFixture(app);
    const before = await countsOf(fixture);
    const [struck, answer] = await strike(fault, at, () => operation.run(fixture));
    if (struck === null) return false;

    const worked = answer.status === status;
    const { signals, ...counts } = done;
    if (worked) expect(signalsOf(fixture)).toEqual(signals);
    expect(app.logs.join('\n')).not.toMatch(/INSERT|SELECT|nsa[ar]_|user \d|horse/);
    if (mustWork(operation, fault, struck)) expect([answer.status, struck]).toEqual([status, struck]);
    if (!worked) {
      expect([answer.status, answer.body]).toEqual([503, UNAVAILABLE]);
      expect(answer.headers['retry-after']).toBe(operation.name.includes('refresh') ? '1' : '5');
    }
    const after = await countsOf(fixture);
    const isLogged = !worked || isDeepStrictEqual(after['events'], counts['events']);
    if (!isLogged) expect(app.logs.join('\n')).toContain('Lost events: ');
    expect(possibleStates(operation, fault, struck, before, counts, worked)).toContainEqual(after);
    await expectUsable(operation, fixture, after, before, worked ? (answer.body as Pair) : null);
    return true;
  }

  const lose = (): never => {
    throw connectionLost();
  };
  // On SQLite, the library waits for other writers until the deadline.
  (name === 'sqlite' ? it.skip : it).each([
    ['conflicts with another transaction', 5, 200, () => deadlock({ name })],
    ['conflicts with another transaction', 6, 503, () => deadlock({ name })],
    ['loses its connection', 10, 200, lose],
  ])('an operation that %s %i times returns %i', async (_, times, status, fail) => {
    const { session } = await newFixture(app);
    let left = times;
    tap.hook = { before: ({ sql }) => (sql.startsWith('UPDATE') && left-- > 0 ? fail() : undefined) };
    await app.post('/auth/logout/all', session.access_token, { keep_current: true }).expect(status);
  });

  const attempts = faults
    .filter(({ lasting }) => !lasting)
    .flatMap((fault) => [true, false].map((isRight) => ({ fault, isRight, title: fault.name })));

  it.each(attempts)(
    'an attempt with a login ticket in which any statement $title is not lost: a wrong secret is counted, a reported proof is stored (result: $isRight)',
    async ({ fault, isRight }) => {
      let statements = 0;
      while (await injectIntoAttempt(fault, isRight, statements + 1)) statements++;
      // The statements read the ticket, count the attempt, and write its result.
      expect(statements).toBeGreaterThanOrEqual(6);
    },
  );

  async function injectIntoAttempt(fault: Fault, isRight: boolean, at: number): Promise<boolean> {
    const { userId } = await newFixture(app);
    const ticket = await app.auth.createLoginTicket(userId, { methods: ['pwd'] });
    const digest = createHash('sha256').update(ticket).digest('hex');
    const check = jest.fn(() => isRight);
    const [struck, outcome] = await strike(fault, at, () =>
      app.auth.attempt({ ticket, method: 'otp' }, {}, check).catch((error: unknown) => error),
    );
    if (struck === null) return false;

    if (fault.outcome === 'works') expect(outcome).toBe(isRight);
    if (outcome !== isRight) expect(outcome).toMatchObject({ code: 'database_unavailable' });
    const tickets = app.dataSource.getRepository(AuthLoginTicket);
    const stored = await untilReconnected(() => tickets.findOneByOrFail({ digest }));
    const isProved = Object.keys(JSON.parse(stored.methods) as object).includes('otp');
    const checks = check.mock.calls.length;
    if (outcome === true) expect([isProved, stored.failureCount <= 1]).toEqual([true, true]);
    if (!isRight) expect([isProved, stored.failureCount >= checks]).toEqual([false, true]);
    expect([checks <= 1, stored.failureCount <= 2]).toEqual([true, true]);
    // Counts that could not be taken back would expire. Deleting the rows has the same effect.
    await app.dataSource.getRepository(AuthLoginFailure).deleteAll();
    expect(await app.auth.attempt({ ticket, method: 'otp' }, {}, () => true)).toBe(true);
    return true;
  }
});

interface Pair {
  readonly access_token?: string;
  readonly refresh_token?: string;
}

/** If the connection is cut at the COMMIT, only some operations find out whether the COMMIT succeeded. */
function mustWork(operation: Operation, fault: Fault, struck: string): boolean {
  if (fault.outcome !== 'works before COMMIT') return fault.outcome === 'works';
  const isLastBeforeCommit =
    /^(INSERT INTO .auth_events|UPDATE .auth_users|SET lock_wait_timeout)/.test(struck) && fault.after !== undefined;
  return operation.isRepeatable === true || !(struck === 'COMMIT' || isLastBeforeCommit);
}

/**
 * Returns the states that may follow. A revocation is committed without its event if the event cannot be written. A
 * COMMIT whose result is lost may have succeeded.
 */
function possibleStates(
  { isRevocation }: Operation,
  fault: Fault,
  struck: string,
  before: Counts,
  done: Counts,
  worked: boolean,
): Counts[] {
  if (worked) {
    // The statement that inserts the event, or a statement that sets the timeout for the insert.
    const isLogRow = /^(INSERT INTO .auth_events|SET .*lock_(wait|timeout))/.test(struck);
    return isRevocation && isLogRow ? [done, { ...done, events: before['events'] }] : [done];
  }
  const mayBeDone =
    /^(COMMIT|WITH changed)/.test(struck) &&
    (fault.after !== undefined || fault.outcome === 'works before COMMIT' || fault.name === 'hangs');
  return mayBeDone ? [before, done] : [before];
}

/** Asserts that either both tokens of a pair are valid, or neither of them. */
async function expectUsable(
  operation: Operation,
  { app, session }: Fixture,
  after: Counts,
  before: Counts,
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
  else if (!operation.name.startsWith('a login')) expect(await app.auth.authenticate(session.access_token)).toBeNull();
}
