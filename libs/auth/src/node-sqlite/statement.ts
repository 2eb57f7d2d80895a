/** SQLite's result codes in the order of their numbers, each followed by its extended codes in the same order. */
const RESULT_CODES = [
  ...['OK', 'ERROR MISSING_COLLSEQ RETRY SNAPSHOT', 'INTERNAL', 'PERM', 'ABORT - ROLLBACK'],
  ...['BUSY RECOVERY SNAPSHOT TIMEOUT', 'LOCKED SHAREDCACHE VTAB', 'NOMEM'],
  ...['READONLY RECOVERY CANTLOCK ROLLBACK DBMOVED CANTINIT DIRECTORY', 'INTERRUPT'],
  'IOERR READ SHORT_READ WRITE FSYNC DIR_FSYNC TRUNCATE FSTAT UNLOCK RDLOCK DELETE BLOCKED NOMEM ACCESS ' +
    'CHECKRESERVEDLOCK LOCK CLOSE DIR_CLOSE SHMOPEN SHMSIZE SHMLOCK SHMMAP SEEK DELETE_NOENT MMAP GETTEMPPATH ' +
    'CONVPATH VNODE AUTH BEGIN_ATOMIC COMMIT_ATOMIC ROLLBACK_ATOMIC DATA CORRUPTFS IN_PAGE',
  ...['CORRUPT VTAB SEQUENCE INDEX', 'NOTFOUND', 'FULL', 'CANTOPEN NOTEMPDIR ISDIR FULLPATH CONVPATH DIRTYWAL SYMLINK'],
  ...['PROTOCOL', 'EMPTY', 'SCHEMA', 'TOOBIG'],
  'CONSTRAINT CHECK COMMITHOOK FOREIGNKEY FUNCTION NOTNULL PRIMARYKEY TRIGGER UNIQUE VTAB ROWID PINNED DATATYPE',
  ...['MISMATCH', 'MISUSE', 'NOLFS', 'AUTH USER', 'FORMAT', 'RANGE', 'NOTADB'],
];

/** The error of a failed statement or connection. It has the properties of better-sqlite3's error. */
export class SqliteError extends Error {
  override readonly name = 'SqliteError';

  /** @param code the extended result code, such as `SQLITE_CONSTRAINT_UNIQUE` or `SQLITE_BUSY` */
  constructor(
    message: string,
    readonly code: string,
  ) {
    super(message);
  }
}

/** Returns an error of SQLite as a `SqliteError`, and other errors unchanged. */
function translated(error: unknown): unknown {
  const { code, errcode, message } = (error ?? {}) as { code?: unknown; errcode?: unknown; message: string };
  if (code !== 'ERR_SQLITE_ERROR' || typeof errcode !== 'number') return error;
  // The low byte is the result code, and the rest is the number of the extended code.
  const [base, ...extended] = (RESULT_CODES[errcode & 0xff] ?? `UNKNOWN_${errcode}`).split(' ');
  const detail = extended[(errcode >> 8) - 1];
  return new SqliteError(message, detail ? `SQLITE_${base}_${detail}` : `SQLITE_${base}`);
}

export function withSqliteErrors<Result>(action: () => Result): Result {
  try {
    return action();
  } catch (error) {
    throw translated(error);
  }
}

/** A row, by column. */
export type SqliteRow = Record<string, unknown>;

type SqliteValue = null | number | bigint | string | ArrayBufferView;

/** The part of `StatementSync` that the driver uses. */
export interface BuiltinStatement {
  readonly sourceSQL: string;
  /** Undefined in older versions, such as Node.js 22.15. */
  columns?(): readonly object[];
  all(...values: SqliteValue[]): SqliteRow[];
  get(...values: SqliteValue[]): SqliteRow | undefined;
  iterate(...values: SqliteValue[]): Iterable<SqliteRow>;
  run(...values: SqliteValue[]): { readonly changes: number | bigint; readonly lastInsertRowid: number | bigint };
}

const OPAQUE = /'[^']*'|"[^"]*"|`[^`]*`|\[[^\]]*\]|--.*|\/\*[^]*?(?:\*\/|$)/g;

/** Returns the SQL without string literals, quoted names and comments. Empty if the SQL contains no statement. */
export function outlineOf(sql: string): string {
  return sql.replace(OPAQUE, ' ').replace(/^[\s;]+|[\s;]+$/g, '');
}

export function returnsRows(outline: string): boolean {
  if (/^(?:SELECT|VALUES|PRAGMA|EXPLAIN)\b/i.test(outline) || /\bRETURNING\b/i.test(outline)) return true;
  // REPLACE alone can also be a name or a function.
  return /^WITH\b/i.test(outline) && !/\b(?:INSERT|UPDATE|DELETE|REPLACE\s+INTO)\b/i.test(outline);
}

/** The result of `run()`. */
export interface SqliteChanges {
  readonly changes: number;
  /** The id of the row that this connection inserted last. */
  readonly lastInsertRowid: number | bigint;
}

/**
 * A prepared statement with positional parameters. `all`, `get`, `iterate` and `run` throw a `SqliteError` if the
 * statement fails, a `RangeError` if the number of values is wrong, and a `TypeError` if a value cannot be bound.
 */
export class NodeSqliteStatement {
  /** Whether the statement returns rows. If true, use `all()`, otherwise `run()`. */
  readonly reader: boolean;
  /** Assumed of every `WITH`. For statements that change no rows, SQLite reports the rows of the last change. */
  private readonly changesRows: boolean;
  /** Null if the parameters have numbers or names. */
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
    const row = this.execute(values, (bound) => this.statement.get(...bound));
    return row && toPlainRow(row);
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

  private execute<Result>(values: unknown[], execute: (bound: SqliteValue[]) => Result): Result {
    const bound = this.checkedValues(values);
    return withSqliteErrors(() => execute(bound));
  }

  /** Checks the values, because node:sqlite reads a missing one as NULL, and a first object as named parameters. */
  private checkedValues(values: unknown[]): SqliteValue[] {
    const count = this.parameterCount;
    if (count !== null && values.length !== count)
      throw new RangeError(`The number of values is ${values.length}, the number of parameters is ${count}.`);
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

/** Converts a row to the form of better-sqlite3, an ordinary object with a Buffer for each blob. */
function toPlainRow(row: SqliteRow): SqliteRow {
  const copy = { ...row };
  for (const [column, value] of Object.entries(copy)) {
    if (ArrayBuffer.isView(value)) copy[column] = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  }
  return copy;
}
