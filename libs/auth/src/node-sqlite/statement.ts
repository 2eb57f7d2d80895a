import type { BuiltinStatement, SqliteRow, SqliteValue } from './node-sqlite';
import { translated } from './sqlite-error';

/** Matches string literals, quoted names and comments. A literal with a doubled quote matches as two literals. */
const OPAQUE = /'[^']*'|"[^"]*"|`[^`]*`|\[[^\]]*\]|--.*|\/\*[^]*?(?:\*\/|$)/g;

const WRITES = /^(?:INSERT|UPDATE|DELETE|REPLACE|WITH)\b/i;

const READS = /^(?:SELECT|VALUES|PRAGMA|EXPLAIN)\b/i;

/** The keywords of a write in a `WITH` statement. `REPLACE` alone can also be a name or a function. */
const WRITES_WITH = /\b(?:INSERT|UPDATE|DELETE|REPLACE\s+INTO)\b/i;

/**
 * Derives from the text of a statement the properties that node:sqlite does not report, or reports only in newer
 * versions of Node.js.
 */
export class SqlText {
  /** The statement without string literals, quoted names and comments. */
  private readonly outline: string;

  constructor(sql: string) {
    this.outline = sql.replace(OPAQUE, ' ').trim();
  }

  /** Whether the text contains no statement. */
  get isEmpty(): boolean {
    return /^[\s;]*$/.test(this.outline);
  }

  /**
   * Whether the statement can change rows, which is assumed of every `WITH` statement. For other statements, SQLite
   * reports the number of rows of the last change.
   */
  get changesRows(): boolean {
    return WRITES.test(this.outline);
  }

  /** Whether the statement returns rows. */
  get returnsRows(): boolean {
    if (READS.test(this.outline) || /\bRETURNING\b/i.test(this.outline)) return true;
    return /^WITH\b/i.test(this.outline) && !WRITES_WITH.test(this.outline);
  }

  /**
   * The number of parameters, or null if the parameters have numbers or names, because one parameter can then
   * occur several times.
   */
  get parameterCount(): number | null {
    if (/\?\d|[:@$]\w/.test(this.outline)) return null;
    return this.outline.split('?').length - 1;
  }
}

/** The result of `run()`. */
export interface SqliteChanges {
  /** The number of changed rows. */
  readonly changes: number;
  /** The id of the row that this connection inserted last. */
  readonly lastInsertRowid: number | bigint;
}

/**
 * A prepared statement. It has the methods of better-sqlite3 that TypeORM uses. Parameters are
 * positional.
 *
 * `all`, `get`, `iterate` and `run` throw a `SqliteError` if the statement fails, a `RangeError` if
 * the number of values differs from the number of parameters, unless these have numbers or names,
 * and a `TypeError` if a value cannot be bound.
 */
export class NodeSqliteStatement {
  /** Whether the statement returns rows. If true, use `all()`, otherwise `run()`. */
  readonly reader: boolean;
  private readonly changesRows: boolean;
  private readonly parameterCount: number | null;

  /** @hidden */
  constructor(
    private readonly statement: BuiltinStatement,
    text: SqlText,
  ) {
    const columns = statement.columns?.();
    this.reader = columns ? columns.length > 0 : text.returnsRows;
    this.changesRows = text.changesRows;
    this.parameterCount = text.parameterCount;
  }

  /** Runs the statement and returns all rows. */
  all(...values: unknown[]): SqliteRow[] {
    return this.execute(values, (bound) => this.statement.all(...bound).map(toPlainRow));
  }

  /** Runs the statement and returns the first row, or undefined. */
  get(...values: unknown[]): SqliteRow | undefined {
    return this.execute(values, (bound) => {
      const row = this.statement.get(...bound);
      return row && toPlainRow(row);
    });
  }

  /** Runs the statement and yields the rows one by one. */
  *iterate(...values: unknown[]): IterableIterator<SqliteRow> {
    try {
      for (const row of this.statement.iterate(...this.checkedValues(values))) yield toPlainRow(row);
    } catch (error) {
      throw translated(error);
    }
  }

  /** Runs a statement that returns no rows. */
  run(...values: unknown[]): SqliteChanges {
    return this.execute(values, (bound) => {
      const { changes, lastInsertRowid } = this.statement.run(...bound);
      return { changes: this.changesRows ? Number(changes) : 0, lastInsertRowid };
    });
  }

  /** Sets whether integers are returned as `bigint`. If not, an integer beyond 2^53 throws a RangeError. */
  safeIntegers(enabled = true): this {
    this.statement.setReadBigInts(enabled);
    return this;
  }

  private execute<Result>(values: unknown[], execute: (bound: SqliteValue[]) => Result): Result {
    const bound = this.checkedValues(values);
    try {
      return execute(bound);
    } catch (error) {
      throw translated(error);
    }
  }

  /**
   * Returns the values to bind. Throws if their number is known to be wrong, or if a type is not supported, because
   * node:sqlite reads a missing value as NULL, and an object at the first position as named parameters.
   */
  private checkedValues(values: unknown[]): SqliteValue[] {
    const { parameterCount } = this;
    if (parameterCount !== null && values.length !== parameterCount) {
      throw new RangeError(`The number of values is ${values.length}, the number of parameters is ${parameterCount}.`);
    }
    return values.map(bindable);
  }
}

function bindable(value: unknown): SqliteValue {
  if (value === undefined || value === null) return null;
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'string') return value;
  if (ArrayBuffer.isView(value)) return value;
  throw new TypeError(
    `A parameter of type ${typeof value} cannot be bound. SQLite stores null, numbers, bigints, strings and buffers.`,
  );
}

/** Converts a row to the form of better-sqlite3: an ordinary object, with a Buffer for each blob. */
function toPlainRow(row: SqliteRow): SqliteRow {
  const copy = { ...row };
  for (const [column, value] of Object.entries(copy)) {
    if (ArrayBuffer.isView(value)) copy[column] = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  }
  return copy;
}
