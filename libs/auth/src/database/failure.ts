import { AuthError, databaseUnavailable } from '../base/errors';
import { failureCode, meaningOf } from '../base/failures';
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
  constructor(readonly driverError: unknown) {
    super('COMMIT failed.');
  }
}

/** Returns whether the connection broke or could not be opened. The outcome of a statement in flight is unknown. */
export function isConnectionLost(error: unknown): boolean {
  return meaningOf(error) === 'connection_lost';
}

export function isNotWritable(error: unknown): boolean {
  return ['read_only', 'in_recovery', 'not_ready'].includes(meaningOf(error));
}

/** PostgreSQL 55P03; MySQL, MariaDB 1205. */
export function isLockTimeout(error: unknown): boolean {
  return ['55P03', '1205'].includes(failureCode(error));
}

export function failureKind(error: unknown): FailureKind {
  const meaning = meaningOf(error);
  if (meaning === 'unrepresentable') return 'other';
  return meaning === 'conflict' || meaning === 'duplicate' ? 'rolled_back' : meaning;
}
