// The entry point `nestjs-session-auth/node-sqlite`: SQLite without a native module.
export { hasNodeSqlite, NodeSqlite, type NodeSqliteOptions } from './node-sqlite';
export { type NodeSqliteStatement, type SqliteChanges, SqliteError, type SqliteRow } from './statement';
