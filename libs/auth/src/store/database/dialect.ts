import type { DataSource } from 'typeorm';
import type { Query } from './transaction';

/** The three dialects of SQL among the supported databases. */
export type Dialect = 'sqlite' | 'postgres' | 'mysql';

const DIALECTS: Partial<Record<DataSource['options']['type'], Dialect>> = {
  'better-sqlite3': 'sqlite',
  postgres: 'postgres',
  mysql: 'mysql',
  mariadb: 'mysql',
};

/** The dialect of a DataSource, or undefined for a database that is not supported. */
export function dialectOf(dataSource: DataSource): Dialect | undefined {
  return DIALECTS[dataSource.options.type];
}

/** Locks the rows that are read. SQLite has one writer at a time and no such clause. */
export function forUpdate(dialect: Dialect): string {
  return dialect === 'sqlite' ? '' : 'FOR UPDATE';
}

/** The same, skipping rows that others have locked: nothing waits. PostgreSQL 9.5, MySQL 8.0.1, MariaDB 10.6. */
export function forUpdateSkipLocked(dialect: Dialect): string {
  return dialect === 'sqlite' ? '' : 'FOR UPDATE SKIP LOCKED';
}

/**
 * Reads rows that the transaction has locked by its own writes as they are, not as of a snapshot from before the lock, which
 * is what MySQL and MariaDB read at REPEATABLE READ where the write changed no value. Others need nothing for it.
 */
export function readLocked(dialect: Dialect): string {
  return dialect === 'mysql' ? 'FOR UPDATE' : '';
}

/**
 * Makes the statements between `begin` and `end` fail, rather than wait, after two seconds before a locked row or table.
 * SQLite waits for nothing.
 */
export function withLockTimeout(dialect: Dialect): { readonly begin: Query[]; readonly end: Query[] } {
  const query = (sql: string): Query => ({ sql, params: [] });
  if (dialect === 'sqlite') return { begin: [], end: [] };
  // The setting of a transaction ends with it.
  if (dialect === 'postgres') return { begin: [query(`SET LOCAL lock_timeout = '2s'`)], end: [] };
  return {
    // One is for tables that are locked, the other for rows.
    begin: [
      query(
        `SET @auth_lock_wait = @@lock_wait_timeout, @auth_row_lock_wait = @@innodb_lock_wait_timeout,
           lock_wait_timeout = 2, innodb_lock_wait_timeout = 2`,
      ),
    ],
    end: [query('SET lock_wait_timeout = @auth_lock_wait, innodb_lock_wait_timeout = @auth_row_lock_wait')],
  };
}

/** The column that reports the time of the database, in milliseconds (PostgreSQL). `ServerClock` reads it. */
export const SERVER_NOW = 'CAST(extract(epoch FROM clock_timestamp()) * 1000 AS double precision) AS server_now';

/**
 * A condition that makes a statement fail as a whole (by a division by zero) if it runs past its deadline, when its caller
 * has had an error. It is evaluated after the parts of the statement that `done` names (PostgreSQL).
 *
 * A statement outside of a transaction is its own COMMIT, and one that waits for a lock continues whether its connection
 * still exists or not.
 */
export function failIfDeadlinePassed(done: readonly string[]): string {
  const all = done.map((table) => `(SELECT COUNT(*) FROM ${table})`).join(' + ');
  const byDuration = `now() + CAST(:remainingMs AS integer) * INTERVAL '1 millisecond'`;
  // For a statement that waited in the connection of a frozen server: there its time begins when the server goes on.
  const byClock = `to_timestamp(CAST(:deadlineAt AS double precision) / 1000)`;
  // NULL is the least of no values.
  const isInTime = `clock_timestamp() < LEAST(${byDuration}, ${byClock})`;
  return `CASE WHEN ${all} >= 0 THEN 1 / CASE WHEN ${isInTime} THEN 1 ELSE 0 END = 1 END`;
}

/**
 * The two keys of a login attempt for an IN, whose rows are locked in the order that all transactions keep: first that of
 * the network, then that of the account. PostgreSQL would take them in the order it finds them and risk a deadlock.
 */
export function failureKeysInLockOrder(dialect: Dialect): string {
  const keys = ':network, :account';
  if (dialect !== 'postgres') return keys;
  return `SELECT {failure.key} FROM {failure} WHERE {failure.key} IN (${keys}) ORDER BY {failure.key} = :account FOR UPDATE`;
}

/** Whether two texts are equal byte by byte, whatever their collations take for equal. No index serves it. */
export function isSameText(dialect: Dialect, one: string, other: string): string {
  if (dialect === 'postgres') return `CAST(${one} AS text) COLLATE "C" = CAST(${other} AS text)`;
  const bytes = (text: string): string =>
    dialect === 'sqlite' ? `CAST(${text} AS BLOB)` : `CAST(CONVERT(${text} USING utf8mb4) AS BINARY)`;
  return `${bytes(one)} = ${bytes(other)}`;
}

/** What follows an INSERT whose row may be there already: the given assignments are made to it instead. */
export function onDuplicate(dialect: Dialect, key: string, assignments: string): string {
  return dialect === 'mysql'
    ? `ON DUPLICATE KEY UPDATE ${assignments}`
    : `ON CONFLICT (${key}) DO UPDATE SET ${assignments}`;
}

/** The smallest of the expressions. */
export function least(dialect: Dialect, ...expressions: readonly string[]): string {
  return `${dialect === 'sqlite' ? 'MIN' : 'LEAST'}(${expressions.join(', ')})`;
}

/** The largest of the expressions. */
export function greatest(dialect: Dialect, ...expressions: readonly string[]): string {
  return `${dialect === 'sqlite' ? 'MAX' : 'GREATEST'}(${expressions.join(', ')})`;
}

/** The value of a column in the row that the INSERT before `onDuplicate` would have added. */
export function incomingValue(dialect: Dialect, column: string): string {
  return dialect === 'mysql' ? `VALUES(${column})` : `excluded.${column}`;
}
