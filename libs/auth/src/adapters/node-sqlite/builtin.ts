import { isBuiltin } from 'node:module';

/** A row, by column. */
export type SqliteRow = Record<string, unknown>;

/** A value that can be bound to a parameter. */
export type SqliteValue = null | number | bigint | string | ArrayBufferView;

/** The part of a `DatabaseSync` that the driver uses. The types of Node.js 20 do not declare `DatabaseSync`. */
export interface BuiltinDatabase {
  /** Whether a transaction is open. Undefined before Node.js 22.16, and in 23. */
  readonly isTransaction?: boolean;
  prepare(sql: string): BuiltinStatement;
  exec(sql: string): void;
  function(name: string, options: object, implementation: (...values: never[]) => unknown): void;
  close(): void;
}

/** The part of a `StatementSync` that the driver uses. */
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

interface Builtin {
  readonly DatabaseSync: new (path: string, options: { readonly readOnly: boolean }) => BuiltinDatabase;
}

/**
 * Returns whether this version of Node.js has `node:sqlite`: 22.13 and later, except 23.0 to 23.3. Does not load the
 * module. An application that also runs on other versions sets `driver: hasNodeSqlite() ? NodeSqlite : undefined`.
 */
export function hasNodeSqlite(): boolean {
  return isBuiltin('node:sqlite');
}

/** Loads `node:sqlite`. @throws Error if this version of Node.js lacks the module */
export function loadNodeSqlite(): Builtin {
  if (!hasNodeSqlite()) {
    throw new Error(
      `Node ${process.versions.node} has no node:sqlite. Use Node 22.13 or later, or install better-sqlite3 ` +
        '(npm install better-sqlite3@12) and remove `driver` from the options of the DataSource.',
    );
  }
  // `import` and `require` could fail, because bundlers and test runners do not know the module, and older
  // versions of Node.js lack it.
  return process.getBuiltinModule('node:sqlite') as unknown as Builtin;
}
