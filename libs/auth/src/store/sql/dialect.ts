import type { DataSource } from 'typeorm';

/** The three ways in which the supported databases differ in what they are told. */
export type Dialect = 'sqlite' | 'postgres' | 'mysql';

const DIALECTS = new Map<string, Dialect>([
  ['better-sqlite3', 'sqlite'],
  ['postgres', 'postgres'],
  ['mysql', 'mysql'],
  ['mariadb', 'mysql'],
]);

/** The dialect of the host's DataSource; undefined for a database that is not supported. */
export function dialectOf(dataSource: DataSource): Dialect | undefined {
  return DIALECTS.get(dataSource.options.type);
}

/** Locks the rows that are read. SQLite has one writer at a time and no such clause. */
export function forUpdate(dialect: Dialect): string {
  return dialect === 'sqlite' ? '' : 'FOR UPDATE';
}

/** The same, passing over rows that somebody else has locked: nothing waits. PostgreSQL 9.5, MySQL 8.0.1, MariaDB 10.6. */
export function forUpdateOfFree(dialect: Dialect): string {
  return dialect === 'sqlite' ? '' : 'FOR UPDATE SKIP LOCKED';
}

/** What follows an INSERT whose row may be there already: the given assignments are made to it instead. */
export function onDuplicate(dialect: Dialect, key: string, assignments: string): string {
  return dialect === 'mysql'
    ? `ON DUPLICATE KEY UPDATE ${assignments}`
    : `ON CONFLICT (${key}) DO UPDATE SET ${assignments}`;
}
