import { NodeSqlite } from 'nestjs-session-auth/node-sqlite';
import { SQLITE_DRIVER } from '../../../test/support/sqlite';
import { loadPeer } from './peer';

/** The part of better-sqlite3 that is used here. The package has no types. */
export interface SqliteDatabase {
  prepare(sql: string): SqliteStatement;
  close(): unknown;
}

interface SqliteStatement {
  /** Whether the statement returns rows. */
  readonly reader: boolean;
  all(...values: unknown[]): readonly Readonly<Record<string, unknown>>[];
  run(...values: unknown[]): unknown;
}

export function openSqliteFile(file: string): SqliteDatabase {
  if (SQLITE_DRIVER === 'node:sqlite') return new NodeSqlite(file);
  const Database = loadPeer<new (file: string) => SqliteDatabase>('better-sqlite3');
  return new Database(file);
}
