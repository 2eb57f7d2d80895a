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

/**
 * A condition that lets a statement fail as a whole, with a division by zero, where it was held up until its caller has been
 * told that the database does not answer. It is looked at when everything of it is done that `done` names; PostgreSQL.
 *
 * A statement outside of a transaction is its own COMMIT, and one that waits for a lock goes on whether its connection is still
 * there or not.
 */
export function unlessLate(done: readonly string[]): string {
  const all = done.map((table) => `(SELECT COUNT(*) FROM ${table})`).join(' + ');
  const isInTime = `clock_timestamp() < now() + CAST(:timeLeft AS integer) * INTERVAL '1 millisecond'`;
  return `CASE WHEN ${all} >= 0 THEN 1 / CASE WHEN ${isInTime} THEN 1 ELSE 0 END = 1 END`;
}

/**
 * The two keys of an attempt for an IN, whose rows are locked in the order of all units: that of the network, then that of
 * the name. PostgreSQL would take them as they lie, and two that take them crosswise wait a second for one to be given up.
 */
export function failuresInOrder(dialect: Dialect, network: string, name: string): string {
  const keys = `${network}, ${name}`;
  if (dialect !== 'postgres') return keys;
  return `SELECT {failure.key} FROM {failure} WHERE {failure.key} IN (${keys}) ORDER BY {failure.key} = ${name} FOR UPDATE`;
}

/** What follows an INSERT whose row may be there already: the given assignments are made to it instead. */
export function onDuplicate(dialect: Dialect, key: string, assignments: string): string {
  return dialect === 'mysql'
    ? `ON DUPLICATE KEY UPDATE ${assignments}`
    : `ON CONFLICT (${key}) DO UPDATE SET ${assignments}`;
}
