import { DatabaseFailure } from './failure';

/** A row, keyed by the column names in the statement. */
export type Row = Readonly<Record<string, unknown>>;

/** A parameter that is replaced, when the statement is sent, by the milliseconds that remain until its deadline. */
export const REMAINING_MS = Symbol('REMAINING_MS');

export interface Query {
  readonly sql: string;
  readonly params?: readonly unknown[];
  /** Whether to prepare the statement once per connection. */
  readonly isPrepared?: boolean;
}

export interface Result {
  readonly rows: readonly Row[];
  /** The number of rows that an UPDATE or DELETE matched. */
  readonly affected: number;
}

/**
 * A transaction, written as a generator: it yields its statements, receives their results and returns its outcome. A
 * transaction that throws is rolled back. A transaction that returns `RolledBack` is rolled back and has an outcome.
 */
export type Transaction<T> = Generator<Query, T | RolledBack<T>, Result>;

/** Called once for each run. */
export type UnitOfWork<T> = () => Transaction<T>;

export type Step<T> = Generator<Query, T, Result>;

/** The outcome of a transaction that is rolled back without a failure. */
export class RolledBack<T> extends Error {
  constructor(readonly outcome: T) {
    super('The transaction was rolled back.');
  }
}

/** PostgreSQL's largest `integer`: about 25 days. Transactions need no limit: no COMMIT is sent after the deadline. */
const NO_TIMEOUT_MS = 2_147_483_647;

export function bind({ params = [] }: Query, limitMs = NO_TIMEOUT_MS): unknown[] {
  return params.map((param) => (param === REMAINING_MS ? limitMs : param));
}

export function* rowsOf(query: Query): Step<readonly Row[]> {
  return (yield query).rows;
}

export function* firstOf(query: Query): Step<Row | null> {
  return (yield query).rows[0] ?? null;
}

export function* affectedBy(query: Query): Step<number> {
  return (yield query).affected;
}

/**
 * Sends an UPDATE or DELETE that must match exactly the `rows` rows that the transaction has read before, possibly
 * without locks. If rows have changed in the meantime, the transaction is rolled back and run again.
 */
export function* changeAll(query: Query, rows: number): Step<void> {
  if ((yield query).affected !== rows) throw new DatabaseFailure('CONFLICT', 'A row changed after it was read.');
}

/** Runs the generator of a transaction. @throws RolledBack if the generator returns it */
export async function drive<T>(transaction: Transaction<T>, send: (query: Query) => Promise<Result>): Promise<T> {
  let step = transaction.next();
  while (!step.done) {
    step = await send(step.value).then(
      (result) => transaction.next(result),
      (error: unknown) => transaction.throw(error),
    );
  }
  if (step.value instanceof RolledBack) throw step.value;
  return step.value;
}

/** Like `drive`, but synchronous. */
export function driveSync<T>(transaction: Transaction<T>, run: (query: Query) => Result): T {
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
  if (step.value instanceof RolledBack) throw step.value;
  return step.value;
}
