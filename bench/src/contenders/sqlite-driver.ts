import { loadPeer } from './peer';

/** The part of better-sqlite3 that is used here; the package has no types. */
export interface SqliteDatabase {
  prepare(sql: string): SqliteStatement;
  close(): void;
}

interface SqliteStatement {
  /** Whether it returns rows. */
  readonly reader: boolean;
  all(...values: unknown[]): readonly Readonly<Record<string, unknown>>[];
  run(...values: unknown[]): unknown;
}

export function openSqliteFile(file: string): SqliteDatabase {
  const Database = loadPeer<new (file: string) => SqliteDatabase>('better-sqlite3');
  return new Database(file);
}
