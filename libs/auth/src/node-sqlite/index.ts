// The entry point `nestjs-session-auth/node-sqlite`: SQLite without a native module.
export { hasNodeSqlite, NodeSqlite } from './node-sqlite';
export type { NodeSqliteOptions, SqliteFunction, SqliteFunctionOptions } from './node-sqlite';
export { type NodeSqliteStatement, type SqliteChanges, SqliteError, type SqliteRow } from './statement';
