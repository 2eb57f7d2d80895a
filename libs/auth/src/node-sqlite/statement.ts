import { translated, withSqliteErrors } from './sqlite-error';

/** A row, by column. */
export type SqliteRow = Record<string, unknown>;

/** A value that can be bound to a parameter. */
type SqliteValue = null | number | bigint | string | ArrayBufferView;

/** The part of a `StatementSync` that the driver uses. The types of Node.js 20 do not declare it. */
export interface BuiltinStatement {
  /** The text of the statement, without any statements after it. */
  readonly sourceSQL: string;
  /** Returns the columns of the result. Undefined in older versions, such as Node.js 22.15. */
  columns?(): readonly object[];
  all(...values: SqliteValue[]): SqliteRow[];
  get(...values: SqliteValue[]): SqliteRow | undefined;
  iterate(...values: SqliteValue[]): Iterable<SqliteRow>;
  run(...values: SqliteValue[]): { readonly changes: number | bigint; readonly lastInsertRowid: number | bigint };
  setReadBigInts(enabled: boolean): void;
}

/** Matches string literals, quoted names and comments. A literal with a doubled quote matches as two literals. */
const OPAQUE = /'[^']*'|"[^"]*"|`[^`]*`|\[[^\]]*\]|--.*|\/\*[^]*?(?:\*\/|$)/g;

/** Returns the SQL without string literals, quoted names and comments. Empty if the SQL contains no statement. */
export function outlineOf(sql: string): string {
  return sql.replace(OPAQUE, ' ').replace(/^[\s;]+|[\s;]+$/g, '');
}

/** `REPLACE` alone can also be a name or a function. */
export function returnsRows(outline: string): boolean {
  if (/^(?:SELECT|VALUES|PRAGMA|EXPLAIN)\b/i.test(outline) || /\bRETURNING\b/i.test(outline)) return true;
  return /^WITH\b/i.test(outline) && !/\b(?:INSERT|UPDATE|DELETE|REPLACE\s+INTO)\b/i.test(outline);
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
  /**
   * Whether the statement can change rows, which is assumed of every `WITH` statement. For other statements, SQLite
   * reports the number of rows of the last change.
   */
  private readonly changesRows: boolean;
  /** Null if the parameters have numbers or names, because one parameter can then occur several times. */
  private readonly parameterCount: number | null;

  /** @hidden */
  constructor(
    private readonly statement: BuiltinStatement,
    outline: string,
  ) {
    const columns = statement.columns?.();
    this.reader = columns ? columns.length > 0 : returnsRows(outline);
    this.changesRows = /^(?:INSERT|UPDATE|DELETE|REPLACE|WITH)\b/i.test(outline);
    this.parameterCount = /\?\d|[:@$]\w/.test(outline) ? null : outline.split('?').length - 1;
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
    return withSqliteErrors(() => execute(bound));
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
