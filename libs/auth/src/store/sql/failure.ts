import { QueryFailedError } from 'typeorm';

/** PostgreSQL: serialization failure, deadlock. MySQL, MariaDB: deadlock, lock wait. SQLite: another writer. */
const ROLLED_BACK = new Set(['40001', '40P01', '1213', '1205', 'SQLITE_BUSY', 'SQLITE_BUSY_SNAPSHOT']);

const DUPLICATE = new Set(['23505', '1062', 'SQLITE_CONSTRAINT_UNIQUE', 'SQLITE_CONSTRAINT_PRIMARYKEY']);

/** The driver's own code of an error: all of it that may be logged, for its text can hold parameters. */
export function failureCode(error: unknown): string {
  const source: unknown = error instanceof QueryFailedError ? error.driverError : error;
  const { errno, code, name } = (source ?? {}) as { errno?: unknown; code?: unknown; name?: unknown };
  if (typeof errno === 'number' && errno > 0) return String(errno);
  return typeof code === 'string' ? code : typeof name === 'string' ? name : 'unknown';
}

/**
 * Whether the unit may succeed when it is run again: the database rolled it back for another one's sake, or a key that
 * the unit made up was taken.
 */
export function isWorthAnotherTry(error: unknown): boolean {
  return ROLLED_BACK.has(failureCode(error)) || isDuplicate(error);
}

/** Whether a row with this key is there already. */
export function isDuplicate(error: unknown): boolean {
  return DUPLICATE.has(failureCode(error));
}
