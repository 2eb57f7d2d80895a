/** A row, by the names that the statement gives its columns. */
export type Row = Readonly<Record<string, unknown>>;

/** A parameter that becomes the milliseconds that are left for the statement when it is sent. */
export const TIME_LEFT = Symbol('TIME_LEFT');

/** A statement with its parameters, ready for the driver. */
export interface Query {
  readonly sql: string;
  readonly params: readonly unknown[];
}

export interface Result {
  readonly rows: readonly Row[];
  /** How many rows the statement changed. */
  readonly affected: number;
}

/**
 * A unit of work: it yields the statements that belong together, receives what each gave, and returns its outcome.
 *
 * Being a generator, it does not know how it is run. On a database with a pool it runs in a transaction of its own; on
 * SQLite, where all share one connection, it runs without giving up control, so that nothing can come between.
 * A unit that returns is committed; one that throws is rolled back as a whole.
 */
export type Unit<T> = Generator<Query, T, Result>;

/** All rows of the statement. */
export function* rowsOf(query: Query): Unit<readonly Row[]> {
  return (yield query).rows;
}

/** The first row of the statement, or null. */
export function* firstOf(query: Query): Unit<Row | null> {
  return (yield query).rows[0] ?? null;
}

/** How many rows the statement changed. */
export function* affectedBy(query: Query): Unit<number> {
  return (yield query).affected;
}
