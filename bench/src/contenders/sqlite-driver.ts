import { loadPeer } from './peer';

/** As much of better-sqlite3 as is used here: it brings no types along. */
export interface SqliteDatabase {
  prepare(sql: string): SqliteStatement;
  close(): void;
}

interface SqliteStatement {
  /** Whether it gives rows. */
  readonly reader: boolean;
  all(...values: unknown[]): readonly Readonly<Record<string, unknown>>[];
  run(...values: unknown[]): unknown;
}

export function openSqliteFile(file: string): SqliteDatabase {
  const Database = loadPeer<new (file: string) => SqliteDatabase>('better-sqlite3');
  return new Database(file);
}
