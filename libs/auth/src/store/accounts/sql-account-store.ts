import { Injectable } from '@nestjs/common';
import { setImmediate as turn } from 'node:timers/promises';
import {
  AccountStore,
  type NewUser,
  type ReportEnded,
  type StoredUser,
  type UserId,
} from '../../domain/ports/accounts';
import type { OperationContext } from '../../domain/ports/sessions';
import { endingAt, type EndedSession } from '../../domain/session';
import { Database } from '../database/database';
import type { Statement } from '../database/statement';
import { StatementFactory } from '../database/statement-factory';
import { affectedBy, changeAll, rowsOf, type Step, type Transaction } from '../database/transaction';
import type { WriteEvents } from '../events/revocation-runner';
import { SessionRevocation } from '../sessions/session-revocation';
import { AccountSource } from './account-source';
import { UserLocks } from './user-locks';

/** Rows that one transaction removes, besides the active sessions. */
const BATCH = 500;

/** Accounts, in step with the sessions of their users. */
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
        `SELECT {${table}.id} AS id FROM {${table}} WHERE {${table}.userId} = :userId ${condition} LIMIT ${BATCH}`,
      ),
      remove: statements.statement(`DELETE FROM {${table}} WHERE {${table}.id} IN (:ids...) ${condition}`),
    });
    this.batches = [batch('session', `AND {session.state} <> 'active'`), batch('event')];
  }

  /**
   * A natural key is known before the row exists: what an earlier user left is removed first, so that no session is revived
   * for a moment, nor by a failure in between. A generated id, which databases seldom give out twice, is known afterwards.
   * Either way, a login of the earlier user may be verifying a password all that time: it gets no session of the new one.
   */
  async create(user: NewUser, at: OperationContext, report: ReportEnded): Promise<StoredUser | null> {
    const { users } = this.accounts;
    const naturalId = this.accounts.naturalIdOf(user);
    if (naturalId !== null && (await users.findByUsername(user.username))) return null;
    if (naturalId !== null) await this.forget(naturalId, at, report);
    const created = (await users.create?.(user)) ?? null;
    if (!created) return null;
    if (this.accounts.hasUniqueIds) return created;
    const id = String(created.id);
    if (naturalId === null) await this.forget(id, at, report);
    report(await this.database.transaction(() => this.startAccess(id, at)));
    return created;
  }

  async disable(userId: UserId, at: OperationContext): Promise<readonly EndedSession[] | null> {
    const { users, disableStep } = this.accounts;
    // Elsewhere, ahead of the sessions: the guard ends what is left, should the rest fail.
    if (!disableStep && !(await users.setActive?.(userId, false))) return null;
    return this.revocation.run((write) => this.disableAndEnd(userId, at, write));
  }

  async enable(userId: UserId): Promise<boolean> {
    // The application may have disabled the user in its own table, which revoked no token.
    await this.database.transaction(() => this.revokeCredentials(String(userId)));
    return (await this.accounts.users.setActive?.(userId, true)) ?? false;
  }

  /** A user may have left more rows than one transaction removes in time. */
  async forget(userId: string, at: OperationContext, report: ReportEnded): Promise<void> {
    report(await this.database.transaction(() => this.removeAccess(userId, at)));
    for (const batch of this.batches) {
      while ((await this.database.transaction(() => this.removeBatch(batch, userId))) === BATCH) await turn();
    }
    report(await this.database.transaction(() => this.removeAll(userId, at)));
  }

  private *disableAndEnd(
    userId: UserId,
    at: OperationContext,
    write: WriteEvents,
  ): Transaction<readonly EndedSession[] | null> {
    const id = String(userId);
    yield* this.locks.lock(id);
    const { disableStep } = this.accounts;
    if (disableStep && !(yield* disableStep(userId))) return null;
    yield* this.locks.revokeCredentials(id);
    return yield* this.revocation.endAndRecord({ ...at, userId: id, reason: 'user_disabled' }, write);
  }

  private *revokeCredentials(userId: string): Step<void> {
    yield* this.locks.lock(userId);
    yield* this.locks.revokeCredentials(userId);
  }

  /** Removes the active sessions and all that opens another one. */
  private *removeAccess(userId: string, at: OperationContext): Transaction<readonly EndedSession[]> {
    const ended = yield* this.removeActiveSessions(userId, at);
    yield* this.locks.revokeCredentials(userId);
    return ended;
  }

  /** The same for a new user, where an earlier one of the same id may have got in since. */
  private *startAccess(userId: string, at: OperationContext): Transaction<readonly EndedSession[]> {
    const ended = yield* this.removeActiveSessions(userId, at);
    yield* this.locks.startCredentials(userId);
    return ended;
  }

  /** Each session ends once: one that another transaction ends meanwhile makes this one run again. */
  private *removeActiveSessions(userId: string, { now }: OperationContext): Step<readonly EndedSession[]> {
    const active = yield* this.revocation.lockAllActive(userId);
    if (active.length > 0) yield* changeAll(this.removeActive.with({ userId }), active.length);
    return active.map((session) => endingAt(session, now, 'user_deleted'));
  }

  /** Removes a full batch, or nothing: `removeAll` removes the rest. Returns how many rows it found. */
  private *removeBatch({ find, remove }: Batch, userId: string): Step<number> {
    const ids = (yield* rowsOf(find.with({ userId }))).map((row) => row['id']);
    if (ids.length === BATCH) yield* affectedBy(remove.with({ ids }));
    return ids.length;
  }

  /** Removes what is left, with sessions that were opened meanwhile. */
  private *removeAll(userId: string, at: OperationContext): Transaction<readonly EndedSession[]> {
    const ended = yield* this.removeActiveSessions(userId, at);
    for (const removal of this.removals) yield* affectedBy(removal.with({ userId }));
    return ended;
  }
}

/** Finds and removes some rows of a user. */
type Batch = Readonly<Record<'find' | 'remove', Statement>>;
