import { Injectable } from '@nestjs/common';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { NewUser, StoredUser, UserId } from '../adapters/user-store';
import { Database } from '../database/database';
import { type Statement, StatementFactory } from '../database/statements';
import { affectedBy, changeAll, rowsOf, type Step, type Transaction } from '../database/transaction';
import type { OperationContext } from '../history/client';
import type { WriteEvents } from '../history/event-log';
import { SessionRevocation } from '../sessions/end-sessions';
import { type EndedSession, toEndedSessionAt } from '../sessions/session';
import { UserLocks } from '../users/user-lock';
import { AccountSource } from '../users/users';

/** Receives the sessions that a completed step of an operation has ended. */
export type ReportEnded = (ended: readonly EndedSession[]) => void;

/** Creates, disables and enables users, and deletes the data that the library stores about a user. */
export abstract class AccountStore {
  /**
   * Creates a user. Deletes the data of an earlier user with the same id, as `forget` does.
   * @returns null if the name is taken, or if the store cannot create users
   */
  abstract create(user: NewUser, context: OperationContext, report: ReportEnded): Promise<StoredUser | null>;
  /** Disables a user, ends all sessions and revokes reset tokens. Returns null if there is no such user. */
  abstract disable(userId: UserId, context: OperationContext): Promise<readonly EndedSession[] | null>;
  /** Enables a user and revokes earlier reset tokens. Returns false if there is no such user. */
  abstract enable(userId: UserId): Promise<boolean>;
  /**
   * Deletes the sessions, tokens and events of a user. One transaction deletes everything that authenticates the user,
   * and further transactions delete the rest in batches. A call that fails between batches can be repeated.
   */
  abstract forget(userId: string, context: OperationContext, report: ReportEnded): Promise<void>;
}

/** The number of rows in a batch. One transaction removes one batch. */
const BATCH_SIZE = 500;

/** Changes accounts together with the sessions of their users. */
@Injectable()
export class SqlAccountStore extends AccountStore {
  private readonly removals;
  private readonly removeActive;
  private readonly batches;

  constructor(
    private readonly database: Database,
    statements: StatementFactory,
    private readonly accounts: AccountSource,
    private readonly locks: UserLocks,
    private readonly revocation: SessionRevocation,
  ) {
    super();
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
   * Creates a user and, unless ids are never reused, deletes what `forget` deletes of an earlier user with
   * the same id. A natural key is known before the row exists. In that case, the data is deleted first, so
   * that no earlier session becomes valid even if a later step fails. Any other id is known only after the
   * row exists, but databases rarely reuse generated ids. In both cases, a login of the earlier user that
   * is still verifying a password cannot open a session of the new user.
   */
  async create(user: NewUser, context: OperationContext, report: ReportEnded): Promise<StoredUser | null> {
    const { users } = this.accounts;
    const naturalId = this.accounts.naturalIdOf(user);
    if (naturalId !== null && (await users.findByUsername(user.username))) return null;
    if (naturalId !== null) await this.forget(naturalId, context, report);
    const created = (await users.create?.(user)) ?? null;
    if (!created) return null;
    if (this.accounts.hasUniqueIds) return created;
    const id = String(created.id);
    if (naturalId === null) await this.forget(id, context, report);
    report(await this.database.transaction(() => this.startAccess(id, context)));
    return created;
  }

  async disable(userId: UserId, context: OperationContext): Promise<readonly EndedSession[] | null> {
    const { users, disableStep } = this.accounts;
    // A `UserStore` takes part in no transaction, so the user is disabled first. If ending the sessions
    // fails, the guard refuses these sessions.
    if (!disableStep && !(await users.setActive?.(userId, false))) return null;
    return this.revocation.run((write) => this.disableAndEnd(userId, context, write));
  }

  async enable(userId: UserId): Promise<boolean> {
    // The application may have disabled the user in its own table, which did not revoke any tokens.
    await this.database.transaction(() => this.revokeCredentials(String(userId)));
    return (await this.accounts.users.setActive?.(userId, true)) ?? false;
  }

  /** Deletes the user's data in batches, because a user may have more rows than one transaction can delete in time. */
  async forget(userId: string, context: OperationContext, report: ReportEnded): Promise<void> {
    report(await this.database.transaction(() => this.revokeAccess(userId, context)));
    for (const batch of this.batches) {
      while ((await this.database.transaction(() => this.removeBatch(batch, userId))) === BATCH_SIZE) await nextTurn();
    }
    report(await this.database.transaction(() => this.removeAll(userId, context)));
  }

  private *disableAndEnd(
    userId: UserId,
    context: OperationContext,
    write: WriteEvents,
  ): Transaction<readonly EndedSession[] | null> {
    const id = String(userId);
    yield* this.locks.lock(id);
    const { disableStep } = this.accounts;
    if (disableStep && !(yield* disableStep(userId))) return null;
    yield* this.locks.revokeCredentials(id);
    return yield* this.revocation.endAndRecord({ ...context, userId: id, reason: 'user_disabled' }, write);
  }

  private *revokeCredentials(userId: string): Step<void> {
    yield* this.locks.lock(userId);
    yield* this.locks.revokeCredentials(userId);
  }

  /** Removes the active sessions. Revokes login tickets, reset tokens and logins in progress. */
  private *revokeAccess(userId: string, context: OperationContext): Transaction<readonly EndedSession[]> {
    const ended = yield* this.removeActiveSessions(userId, context);
    yield* this.locks.revokeCredentials(userId);
    return ended;
  }

  /**
   * Removes the active sessions stored under a new user's id and sets a new version of the
   * credentials, because an earlier user with the same id may have logged in during the creation.
   */
  private *startAccess(userId: string, context: OperationContext): Transaction<readonly EndedSession[]> {
    const ended = yield* this.removeActiveSessions(userId, context);
    yield* this.locks.initializeCredentials(userId);
    return ended;
  }

  /**
   * Removes the active sessions. If another transaction ends one of these sessions first, the transaction
   * is run again, so that each session ends only once.
   */
  private *removeActiveSessions(userId: string, { now }: OperationContext): Step<readonly EndedSession[]> {
    const active = yield* this.revocation.lockAllActive(userId);
    if (active.length > 0) yield* changeAll(this.removeActive.with({ userId }), active.length);
    return active.map((session) => toEndedSessionAt(session, now, 'user_deleted'));
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
  private *removeAll(userId: string, context: OperationContext): Transaction<readonly EndedSession[]> {
    const ended = yield* this.removeActiveSessions(userId, context);
    for (const removal of this.removals) yield* affectedBy(removal.with({ userId }));
    return ended;
  }
}

/** Statements that find and remove a batch of a user's rows. */
type Batch = Readonly<Record<'find' | 'remove', Statement>>;
