import { Injectable } from '@nestjs/common';
import { AccountStore, type CreatedAccount, type NewUser, type UserId } from '../../domain/ports/accounts';
import type { OperationContext } from '../../domain/ports/sessions';
import { endingAt, type EndedSession } from '../../domain/session';
import { Database } from '../database/database';
import { StatementFactory } from '../database/statement-factory';
import { affectedBy, type Step, type Transaction } from '../database/transaction';
import type { WriteEvents } from '../events/revocation-runner';
import { SessionRevocation } from '../sessions/session-revocation';
import { AccountSource } from './account-source';
import { UserLocks } from './user-locks';

/** Accounts, in step with the sessions of their users. */
@Injectable()
export class SqlAccountStore extends AccountStore {
  private readonly removals;

  constructor(
    private readonly database: Database,
    statements: StatementFactory,
    private readonly accounts: AccountSource,
    private readonly locks: UserLocks,
    private readonly revocation: SessionRevocation,
  ) {
    super();
    const tables = ['session', 'event', 'reset', 'lock'];
    this.removals = tables.map((table) =>
      statements.statement(`DELETE FROM {${table}} WHERE {${table}.userId} = :userId`),
    );
  }

  /**
   * A natural key is known before the row exists: what an earlier user left is removed first, so that no session is revived
   * for a moment, nor by a failure in between. A generated id, which databases seldom give out twice, is known afterwards.
   */
  async create(user: NewUser, at: OperationContext): Promise<CreatedAccount | null> {
    const { users } = this.accounts;
    const naturalId = this.accounts.naturalIdOf(user);
    if (naturalId !== null && (await users.findByUsername(user.username))) return null;
    const first = naturalId === null ? [] : await this.forget(naturalId, at);
    const created = (await users.create?.(user)) ?? null;
    if (!created) return null;
    const isClean = naturalId !== null || this.accounts.hasUniqueIds;
    const ended = isClean ? first : await this.forget(String(created.id), at);
    return { user: created, ended };
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

  forget(userId: string, at: OperationContext): Promise<readonly EndedSession[]> {
    return this.database.transaction(() => this.removeAll(userId, at));
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

  private *removeAll(userId: string, { now }: OperationContext): Transaction<readonly EndedSession[]> {
    const active = yield* this.revocation.lockAllActive(userId);
    for (const removal of this.removals) yield* affectedBy(removal.with({ userId }));
    return active.map((session) => endingAt(session, now, 'user_deleted'));
  }
}
