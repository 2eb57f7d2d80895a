import { QueryFailedError } from 'typeorm';
import { describeDriverError, driverCode } from '../../domain/driver-error';
import { AuthError, databaseUnavailable } from '../../domain/errors';
import type { FailureKind, NotWritableKind } from '../../domain/metrics';

/** What callers get for every failure of the database, with its kind. */
export class DatabaseUnavailableError extends AuthError {
  constructor(readonly kind: FailureKind) {
    const { code, message, fields, retryAfterSeconds } = databaseUnavailable();
    super(code, message, fields, retryAfterSeconds);
  }
}

/** What went wrong with a COMMIT. Without an answer to it nobody knows whether it was done. */
export class CommitError extends Error {
  constructor(override readonly cause: unknown) {
    super('COMMIT failed');
  }
}

/** The event log is locked: it does no good to try again. */
export class LogLockedError extends Error {
  override readonly name = 'LogLockedError';
}

const CONFLICT = 'CONFLICT';

/**
 * A row changed after the transaction had read it, although the row was locked: not every database that is distributed holds
 * such locks until the end of the transaction. It is rolled back and run again.
 */
export class ConflictError extends Error {
  override readonly name = 'ConflictError';
  readonly code = CONFLICT;

  constructor() {
    super('A row changed after it was read.');
  }
}

/** A server that answered says of itself that it takes no writes. */
export class NotWritableError extends Error {
  override readonly name = 'NotWritableError';

  constructor(readonly code: NotWritableKind) {
    super('The server takes no writes.');
  }
}

/**
 * PostgreSQL: serialization failure, deadlock. MySQL, MariaDB: deadlock, lock wait, a conflict within a replication group.
 * Galera reports a failed certification as a deadlock. SQLite: another writer. On any of them: a condition that does not hold
 * any more.
 */
const CONFLICTS = new Set([
  ...['40001', '40P01', '1213', '1205', '3101', 'SQLITE_BUSY', 'SQLITE_BUSY_SNAPSHOT'],
  CONFLICT,
]);

const DUPLICATE = new Set(['23505', '1062', 'SQLITE_CONSTRAINT_UNIQUE', 'SQLITE_CONSTRAINT_PRIMARYKEY']);

/**
 * The server takes no writes for now, while another one may. Nothing of the statement was done, if it was a COMMIT either.
 * PostgreSQL: a read-only transaction, a server that starts or stops. MySQL, MariaDB: `read_only`, a read-only transaction,
 * InnoDB read-only; offline, without its replication group. Galera has a code that means something else elsewhere.
 */
const NOT_WRITABLE: Readonly<Record<string, NotWritableKind>> = {
  '25006': 'read_only',
  '1036': 'read_only',
  '1290': 'read_only',
  '1792': 'read_only',
  '1836': 'read_only',
  '57P03': 'not_ready',
  '3032': 'not_ready',
  '3100': 'not_ready',
};
const GALERA_NOT_READY = { code: '1047', message: /^WSREP/ };

/**
 * The server ended the connection (PostgreSQL classes 08 and 57P, 25P03; MySQL 1053, 1927, 4031), or it broke. CockroachDB's
 * 40003 leaves the connection, but not what became of the statement, which is the same.
 */
const ENDED = /^(0800[036]|08P01|25P03|40003|57P0[125]|1053|1927|4031)$/;
const BROKEN =
  /^(CONNECTION_LOST|ECONNRESET|EPIPE|ERR_STREAM_DESTROYED|ETIMEDOUT|PROTOCOL_CONNECTION_LOST|ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)$/;

/** The driver's own code of an error. */
export function failureCode(error: unknown): string {
  return driverCode(sourceOf(error));
}

/** The failure as it may be logged: the code, what the driver names of the schema, and a hint. */
export function describeFailure(error: unknown): string {
  return describeDriverError(sourceOf(error));
}

/** Whether the transaction was rolled back because it conflicted with another one. */
export function isConflict(error: unknown): boolean {
  return CONFLICTS.has(failureCode(error));
}

/** Whether the transaction was rolled back and may succeed when it is run again: it conflicted, or its new key was taken. */
export function isRolledBack(error: unknown): boolean {
  return isConflict(error) || isDuplicate(error);
}

/** Whether the connection broke: what was under way is done or not done, and nobody knows. */
export function isConnectionLost(error: unknown): boolean {
  const code = failureCode(error);
  return ENDED.test(code) || BROKEN.test(code);
}

/** Why the server takes no writes for now, if that is what the error says. */
export function notWritableKind(error: unknown): NotWritableKind | null {
  const source = sourceOf(error);
  if (source instanceof NotWritableError) return source.code;
  const code = failureCode(error);
  if (code === GALERA_NOT_READY.code) {
    return source instanceof Error && GALERA_NOT_READY.message.test(source.message) ? 'not_ready' : null;
  }
  return NOT_WRITABLE[code] ?? null;
}

/** Whether the server takes no writes for now: its connection has to be replaced. */
export function isNotWritable(error: unknown): boolean {
  return notWritableKind(error) !== null;
}

/** Whether a lock was not released in time (PostgreSQL 55P03; MySQL, MariaDB 1205). */
export function isLockTimeout(error: unknown): boolean {
  return ['55P03', '1205'].includes(failureCode(error));
}

/** Whether the deadline passed. */
export function isTimeout(error: unknown): boolean {
  return failureCode(error) === 'TIMEOUT';
}

/** The failure in one of a few words. */
export function failureKind(error: unknown): FailureKind {
  if (isTimeout(error)) return 'timeout';
  const kind = notWritableKind(error);
  if (kind) return kind;
  if (isConnectionLost(error)) return 'connection_lost';
  return isRolledBack(error) ? 'rolled_back' : 'other';
}

/** Whether a row with this key is there already. */
export function isDuplicate(error: unknown): boolean {
  return DUPLICATE.has(failureCode(error));
}

/**
 * Whether a value has characters that the column compared with it cannot have, so that it is in no row. (MySQL, MariaDB: 1267;
 * MySQL for a parameter of a prepared statement: 3988)
 */
export function isUnrepresentable(error: unknown): boolean {
  return ['1267', '3988'].includes(failureCode(error));
}

/** What the driver said, out of what was wrapped around it. */
function sourceOf(error: unknown): unknown {
  if (error instanceof CommitError) return sourceOf(error.cause);
  return error instanceof QueryFailedError ? error.driverError : error;
}
