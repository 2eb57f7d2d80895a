/** A row, by the names that the statement gives its columns. */
export type Row = Readonly<Record<string, unknown>>;

/** A parameter that becomes the milliseconds that are left for a statement that is its own COMMIT, when it is sent. */
export const TIME_LEFT = Symbol('TIME_LEFT');

/** A statement with its parameters, ready for the driver. */
export interface Query {
  readonly sql: string;
  readonly params: readonly unknown[];
  /** How long it may take outside of a transaction, where that is less than the unit has. */
  readonly withinMs?: number;
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

/** PostgreSQL's largest `integer`, in milliseconds: three weeks. */
const FOR_EVER = 2_147_483_647;

/** The parameters within a transaction: its COMMIT is not sent when it is late. */
export function boundParams({ params }: Query): unknown[] {
  return params.map((param) => (param === TIME_LEFT ? FOR_EVER : param));
}

/** The parameters of a statement that is its own COMMIT: nine tenths of what is left, for the way to the server and back. */
export function unboundParams({ params }: Query, leftMs: number): unknown[] {
  return params.map((param) => (param === TIME_LEFT ? Math.floor(leftMs * 0.9) : param));
}

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
