import { Injectable } from '@nestjs/common';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Clock } from '../base/clock';
import { Database } from '../database/database';
import { type Statement, StatementFactory } from '../database/statements';
import { affectedBy, changeAll, rowsOf, type Step, type Transaction } from '../database/transaction';
import type { Operation } from '../history/client';
import { EndSessions } from '../sessions/end-sessions';
import { type EndedSession, toEndedSession } from '../sessions/session';
import { Throttle } from '../throttle/throttle';
import { UserLock } from '../users/user-lock';

/** The number of rows in a batch. One transaction removes one batch. */
const BATCH_SIZE = 500;

/** Deletes the data that the library stores about a user. The application deletes the user's row itself. */
@Injectable()
export class ForgetUser {
  private readonly removals;
  private readonly removeActive;
  private readonly batches;

  constructor(
    private readonly database: Database,
    statements: StatementFactory,
    private readonly lock: UserLock,
    private readonly endSessions: EndSessions,
    private readonly throttle: Throttle,
    private readonly clock: Clock,
  ) {
    const tables = ['session', 'event', 'reset', 'ticket', 'lock'];
    this.removals = tables.map((table) =>
      statements.statement(`DELETE FROM {${table}} WHERE {${table}.userId} = :userId`),
    );
    this.removeActive = statements.statement(
      `DELETE FROM {session} WHERE {session.userId} = :userId AND {session.state} = 'active'`,
    );
    const batch = (table: string, condition = ''): Batch => ({
      find: statements.statement(
        `SELECT {${table}.id} AS id FROM {${table}} WHERE {${table}.userId} = :userId ${condition} LIMIT ${BATCH_SIZE}`,
      ),
      remove: statements.statement(`DELETE FROM {${table}} WHERE {${table}.id} IN (:ids...) ${condition}`),
    });
    this.batches = [batch('session', `AND {session.state} <> 'active'`), batch('event')];
  }

  /**
   * Deletes the sessions, tokens, failure streaks and events of a user. One transaction deletes everything that
   * authenticates the user. Further transactions delete the rest in batches, because a user may have more rows than
   * one transaction can delete in time.
   * @throws AuthError `database_unavailable`. The rows of committed batches stay deleted. Repeat the call to delete
   *   the rest
   */
  async forget(userId: string, { tx }: Operation): Promise<void> {
    await this.throttle.forget(userId, tx);
    this.endSessions.publish(await this.database.transaction(tx, () => this.revokeAccess(userId)), tx);
    for (const batch of this.batches) {
      while ((await this.database.transaction(tx, () => this.removeBatch(batch, userId))) === BATCH_SIZE)
        await nextTurn();
    }
    this.endSessions.publish(await this.database.transaction(tx, () => this.removeAll(userId)), tx);
  }

  /**
   * Removes the active sessions stored under a new user's id and sets a new version of the credentials, because an
   * earlier user with the same id may have logged in during the creation.
   */
  async startAccess(userId: string, { tx }: Operation): Promise<void> {
    const start = function* (this: ForgetUser): Transaction<readonly EndedSession[]> {
      const ended = yield* this.removeActiveSessions(userId);
      yield* this.lock.initializeCredentials(userId);
      return ended;
    };
    this.endSessions.publish(await this.database.transaction(tx, () => start.call(this)), tx);
  }

  /** Removes the active sessions. Revokes login tickets, reset tokens and logins in progress. */
  private *revokeAccess(userId: string): Transaction<readonly EndedSession[]> {
    const ended = yield* this.removeActiveSessions(userId);
    yield* this.lock.revokeCredentials(userId);
    return ended;
  }

  /**
   * Removes the active sessions. If another transaction ends one of these sessions first, the transaction
   * is run again, so that each session ends only once.
   */
  private *removeActiveSessions(userId: string): Step<readonly EndedSession[]> {
    const active = yield* this.endSessions.lockAllActive(userId);
    const now = this.clock.now();
    if (active.length > 0) yield* changeAll(this.removeActive.with({ userId }), active.length);
    return active.map((session) => toEndedSession(session, now, 'user_deleted'));
  }

  /**
   * Removes a full batch. Removes nothing if fewer rows are found, because `removeAll` removes the rest.
   * Returns how many rows were found.
   */
  private *removeBatch({ find, remove }: Batch, userId: string): Step<number> {
    const ids = (yield* rowsOf(find.with({ userId }))).map((row) => row['id']);
    if (ids.length === BATCH_SIZE) yield* affectedBy(remove.with({ ids }));
    return ids.length;
  }

  /** Removes all remaining rows, and the sessions that were opened in the meantime. */
  private *removeAll(userId: string): Transaction<readonly EndedSession[]> {
    const ended = yield* this.removeActiveSessions(userId);
    for (const removal of this.removals) yield* affectedBy(removal.with({ userId }));
    return ended;
  }
}

/** Statements that find and remove a batch of a user's rows. */
type Batch = Readonly<Record<'find' | 'remove', Statement>>;
