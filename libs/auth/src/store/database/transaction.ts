import { ConflictError } from './failure';
import type { ServerClock } from './server-clock';

/** A row, by the names that the statement gives its columns. */
export type Row = Readonly<Record<string, unknown>>;

/** A parameter that becomes the milliseconds that remain for a statement that commits itself, when it is sent. */
export const REMAINING_MS = Symbol('REMAINING_MS');

/** A parameter that becomes the same deadline by the database's clock, in milliseconds; NULL where that is not known. */
export const DEADLINE_AT = Symbol('DEADLINE_AT');

/** A statement with its parameters, ready for the driver. */
export interface Query {
  readonly sql: string;
  readonly params: readonly unknown[];
  /** Whether the server prepares it once per connection. */
  readonly isPrepared?: boolean;
}

export interface Result {
  readonly rows: readonly Row[];
  /** How many rows the statement changed. */
  readonly affected: number;
}

/**
 * A transaction, written as a generator: it yields its statements, receives their results and returns its outcome.
 *
 * It does not know how it is run. On a database with a pool it has a connection of its own. On SQLite, where all share one
 * connection, it runs without giving up control, so that nothing can come between its statements. A transaction that
 * returns is committed, one that throws is rolled back as a whole, and one that returns `RolledBack` is rolled back and has
 * an outcome all the same.
 */
export type Transaction<T> = Generator<Query, T | RolledBack<T>, Result>;

/** Starts a transaction, once for each attempt. */
export type UnitOfWork<T> = () => Transaction<T>;

/** A step of a transaction. */
export type Step<T> = Generator<Query, T, Result>;

/** The outcome of a transaction that leaves nothing behind. */
export class RolledBack<T> {
  constructor(readonly outcome: T) {}
}

/** PostgreSQL's largest `integer`, in milliseconds: three weeks. */
const NO_TIMEOUT_MS = 2_147_483_647;

/** The parameters within a transaction, whose COMMIT is not sent after the deadline. */
export function paramsInTransaction({ params }: Query): unknown[] {
  return params.map((param) => (param === REMAINING_MS ? NO_TIMEOUT_MS : param === DEADLINE_AT ? null : param));
}

/** The parameters of a statement that commits itself: it has nine tenths of the time, the rest is for the way there and back. */
export function autocommitParams({ params }: Query, remainingMs: number, clock: ServerClock): unknown[] {
  const limitMs = Math.floor(remainingMs * 0.9);
  return params.map((param) => {
    if (param === REMAINING_MS) return limitMs;
    return param === DEADLINE_AT ? clock.timeIn(limitMs) : param;
  });
}

/** All rows of the statement. */
export function* rowsOf(query: Query): Step<readonly Row[]> {
  return (yield query).rows;
}

/** The first row of the statement, or null. */
export function* firstOf(query: Query): Step<Row | null> {
  return (yield query).rows[0] ?? null;
}

/** How many rows the statement changed. */
export function* affectedBy(query: Query): Step<number> {
  return (yield query).affected;
}

/**
 * Sends a statement whose condition says what the transaction has read of as many rows.
 * @throws ConflictError where one of them has changed since
 */
export function* changeAll(query: Query, rows: number): Step<void> {
  if ((yield query).affected !== rows) throw new ConflictError();
}

type SendStatement = (query: Query) => Promise<Result>;

/** Runs a transaction whose statements are sent one by one. */
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

/** The same without giving up control. */
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
