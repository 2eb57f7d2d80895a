import { randomInt } from 'node:crypto';
import type { AuthTables } from './auth-tables';
import { onDuplicate } from './sql/dialect';
import { affectedBy, firstOf, type Unit } from './sql/unit';

/** A row that is not there yet, with `firstRevision()`. */
export const NEW_LOCK = `INSERT INTO {lock} ({lock.userId}, {lock.credentialsVersion}, {lock.revision})
  VALUES (:userId, 0, :revision)`;

/** Where the counting begins is left to chance, so that a row that was removed and made again is not taken for the same. */
export function firstRevision(): number {
  return randomInt(2 ** 30);
}

/**
 * The lock of a user. It is always taken before the locks of sessions, and by every unit that opens a session of the
 * user or ends several, so that these come one after another and cannot wait for each other in a circle.
 */
export class UserLocks {
  private readonly take;
  private readonly readVersion;
  private readonly raise;

  constructor(tables: AuthTables) {
    const next = '{lock.revision} = {lock}.{lock.revision} + 1';
    this.take = tables.statement(`${NEW_LOCK} ${onDuplicate(tables.dialect, '{lock.userId}', next)}`);
    this.readVersion = tables.statement(
      'SELECT {lock.credentialsVersion} AS version FROM {lock} WHERE {lock.userId} = :userId',
    );
    this.raise = tables.statement(
      'UPDATE {lock} SET {lock.credentialsVersion} = {lock.credentialsVersion} + 1 WHERE {lock.userId} = :userId',
    );
  }

  /** Waits for the lock; it is let go with the end of the unit. */
  *lock(userId: string): Unit<void> {
    yield* affectedBy(this.take.with({ userId, revision: firstRevision() }));
  }

  /** How often the user's password has been changed. */
  *credentialsVersion(userId: string): Unit<number> {
    const row = yield* firstOf(this.readVersion.with({ userId }));
    return Number(row?.['version'] ?? 0);
  }

  /** Makes logins fail that are verifying the password as it was. The lock must be held. */
  *raiseCredentialsVersion(userId: string): Unit<void> {
    yield* affectedBy(this.raise.with({ userId }));
  }
}
