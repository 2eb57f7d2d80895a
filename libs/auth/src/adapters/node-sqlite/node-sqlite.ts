import { existsSync } from 'node:fs';
import { loadNodeSqlite, type BuiltinDatabase, type SqliteRow } from './builtin';
import { SqlText } from './sql-text';
import { SqliteError, translated } from './sqlite-error';
import { NodeSqliteStatement } from './statement';

/** The options of a connection, which TypeORM passes on from those of its `better-sqlite3` type. */
export interface NodeSqliteOptions {
  /** Whether writing fails. Default: false. */
  readonly readonly?: boolean;
  /** Whether a missing file is an error, and not created. Default: false. */
  readonly fileMustExist?: boolean;
  /** How long a statement waits for the lock of another connection, in milliseconds. Default: 5000. */
  readonly timeout?: number;
  /** Not supported. */
  readonly verbose?: unknown;
  /** Not supported. */
  readonly nativeBinding?: unknown;
}

/** How a function of SQL is registered. */
export interface SqliteFunctionOptions {
  /** Whether the same arguments always have the same result. Default: false. */
  readonly deterministic?: boolean;
  /** Whether triggers, views and the schema may not call it. Default: false. */
  readonly directOnly?: boolean;
  /** Whether it takes any number of arguments. Default: false, as many as the function declares. */
  readonly varargs?: boolean;
  /** Whether integer arguments are passed as `bigint`. Default: what `defaultSafeIntegers()` set, false. */
  readonly safeIntegers?: boolean;
}

/** The implementation of a function of SQL. */
export type SqliteFunction = (...values: never[]) => unknown;

/** Instead of what is not supported. */
const INSTEAD: Readonly<Record<string, string>> = {
  verbose: 'set `logging: true` in the options of the DataSource',
  nativeBinding: 'remove it, there is no binary to find',
};

const LONGEST_TIMEOUT_MS = 0x7f_ff_ff_ff;

/**
 * Lets TypeORM's `better-sqlite3` type run on Node's own `node:sqlite`, so that nothing has to be compiled:
 * `{ type: 'better-sqlite3', driver: NodeSqlite, database: 'app.sqlite' }`. From Node 22.13 on.
 *
 * An instance is a connection with the methods of better-sqlite3 that TypeORM and this library use, and `function()`. The
 * others throw. Errors have better-sqlite3's codes, and rows are ordinary objects. Unlike with better-sqlite3, `synchronous` is
 * SQLite's own default, `FULL`, in WAL mode as well, and an integer beyond 2^53 throws where it would be rounded.
 */
export class NodeSqlite {
  private readonly database: BuiltinDatabase;
  private isOpen = true;
  private readsBigInts = false;

  /**
   * @throws Error on a Node without `node:sqlite`, and for options that are not supported
   * @throws SqliteError where the file cannot be opened
   */
  constructor(path: string, options: NodeSqliteOptions = {}) {
    const { readonly = false, fileMustExist = false, timeout = 5_000 } = options;
    for (const [option, instead] of Object.entries(INSTEAD)) {
      if (options[option as keyof NodeSqliteOptions]) {
        throw new Error(`\`${option}\` is not supported on node:sqlite: ${instead}.`);
      }
    }
    if (!Number.isInteger(timeout) || timeout < 0 || timeout > LONGEST_TIMEOUT_MS) {
      throw new TypeError(
        `timeout is ${timeout}; write a whole number of milliseconds from 0 to ${LONGEST_TIMEOUT_MS}`,
      );
    }
    const isInMemory = path === '' || path === ':memory:';
    if (readonly && isInMemory) throw new TypeError('A database in memory cannot be `readonly`.');
    if (fileMustExist && !isInMemory && !existsSync(path)) {
      throw new SqliteError('unable to open database file', 'SQLITE_CANTOPEN');
    }
    const { DatabaseSync } = loadNodeSqlite();
    this.database = attempt(() => new DatabaseSync(path, { readOnly: readonly }));
    // Node has an option for it from 22.16 on.
    this.exec(`PRAGMA busy_timeout = ${timeout}`);
  }

  /** Whether the connection is open. */
  get open(): boolean {
    return this.isOpen;
  }

  /** Whether a transaction is open. */
  get inTransaction(): boolean {
    return this.isOpen && (this.database.isTransaction ?? this.refusesToBegin());
  }

  /**
   * Compiles one statement.
   * @throws SqliteError where it is wrong
   * @throws RangeError where there is none, or more than one
   */
  prepare(sql: string): NodeSqliteStatement {
    this.assertOpen();
    const text = new SqlText(sql);
    if (text.isEmpty) throw new RangeError('The SQL contains no statement.');
    const statement = attempt(() => this.database.prepare(sql));
    // The rest would be ignored.
    if (!new SqlText(sql.slice(statement.sourceSQL.length)).isEmpty) {
      throw new RangeError('The SQL contains more than one statement.');
    }
    if (this.readsBigInts) statement.setReadBigInts(true);
    return new NodeSqliteStatement(statement, text);
  }

  /**
   * Runs any number of statements, without parameters and results.
   * @throws SqliteError where one fails; those before it are done
   */
  exec(sql: string): this {
    this.assertOpen();
    attempt(() => this.database.exec(sql));
    return this;
  }

  /**
   * Reads or sets a pragma: its rows, or with `simple` the first value.
   * @throws Error for the key of an encrypted database, which SQLite would ignore
   */
  pragma(source: string, { simple = false }: { readonly simple?: boolean } = {}): unknown {
    if (/^\s*(?:hex)?(?:re)?key\b/i.test(source)) {
      throw new Error('node:sqlite cannot encrypt a database: `key` needs a build of better-sqlite3 with SQLCipher.');
    }
    const rows = this.prepare(`PRAGMA ${source}`).all();
    return simple ? firstValue(rows) : rows;
  }

  /** Registers a function of SQL. */
  function(name: string, implementation: SqliteFunction): this;
  function(name: string, options: SqliteFunctionOptions, implementation: SqliteFunction): this;
  function(name: string, given: SqliteFunctionOptions | SqliteFunction, implementation?: SqliteFunction): this {
    this.assertOpen();
    const [options, body] = typeof given === 'function' ? [{}, given] : [given, implementation!];
    const { safeIntegers = this.readsBigInts, ...others } = options;
    attempt(() => this.database.function(name, { ...others, useBigIntArguments: safeIntegers }, body));
    return this;
  }

  /** Whether statements that are prepared from now on return integers as `bigint`. */
  defaultSafeIntegers(enabled = true): this {
    this.readsBigInts = enabled;
    return this;
  }

  /** Closes the connection, if it is open. */
  close(): this {
    if (this.isOpen) this.database.close();
    this.isOpen = false;
    return this;
  }

  private assertOpen(): void {
    if (!this.isOpen) throw new TypeError('The database connection is not open');
  }

  /** Before Node 22.16 only an attempt shows it. An empty transaction takes no lock. */
  private refusesToBegin(): boolean {
    try {
      this.database.exec('BEGIN; COMMIT');
      return false;
    } catch {
      return true;
    }
  }
}

/** What better-sqlite3 has besides. Without this the error would be "is not a function". */
for (const name of ['aggregate', 'backup', 'loadExtension', 'serialize', 'table', 'transaction', 'unsafeMode']) {
  Object.defineProperty(NodeSqlite.prototype, name, {
    value(): never {
      throw new Error(`${name}() is not supported on node:sqlite: use better-sqlite3 where you need it.`);
    },
  });
}

function attempt<Result>(action: () => Result): Result {
  try {
    return action();
  } catch (error) {
    throw translated(error);
  }
}

function firstValue([row]: readonly SqliteRow[]): unknown {
  return Object.values(row ?? {})[0];
}
