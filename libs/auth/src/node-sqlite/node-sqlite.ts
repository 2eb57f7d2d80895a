import { existsSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { type BuiltinStatement, NodeSqliteStatement, outlineOf, SqliteError, withSqliteErrors } from './statement';

/** The part of `DatabaseSync` that the driver uses. The types of Node.js 20 do not declare it. */
interface BuiltinDatabase {
  /** Undefined before Node.js 22.16, and in 23. */
  readonly isTransaction?: boolean;
  prepare(sql: string): BuiltinStatement;
  exec(sql: string): void;
  close(): void;
}

/** Returns whether this version of Node.js has `node:sqlite`: 22.13 and later, except 23.0 to 23.3. */
export function hasNodeSqlite(): boolean {
  return isBuiltin('node:sqlite');
}

function openBuiltin(path: string, options: { readonly readOnly: boolean }): BuiltinDatabase {
  if (!hasNodeSqlite()) {
    throw new Error(
      `Node ${process.versions.node} has no node:sqlite. Use Node 22.13 or later, or install better-sqlite3 ` +
        '(npm install better-sqlite3@12) and remove `driver` from the options of the DataSource.',
    );
  }
  type Open = new (path: string, options: { readonly readOnly: boolean }) => BuiltinDatabase;
  // Bundlers and test runners that do not know the module would refuse `import` and `require`.
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite') as unknown as { readonly DatabaseSync: Open };
  return withSqliteErrors(() => new DatabaseSync(path, options));
}

/** The options of a connection, which TypeORM passes from those of its type `better-sqlite3`. */
export interface NodeSqliteOptions {
  /** Whether the connection is read-only. Default: false. */
  readonly readonly?: boolean;
  /** Whether a missing file is an error. If not, the file is created, unless `readonly` is set. Default: false. */
  readonly fileMustExist?: boolean;
  /** How long a statement waits for the lock of another connection, in milliseconds. Default: 5000. */
  readonly timeout?: number;
  /** Not supported, like `nativeBinding`. The constructor throws if one of them is set. */
  readonly verbose?: unknown;
  readonly nativeBinding?: unknown;
}

const MAX_TIMEOUT = 0x7f_ff_ff_ff;

/** TypeORM before 0.3.28 calls a driver without `new`. */
const callable = <T extends new (...args: never[]) => object>(driver: T): T =>
  new Proxy(driver, { apply: (target, _, args) => Reflect.construct(target, args) as object });

function refuseUnsupported({ verbose, nativeBinding }: NodeSqliteOptions, timeout: number): void {
  if (verbose) {
    throw new Error('`verbose` is not supported on node:sqlite: set `logging: true` in the options of the DataSource.');
  }
  if (nativeBinding) throw new Error('`nativeBinding` is not supported on node:sqlite: remove it.');
  if (!Number.isInteger(timeout) || timeout < 0 || timeout > MAX_TIMEOUT) {
    throw new TypeError(`timeout is ${timeout}. Set a whole number of milliseconds from 0 to ${MAX_TIMEOUT}.`);
  }
}

/**
 * A driver that runs TypeORM's type `better-sqlite3` on `node:sqlite`, without a native module:
 * `{ type: 'better-sqlite3', driver: NodeSqlite, database: 'app.sqlite' }`. `docs/sqlite.md` describes the differences.
 */
@callable
export class NodeSqlite {
  private readonly database: BuiltinDatabase;
  private isOpen = true;

  /** Opens a connection. @throws SqliteError if the file cannot be opened */
  constructor(path: string, options: NodeSqliteOptions = {}) {
    const { readonly = false, fileMustExist = false, timeout = 5_000 } = options;
    refuseUnsupported(options, timeout);
    const isInMemory = path === '' || path === ':memory:';
    if (readonly && isInMemory) throw new TypeError('An in-memory database cannot be `readonly`. Open a file.');
    if (fileMustExist && !isInMemory && !existsSync(path)) {
      throw new SqliteError('unable to open database file', 'SQLITE_CANTOPEN');
    }
    this.database = openBuiltin(path, { readOnly: readonly });
    // The option `timeout` of `DatabaseSync` is missing in older versions, such as Node.js 22.15.
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

  /** Compiles one statement. @throws RangeError if the SQL contains no statement, or more than one */
  prepare(sql: string): NodeSqliteStatement {
    this.assertOpen();
    const outline = outlineOf(sql);
    if (outline === '') throw new RangeError('The SQL contains no statement.');
    const statement = withSqliteErrors(() => this.database.prepare(sql));
    // SQLite would ignore the statements after the first.
    if (outlineOf(sql.slice(statement.sourceSQL.length))) throw new RangeError('The SQL contains several statements.');
    return new NodeSqliteStatement(statement, outline);
  }

  /** Runs statements without parameters or results. If one fails, those before it have run. */
  exec(sql: string): this {
    this.assertOpen();
    withSqliteErrors(() => this.database.exec(sql));
    return this;
  }

  /** Reads or sets a pragma. Returns its rows, or with `simple` the first value. Throws for encryption keys. */
  pragma(source: string, { simple = false }: { readonly simple?: boolean } = {}): unknown {
    if (/^\s*(?:hex)?(?:re)?key\b/i.test(source)) {
      throw new Error('node:sqlite cannot encrypt a database. Use a build of better-sqlite3 with SQLCipher.');
    }
    const rows = this.prepare(`PRAGMA ${source}`).all();
    return simple ? Object.values(rows[0] ?? {})[0] : rows;
  }

  /** Closes the connection. Its methods then throw a `TypeError`. */
  close(): this {
    if (this.isOpen) this.database.close();
    this.isOpen = false;
    return this;
  }

  private assertOpen(): void {
    if (!this.isOpen) throw new TypeError('The database connection is not open');
  }

  /** In older versions of Node.js, only an attempt to begin a transaction shows whether one is open. */
  private refusesToBegin(): boolean {
    try {
      this.database.exec('BEGIN; COMMIT');
      return false;
    } catch {
      return true;
    }
  }
}
