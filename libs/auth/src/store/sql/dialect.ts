import type { DataSource } from 'typeorm';
import type { Query } from './unit';

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

/**
 * Makes the statements between `begin` and `end` fail, rather than wait, after two seconds before a locked row or table.
 * SQLite waits for nothing.
 */
export function shortWaits(dialect: Dialect): { readonly begin: readonly Query[]; readonly end: readonly Query[] } {
  const query = (sql: string): Query => ({ sql, params: [] });
  if (dialect === 'sqlite') return { begin: [], end: [] };
  // The setting of a transaction ends with it.
  if (dialect === 'postgres') return { begin: [query(`SET LOCAL lock_timeout = '2s'`)], end: [] };
  return {
    begin: [query('SET @auth_lock_wait = @@lock_wait_timeout, lock_wait_timeout = 2')],
    end: [query('SET lock_wait_timeout = @auth_lock_wait')],
  };
}

/** What follows an INSERT whose row may be there already: the given assignments are made to it instead. */
export function onDuplicate(dialect: Dialect, key: string, assignments: string): string {
  return dialect === 'mysql'
    ? `ON DUPLICATE KEY UPDATE ${assignments}`
    : `ON CONFLICT (${key}) DO UPDATE SET ${assignments}`;
}
