import { ConflictError } from './failure';

/** A row, keyed by the column names in the statement. */
export type Row = Readonly<Record<string, unknown>>;

/**
 * A placeholder for the remaining time, in milliseconds, of a statement that commits itself. Replaced when the
 * statement is sent.
 */
export const REMAINING_MS = Symbol('REMAINING_MS');

/** A statement with its parameters, which can include `REMAINING_MS`. */
export interface Query {
  readonly sql: string;
  readonly params: readonly unknown[];
  /** Whether to prepare the statement once per connection. */
  readonly isPrepared?: boolean;
}

export interface Result {
  readonly rows: readonly Row[];
  /** The number of rows that an UPDATE or DELETE matched. */
  readonly affected: number;
}

/**
 * A transaction, written as a generator: it yields its statements, receives their results and returns its
 * outcome.
 *
 * The generator does not depend on how its statements are run: on a connection of the pool, synchronously on
 * SQLite, where all code shares one connection, or in a savepoint of the application's transaction. A
 * transaction that throws is rolled back. A transaction that returns `RolledBack` is rolled back and still has
 * an outcome. Every other transaction that returns is committed, or becomes part of the application's
 * transaction.
 */
export type Transaction<T> = Generator<Query, T | RolledBack<T>, Result>;

/** Starts a transaction. Called once for each run. */
export type UnitOfWork<T> = () => Transaction<T>;

/** A part of a transaction. */
export type Step<T> = Generator<Query, T, Result>;

/** The outcome of a transaction that is rolled back without an error. */
export class RolledBack<T> {
  constructor(readonly outcome: T) {}
}

/** PostgreSQL's largest `integer`: about 25 days. */
const NO_TIMEOUT_MS = 2_147_483_647;

/**
 * Returns the parameters of a statement.
 * @param limitMs the value of `REMAINING_MS`. Without it, the statement needs no deadline of its own, for example
 *   because its transaction sends no COMMIT after the deadline
 */
export function bind({ params }: Query, limitMs = NO_TIMEOUT_MS): unknown[] {
  return params.map((param) => (param === REMAINING_MS ? limitMs : param));
}

/** Returns all rows of the statement. */
export function* rowsOf(query: Query): Step<readonly Row[]> {
  return (yield query).rows;
}

/** Returns the first row of the statement, or null. */
export function* firstOf(query: Query): Step<Row | null> {
  return (yield query).rows[0] ?? null;
}

/** Sends a statement, and returns `affected` of its result. */
export function* affectedBy(query: Query): Step<number> {
  return (yield query).affected;
}

/**
 * Sends an UPDATE or DELETE that must match exactly `rows` rows, because the transaction has read these rows
 * before.
 * @throws ConflictError if a different number of rows matches, because rows have changed in the meantime
 */
export function* changeAll(query: Query, rows: number): Step<void> {
  if ((yield query).affected !== rows) throw new ConflictError();
}

type SendStatement = (query: Query) => Promise<Result>;

/** Runs the generator of a transaction. Sends its statements one after another. */
export async function drive<T>(transaction: Transaction<T>, send: SendStatement): Promise<T | RolledBack<T>> {
  let step = transaction.next();
  while (!step.done) {
    step = await send(step.value).then(
      (result) => transaction.next(result),
      (error: unknown) => transaction.throw(error),
    );
  }
  return step.value;
}

/** Runs the generator of a transaction synchronously. */
export function driveSync<T>(transaction: Transaction<T>, run: (query: Query) => Result): T | RolledBack<T> {
  let step = transaction.next();
  while (!step.done) {
    let result: Result;
    try {
      result = run(step.value);
    } catch (error) {
      step = transaction.throw(error);
      continue;
    }
    step = transaction.next(result);
  }
  return step.value;
}
