import { isBuiltin } from 'node:module';

/** A row, by column. */
export type SqliteRow = Record<string, unknown>;

/** What can be bound to a parameter. */
export type SqliteValue = null | number | bigint | string | ArrayBufferView;

/** The part of a `DatabaseSync` that is used. The types of Node 20, which are compiled against, do not have it. */
export interface BuiltinDatabase {
  /** From Node 22.16 on. */
  readonly isTransaction?: boolean;
  prepare(sql: string): BuiltinStatement;
  exec(sql: string): void;
  function(name: string, options: object, implementation: (...values: never[]) => unknown): void;
  close(): void;
}

/** The part of a `StatementSync` that is used. */
export interface BuiltinStatement {
  /** The text of this statement alone, without what follows it. */
  readonly sourceSQL: string;
  /** From Node 22.16 on. */
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
 * Whether this Node has `node:sqlite`: from 22.13 on. It is not loaded. For applications that also run on older ones:
 * `driver: hasNodeSqlite() ? NodeSqlite : undefined`.
 */
export function hasNodeSqlite(): boolean {
  return isBuiltin('node:sqlite');
}

/** @throws Error on a Node without it, with what to do */
export function loadNodeSqlite(): Builtin {
  if (!hasNodeSqlite()) {
    throw new Error(
      `Node ${process.versions.node} has no node:sqlite. Use Node 22.13 or later, or install better-sqlite3 ` +
        '(npm install better-sqlite3@12) and remove `driver` from the options of the DataSource.',
    );
  }
  // Neither `import` nor `require`: bundlers and test runners do not know the module, and older Nodes do not have it.
  return process.getBuiltinModule('node:sqlite') as unknown as Builtin;
}
