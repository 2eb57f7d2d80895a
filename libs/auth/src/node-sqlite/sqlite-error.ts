/** The result codes of SQLite by number, each with its extended codes in the order of their numbers. */
const RESULT_CODES: Readonly<Record<number, string>> = {
  1: 'ERROR MISSING_COLLSEQ RETRY SNAPSHOT',
  2: 'INTERNAL',
  3: 'PERM',
  4: 'ABORT - ROLLBACK',
  5: 'BUSY RECOVERY SNAPSHOT TIMEOUT',
  6: 'LOCKED SHAREDCACHE VTAB',
  7: 'NOMEM',
  8: 'READONLY RECOVERY CANTLOCK ROLLBACK DBMOVED CANTINIT DIRECTORY',
  9: 'INTERRUPT',
  10:
    'IOERR READ SHORT_READ WRITE FSYNC DIR_FSYNC TRUNCATE FSTAT UNLOCK RDLOCK DELETE BLOCKED NOMEM ACCESS ' +
    'CHECKRESERVEDLOCK LOCK CLOSE DIR_CLOSE SHMOPEN SHMSIZE SHMLOCK SHMMAP SEEK DELETE_NOENT MMAP GETTEMPPATH ' +
    'CONVPATH VNODE AUTH BEGIN_ATOMIC COMMIT_ATOMIC ROLLBACK_ATOMIC DATA CORRUPTFS IN_PAGE',
  11: 'CORRUPT VTAB SEQUENCE INDEX',
  12: 'NOTFOUND',
  13: 'FULL',
  14: 'CANTOPEN NOTEMPDIR ISDIR FULLPATH CONVPATH DIRTYWAL SYMLINK',
  15: 'PROTOCOL',
  16: 'EMPTY',
  17: 'SCHEMA',
  18: 'TOOBIG',
  19: 'CONSTRAINT CHECK COMMITHOOK FOREIGNKEY FUNCTION NOTNULL PRIMARYKEY TRIGGER UNIQUE VTAB ROWID PINNED DATATYPE',
  20: 'MISMATCH',
  21: 'MISUSE',
  22: 'NOLFS',
  23: 'AUTH USER',
  24: 'FORMAT',
  25: 'RANGE',
  26: 'NOTADB',
};

/** The error of a failed statement or connection. It has the name and the properties of better-sqlite3's error. */
export class SqliteError extends Error {
  override readonly name = 'SqliteError';

  constructor(
    message: string,
    /** The extended result code, such as `SQLITE_CONSTRAINT_UNIQUE` or `SQLITE_BUSY`. */
    readonly code: string,
  ) {
    super(message);
  }
}

/**
 * Returns the error to throw in place of an error of node:sqlite. An error of SQLite becomes a `SqliteError`,
 * without `cause`, which would only repeat the message. Other errors are returned unchanged.
 */
export function translated(error: unknown): unknown {
  const { code, errcode, message } = (error ?? {}) as { code?: unknown; errcode?: unknown; message: string };
  if (code !== 'ERR_SQLITE_ERROR' || typeof errcode !== 'number') return error;
  return new SqliteError(message, nameOf(errcode));
}

/** Runs an action, and throws errors of SQLite as `SqliteError`. */
export function withSqliteErrors<Result>(action: () => Result): Result {
  try {
    return action();
  } catch (error) {
    throw translated(error);
  }
}

/**
 * Returns the name of a code. The low byte is the result code, and the rest is the number of the extended code.
 * Unknown extended codes are left out.
 */
function nameOf(errcode: number): string {
  const [base, ...extended] = (RESULT_CODES[errcode & 0xff] ?? `UNKNOWN_${errcode}`).split(' ');
  const detail = errcode >> 8 > 0 ? extended[(errcode >> 8) - 1] : undefined;
  return detail ? `SQLITE_${base}_${detail}` : `SQLITE_${base}`;
}
