import type { DataSource } from 'typeorm';
import type { Query } from './transaction';

export type Dialect = 'sqlite' | 'postgres' | 'mysql';

/** Returns the dialect of a DataSource, or undefined if its database is not supported. */
export function dialectOf({ options: { type } }: DataSource): Dialect | undefined {
  if (type === 'better-sqlite3') return 'sqlite';
  if (type === 'mysql' || type === 'mariadb') return 'mysql';
  return type === 'postgres' ? type : undefined;
}

/** SQLite needs no row locks: only one transaction writes at a time. */
export function forUpdate(dialect: Dialect): string {
  return dialect === 'sqlite' ? '' : 'FOR UPDATE';
}

/** Like `forUpdate`, but skips rows that other transactions have locked. Requires MySQL 8.0.1 or MariaDB 10.6. */
export function forUpdateSkipLocked(dialect: Dialect): string {
  return dialect === 'sqlite' ? '' : 'FOR UPDATE SKIP LOCKED';
}

/** Returns statements between which a statement fails if it waits two seconds for a locked row or table. */
export function withLockTimeout(dialect: Dialect): { readonly begin: Query[]; readonly end: Query[] } {
  if (dialect === 'sqlite') return { begin: [], end: [] };
  // SET LOCAL ends with the transaction.
  if (dialect === 'postgres') return { begin: [{ sql: `SET LOCAL lock_timeout = '2s'` }], end: [] };
  // lock_wait_timeout applies to tables, innodb_lock_wait_timeout to rows.
  const begin = `SET @auth_lock_wait = @@lock_wait_timeout, @auth_row_lock_wait = @@innodb_lock_wait_timeout,
    lock_wait_timeout = 2, innodb_lock_wait_timeout = 2`;
  const end = 'SET lock_wait_timeout = @auth_lock_wait, innodb_lock_wait_timeout = @auth_row_lock_wait';
  return { begin: [{ sql: begin }], end: [{ sql: end }] };
}

/**
 * Returns a condition with which a statement of PostgreSQL that commits itself fails (division by zero) after its
 * deadline, because its caller has received an error by then. Closing the connection does not stop a wait for a lock.
 * The time that the statement needs to arrive is not covered.
 * @param after the part of the statement after which the database evaluates the condition
 */
export function failIfDeadlinePassed(after: string): string {
  const isInTime = `clock_timestamp() < now() + CAST(:remainingMs AS integer) * INTERVAL '1 millisecond'`;
  return `CASE WHEN (SELECT COUNT(*) FROM ${after}) >= 0 THEN 1 / CASE WHEN ${isInTime} THEN 1 ELSE 0 END = 1 END`;
}

/** Returns a condition that compares two texts byte by byte, whatever their collations are, without an index. */
export function isSameText(dialect: Dialect, left: string, right: string): string {
  if (dialect === 'postgres') return `CAST(${left} AS text) COLLATE "C" = CAST(${right} AS text)`;
  const bytes = (text: string): string =>
    dialect === 'sqlite' ? `CAST(${text} AS BLOB)` : `CAST(CONVERT(${text} USING utf8mb4) AS BINARY)`;
  return `${bytes(left)} = ${bytes(right)}`;
}

/** Returns the clause of an INSERT that updates the row if its key already exists. */
export function onDuplicate(dialect: Dialect, key: string, assignments: string): string {
  return dialect === 'mysql'
    ? `ON DUPLICATE KEY UPDATE ${assignments}`
    : `ON CONFLICT (${key}) DO UPDATE SET ${assignments}`;
}

export function least(dialect: Dialect, ...expressions: readonly string[]): string {
  return `${dialect === 'sqlite' ? 'MIN' : 'LEAST'}(${expressions.join(', ')})`;
}

export function greatest(dialect: Dialect, ...expressions: readonly string[]): string {
  return `${dialect === 'sqlite' ? 'MAX' : 'GREATEST'}(${expressions.join(', ')})`;
}

/** Returns an expression for the value of a column in the row that the INSERT with `onDuplicate` tried to insert. */
export function incomingValue(dialect: Dialect, column: string): string {
  return dialect === 'mysql' ? `VALUES(${column})` : `excluded.${column}`;
}

/**
 * Selects the keys, which are columns or (PostgreSQL) expressions, separated by commas, and the condition of each unique
 * index of a table with one or two keys.
 */
export const UNIQUE_INDEXES: Readonly<Record<Dialect, (keys: 1 | 2) => string>> = {
  sqlite: (keys) => `SELECT
      (SELECT GROUP_CONCAT(c.name) FROM pragma_index_info(i.name) c HAVING COUNT(*) = ${keys}) AS name, CASE i.partial WHEN 1
      THEN (SELECT substr(sql, instr(upper(sql), ' WHERE ') + 7) FROM sqlite_master m WHERE m.name = i.name) END AS predicate
    FROM pragma_index_list(:table) i WHERE i."unique" = 1`,
  postgres: (keys) => `SELECT concat_ws(',', pg_get_indexdef(indexrelid, 1, true)
      ${keys === 2 ? ', pg_get_indexdef(indexrelid, 2, true)' : ''}) AS name, pg_get_expr(indpred, indrelid) AS predicate
    FROM pg_index WHERE indrelid = to_regclass(:path) AND indisunique AND indisvalid AND indnkeyatts = ${keys}`,
  mysql: (keys) => `SELECT GROUP_CONCAT(column_name) AS name, NULL AS predicate FROM information_schema.statistics
    WHERE table_schema = :schema AND table_name = :table AND non_unique = 0 GROUP BY index_name HAVING COUNT(*) = ${keys}`,
};
