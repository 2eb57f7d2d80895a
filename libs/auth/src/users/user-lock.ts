import { Injectable } from '@nestjs/common';
import { Random } from '../base/random';
import { onDuplicate } from '../database/dialect';
import { Database } from '../database/database';
import type { JoinedTransaction } from '../database/joined-transaction';
import { StatementFactory } from '../database/statements';
import { affectedBy, firstOf, type Query, type Step } from '../database/transaction';

/** Versions of credentials are below this limit, so that the sum of two fits into an `integer` column. */
const VERSION_LIMIT = 2 ** 30;

/**
 * The locks of users, and the versions of their credentials. A transaction that opens a session of a user, or ends
 * several sessions of the user, takes the user's lock before locking sessions, so that such transactions run one after
 * another. The exceptions are pruning, which skips locked sessions, and batches that an administrator ends by criteria
 * other than the user alone, which are run again after a conflict.
 */
@Injectable()
export class UserLock {
  private readonly lockRow;
  private readonly changeVersion;
  private readonly readVersion;
  private readonly removeResets;
  private readonly removeTickets;
  private readonly removeAllTickets;

  constructor(
    private readonly database: Database,
    statements: StatementFactory,
    private readonly random: Random,
  ) {
    // The INSERT locks the row whether it existed or not. A Galera cluster detects conflicts between two nodes only in
    // rows that change, so each lock changes the row.
    const count = '{lock.lockCount} = {lock}.{lock.lockCount} + 1';
    this.lockRow = statements.prepared(
      `INSERT INTO {lock} ({lock.userId}, {lock.credentialsVersion}, {lock.lockCount}) VALUES (:userId, 0, 0)
       ${onDuplicate(statements.dialect, '{lock.userId}', count)}`,
    );
    this.readVersion = statements.statement(
      'SELECT {lock.credentialsVersion} AS version FROM {lock} WHERE {lock.userId} = :userId',
    );
    this.changeVersion = statements.statement(
      `UPDATE {lock} SET {lock.credentialsVersion} = ({lock.credentialsVersion} + :step) % ${VERSION_LIMIT}
       WHERE {lock.userId} = :userId`,
    );
    this.removeResets = statements.statement('DELETE FROM {reset} WHERE {reset.userId} = :userId');
    this.removeTickets = statements.statement('DELETE FROM {ticket} WHERE {ticket.userId} = :userId');
    this.removeAllTickets = statements.statement('DELETE FROM {ticket}');
  }

  /** Waits for the lock, which is released at the end of the transaction. */
  *lock(userId: string): Step<void> {
    yield* affectedBy(this.lockRow.with({ userId }));
  }

  /** Reads the version of the credentials without taking the lock. */
  async versionOf(userId: string, tx: JoinedTransaction | null): Promise<number> {
    const [row] = (await this.database.run(tx, this.readVersion.with({ userId }))).rows;
    return Number(row?.['version'] ?? 0);
  }

  /** Returns the version of the credentials. While the lock is held, the version does not change. */
  *version(userId: string): Step<number> {
    const row = yield* firstOf(this.readVersion.with({ userId }));
    return Number(row?.['version'] ?? 0);
  }

  /** Revokes the reset tokens, the login tickets, and the logins in progress. The lock must be held. */
  *revokeCredentials(userId: string): Step<void> {
    yield* this.revokeLogins(userId);
    yield* this.revokeResetTokens(userId);
  }

  /** Revokes the stored reset tokens only. The lock must be held. */
  *revokeResetTokens(userId: string): Step<void> {
    yield* affectedBy(this.removeResets.with({ userId }));
  }

  /**
   * Revokes the stored login tickets, and changes the version of the credentials. A login in progress that has read the
   * previous version must start again, because its checks may no longer hold, for example whether the user needs a
   * second factor. The step is random, so that the version also differs from that of an earlier user with the same id,
   * whose row may have been deleted while a login was in progress. The lock must be held.
   */
  *revokeLogins(userId: string): Step<void> {
    const step = 1 + this.random.integer(VERSION_LIMIT - 1);
    yield* affectedBy(this.changeVersion.with({ userId, step }));
    yield* affectedBy(this.removeTickets.with({ userId }));
  }

  /** Returns a statement that revokes the stored login tickets of all users. */
  revocationOfAllLoginTickets(): Query {
    return this.removeAllTickets.with({});
  }
}
