// The entry point for SQLite without a native module:
// `import { NodeSqlite } from 'nestjs-session-auth/node-sqlite'`.
export { hasNodeSqlite, NodeSqlite } from './node-sqlite';
export type { NodeSqliteOptions, SqliteFunction, SqliteFunctionOptions } from './node-sqlite';
export { type NodeSqliteStatement, type SqliteChanges, SqliteError, type SqliteRow } from './statement';
