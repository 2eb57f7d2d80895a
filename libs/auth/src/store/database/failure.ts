import { QueryFailedError } from 'typeorm';
import { describeDriverError, driverCode } from '../../domain/driver-error';
import type { FailureKind } from '../../domain/metrics';

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

/** PostgreSQL: serialization failure, deadlock. MySQL, MariaDB: deadlock, lock wait. SQLite: another writer. */
const ROLLED_BACK = new Set(['40001', '40P01', '1213', '1205', 'SQLITE_BUSY', 'SQLITE_BUSY_SNAPSHOT']);

const DUPLICATE = new Set(['23505', '1062', 'SQLITE_CONSTRAINT_UNIQUE', 'SQLITE_CONSTRAINT_PRIMARYKEY']);

/** The server ended the connection (PostgreSQL classes 08 and 57P, 25P03; MySQL 1053, 1927, 4031), or it broke. */
const ENDED = /^(0800[036]|08P01|25P03|57P0[1235]|1053|1927|4031)$/;
const BROKEN = /^(ECONNREFUSED|ECONNRESET|EPIPE|ERR_STREAM_DESTROYED|ETIMEDOUT|PROTOCOL_CONNECTION_LOST)$/;
/** Some of it the drivers report in words only, and TypeORM by an error of its own. */
const LOST_IN_WORDS = /^Connection (terminated|lost)|connection error|connection is in closed state|not queryable/i;

/** The driver's own code of an error. */
export function failureCode(error: unknown): string {
  return driverCode(sourceOf(error));
}

/** The failure as it may be logged: the code, what the driver names of the schema, and a hint. */
export function describeFailure(error: unknown): string {
  return describeDriverError(sourceOf(error));
}

/** Whether the transaction was rolled back and may succeed when it is run again: it conflicted, or its new key was taken. */
export function isRolledBack(error: unknown): boolean {
  return ROLLED_BACK.has(failureCode(error)) || isDuplicate(error);
}

/** Whether the connection broke: what was under way is done or not done, and nobody knows. */
export function isConnectionLost(error: unknown): boolean {
  const code = failureCode(error);
  if (ENDED.test(code) || BROKEN.test(code)) return true;
  const source = sourceOf(error);
  if (!(source instanceof Error)) return false;
  return source.name === 'QueryRunnerAlreadyReleasedError' || LOST_IN_WORDS.test(source.message);
}

/** Whether a lock was not released in time (PostgreSQL 55P03; MySQL, MariaDB 1205). */
export function isLockTimeout(error: unknown): boolean {
  return ['55P03', '1205'].includes(failureCode(error));
}

/** The failure in one of a few words. */
export function failureKind(error: unknown): FailureKind {
  if (failureCode(error) === 'TIMEOUT') return 'timeout';
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
