import type { BuiltinStatement, SqliteRow, SqliteValue } from './builtin';
import type { SqlText } from './sql-text';
import { translated } from './sqlite-error';

/** What a statement changed. */
export interface SqliteChanges {
  /** The rows that it changed. */
  readonly changes: number;
  /** The id of the row that this connection inserted last. */
  readonly lastInsertRowid: number | bigint;
}

/** A prepared statement with the methods of better-sqlite3's, as far as TypeORM uses them. Parameters are positional. */
export class NodeSqliteStatement {
  /** Whether it returns rows: `all()` is for these, `run()` for the others. */
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

  /** All rows. */
  all(...values: unknown[]): SqliteRow[] {
    return this.execute(values, (bound) => this.statement.all(...bound).map(plain));
  }

  /** The first row. */
  get(...values: unknown[]): SqliteRow | undefined {
    return this.execute(values, (bound) => {
      const row = this.statement.get(...bound);
      return row && plain(row);
    });
  }

  /** The rows one by one. */
  *iterate(...values: unknown[]): IterableIterator<SqliteRow> {
    try {
      for (const row of this.statement.iterate(...this.bound(values))) yield plain(row);
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

  /** Whether integers are returned as `bigint`. Without it one beyond 2^53 throws a RangeError. */
  safeIntegers(enabled = true): this {
    this.statement.setReadBigInts(enabled);
    return this;
  }

  private execute<Result>(values: unknown[], execute: (bound: SqliteValue[]) => Result): Result {
    const bound = this.bound(values);
    try {
      return execute(bound);
    } catch (error) {
      throw translated(error);
    }
  }

  /** node:sqlite takes a missing value for NULL, and an object in the first place for named parameters. */
  private bound(values: unknown[]): SqliteValue[] {
    const { parameterCount } = this;
    if (parameterCount !== null && values.length !== parameterCount) {
      throw new RangeError(`The statement has ${parameterCount} parameters, and ${values.length} values were given.`);
    }
    return values.map(bindable);
  }
}

function bindable(value: unknown): SqliteValue {
  if (value === undefined || value === null) return null;
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'string') return value;
  if (ArrayBuffer.isView(value)) return value;
  throw new TypeError(
    `SQLite stores null, numbers, bigints, strings and buffers: a parameter of type ${typeof value} cannot be bound.`,
  );
}

/** The row as better-sqlite3 returns it: an ordinary object, with a Buffer for each blob. */
function plain(row: SqliteRow): SqliteRow {
  const copy = { ...row };
  for (const [column, value] of Object.entries(copy)) {
    if (ArrayBuffer.isView(value)) copy[column] = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  }
  return copy;
}
