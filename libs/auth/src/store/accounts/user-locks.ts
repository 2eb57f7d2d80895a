import { Injectable } from '@nestjs/common';
import { CryptoSource } from '../../domain/ports/platform';
import { onDuplicate } from '../database/dialect';
import { StatementFactory } from '../database/statement-factory';
import { affectedBy, type Query, type Step } from '../database/transaction';

/** The first version of a new user is below it, which leaves as many numbers for changes of the password. */
const FIRST_VERSION_LIMIT = 2 ** 30;

/**
 * The lock of a user. Every transaction that opens a session of the user, or ends several, takes it before it locks
 * sessions. So these run one after another and cannot deadlock.
 */
@Injectable()
export class UserLocks {
  private readonly take;
  private readonly raise;
  private readonly replace;
  private readonly readVersion;
  private readonly removeResets;
  private readonly removeTickets;

  constructor(
    statements: StatementFactory,
    private readonly crypto: CryptoSource,
  ) {
    // The row is locked whether it existed or not. A Galera cluster finds conflicts between two nodes only in rows that
    // change, so each use changes the row.
    const count = '{lock.lockCount} = {lock}.{lock.lockCount} + 1';
    this.take = statements.prepared(
      `INSERT INTO {lock} ({lock.userId}, {lock.credentialsVersion}, {lock.lockCount}) VALUES (:userId, 0, 0)
       ${onDuplicate(statements.dialect, '{lock.userId}', count)}`,
    );
    this.readVersion = statements.statement(
      'SELECT {lock.credentialsVersion} AS version FROM {lock} WHERE {lock.userId} = :userId',
    );
    this.raise = statements.statement(
      'UPDATE {lock} SET {lock.credentialsVersion} = {lock.credentialsVersion} + 1 WHERE {lock.userId} = :userId',
    );
    this.replace = statements.statement(
      'UPDATE {lock} SET {lock.credentialsVersion} = :version WHERE {lock.userId} = :userId',
    );
    this.removeResets = statements.statement('DELETE FROM {reset} WHERE {reset.userId} = :userId');
    this.removeTickets = statements.statement('DELETE FROM {ticket} WHERE {ticket.userId} = :userId');
  }

  /** Waits for the lock, which is released at the end of the transaction. */
  *lock(userId: string): Step<void> {
    yield* affectedBy(this.take.with({ userId }));
  }

  /** Reads the same as the column `version`, without the lock. */
  versionOf(userId: string): Query {
    return this.readVersion.with({ userId });
  }

  /**
   * Makes logins fail that are verifying the password as it was, and revokes reset tokens and login tickets: those that are
   * stored, and those that are being created. The lock must be held.
   */
  *revokeCredentials(userId: string): Step<void> {
    yield* affectedBy(this.raise.with({ userId }));
    yield* this.revokeResetTokens(userId);
    yield* this.revokeLoginTickets(userId);
  }

  /**
   * Gives a new user credentials of another version than an earlier user of the same id had. The row of that user may be
   * gone, and a login that has verified its password still under way. The lock must be held.
   */
  *startCredentials(userId: string): Step<void> {
    yield* affectedBy(this.replace.with({ userId, version: 1 + this.crypto.randomInt(FIRST_VERSION_LIMIT) }));
    yield* this.revokeResetTokens(userId);
    yield* this.revokeLoginTickets(userId);
  }

  /** Revokes the stored reset tokens alone. The lock must be held. */
  *revokeResetTokens(userId: string): Step<void> {
    yield* affectedBy(this.removeResets.with({ userId }));
  }

  /** Ends the stored login tickets. With the lock held, none is stored at the same time. */
  *revokeLoginTickets(userId: string): Step<void> {
    yield* affectedBy(this.removeTickets.with({ userId }));
  }
}
