import { QueryFailedError } from 'typeorm';
import { AuthError, databaseUnavailable } from '../base/errors';
import { describeDriverError, driverCode } from '../base/failures';
import type { FailureKind, NotWritableKind } from '../base/telemetry';

/** The error that callers receive if an operation of the database fails, with the kind of the failure. */
export class DatabaseUnavailableError extends AuthError {
  constructor(readonly kind: FailureKind) {
    const { code, message, fields, retryAfterSeconds } = databaseUnavailable();
    super(code, message, fields, retryAfterSeconds);
  }
}

/** A failure that the library itself detects. Its code is reported like that of a driver. */
export class DatabaseFailure extends Error {
  constructor(
    readonly code: 'CONFLICT' | 'LOG_LOCKED' | 'TIMEOUT' | 'TRANSACTION_ENDED' | NotWritableKind,
    message: string,
  ) {
    super(message);
  }
}

/** The failure of a COMMIT. If the server did not respond, the outcome is unknown. */
export class CommitError extends Error {
  constructor(override readonly cause: unknown) {
    super('COMMIT failed.');
  }
}

/**
 * PostgreSQL: serialization failure, deadlock, rejected prepared statement in a transaction. MySQL, MariaDB: deadlock
 * (also a failed certification of Galera), lock wait timeout, conflict in a replication group. SQLite: another writer.
 */
const CONFLICTS = new Set([
  ...['40001', '40P01', '25P02', '1213', '1205', '3101', 'SQLITE_BUSY', 'SQLITE_BUSY_SNAPSHOT', 'CONFLICT'],
]);

const DUPLICATES = new Set(['23505', '1062', 'SQLITE_CONSTRAINT_UNIQUE', 'SQLITE_CONSTRAINT_PRIMARYKEY']);

/**
 * The server does not accept writes now, but another server may. The statement was not executed, even if it was a
 * COMMIT. PostgreSQL: read-only transaction, server starting or shutting down. MySQL, MariaDB: `read_only`, read-only
 * transaction, InnoDB in read-only mode, server offline, server not in its replication group.
 */
const NOT_WRITABLE: Readonly<Record<string, NotWritableKind>> = {
  ...{ '25006': 'read_only', '1036': 'read_only', '1290': 'read_only', '1792': 'read_only', '1836': 'read_only' },
  ...{ '57P03': 'not_ready', '3032': 'not_ready', '3100': 'not_ready' },
  ...{ read_only: 'read_only', not_ready: 'not_ready', in_recovery: 'in_recovery' },
};

/**
 * The server closed the connection (PostgreSQL 25P03, 25P04 and some codes of classes 08 and 57; MySQL, MariaDB 1053, 1927,
 * 4031), or the connection broke or could not be opened. CockroachDB's 40003 leaves the connection open, but the
 * outcome of the statement is unknown as well.
 */
const CONNECTION_CLOSED = /^(0800[036]|08P01|25P0[34]|40003|57P0[125]|1053|1927|4031)$/;

const CONNECTION_BROKEN =
  /^(CONNECTION_LOST|ECONNRESET|EPIPE|ERR_STREAM_DESTROYED|ETIMEDOUT|PROTOCOL_CONNECTION_LOST|ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)$/;

/** Returns the driver's code of an error. Without one, returns a code for the error's message, or the error's name. */
export function failureCode(error: unknown): string {
  return driverCode(unwrap(error));
}

/** Describes the failure without secrets, for the log: the driver's code, names from the schema, and a hint. */
export function describeFailure(error: unknown): string {
  return describeDriverError(unwrap(error));
}

/** Returns whether the transaction conflicted with another one. */
export function isConflict(error: unknown): boolean {
  return CONFLICTS.has(failureCode(error));
}

/** Returns whether a row with the same unique key already exists. */
export function isDuplicate(error: unknown): boolean {
  return DUPLICATES.has(failureCode(error));
}

/** Returns whether the transaction can succeed if it is run again. */
export function isRolledBack(error: unknown): boolean {
  return isConflict(error) || isDuplicate(error);
}

/** Returns whether the connection broke or could not be opened. The outcome of a statement in flight is unknown. */
export function isConnectionLost(error: unknown): boolean {
  const code = failureCode(error);
  return CONNECTION_CLOSED.test(code) || CONNECTION_BROKEN.test(code);
}

/** Returns why the server does not accept writes, or undefined if the error has another cause. */
function notWritableKind(error: unknown): NotWritableKind | undefined {
  const code = failureCode(error);
  // The code 1047 has a different meaning on servers other than Galera.
  if (code === '1047') return /^WSREP/.test((unwrap(error) as Error).message) ? 'not_ready' : undefined;
  return NOT_WRITABLE[code];
}

export function isNotWritable(error: unknown): boolean {
  return notWritableKind(error) !== undefined;
}

/** Returns whether a lock was not released in time (PostgreSQL 55P03; MySQL, MariaDB 1205). */
export function isLockTimeout(error: unknown): boolean {
  return ['55P03', '1205'].includes(failureCode(error));
}

/** Classifies the failure for metrics and health checks. */
export function failureKind(error: unknown): FailureKind {
  if (['TIMEOUT', 'POOL_TIMEOUT'].includes(failureCode(error))) return 'timeout';
  if (isConnectionLost(error)) return 'connection_lost';
  return notWritableKind(error) ?? (isRolledBack(error) ? 'rolled_back' : 'other');
}

/**
 * Returns whether a parameter contains a character that the compared column cannot store, so that no row can match
 * (MySQL, MariaDB: 1267; MySQL, for a parameter of a prepared statement: 3988).
 */
export function isUnrepresentable(error: unknown): boolean {
  return ['1267', '3988'].includes(failureCode(error));
}

/** Returns the driver's error if TypeORM or a `CommitError` wraps it. Otherwise returns the error itself. */
function unwrap(error: unknown): unknown {
  if (error instanceof CommitError) return unwrap(error.cause);
  return error instanceof QueryFailedError ? error.driverError : error;
}
