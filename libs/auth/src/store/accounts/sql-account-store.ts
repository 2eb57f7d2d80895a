import { Injectable } from '@nestjs/common';
import { AccountStore, type UserId } from '../../domain/ports/accounts';
import type { OperationContext } from '../../domain/ports/sessions';
import { endingAt, type EndedSession } from '../../domain/session';
import { Database } from '../database/database';
import { StatementFactory } from '../database/statement-factory';
import { affectedBy, type Transaction } from '../database/transaction';
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

  async disable(userId: UserId, at: OperationContext): Promise<readonly EndedSession[] | null> {
    const { users, disableStep } = this.accounts;
    // Elsewhere, ahead of the sessions: the guard ends what is left, should the rest fail.
    if (!disableStep && !(await users.setActive?.(userId, false))) return null;
    return this.revocation.run((write) => this.disableAndEnd(userId, at, write));
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
    // A login that is verifying the password at this moment is refused.
    yield* this.locks.raiseCredentialsVersion(id);
    return yield* this.revocation.endAndRecord({ ...at, userId: id, reason: 'user_disabled' }, write);
  }

  private *removeAll(userId: string, { now }: OperationContext): Transaction<readonly EndedSession[]> {
    const active = yield* this.revocation.lockAllActive(userId);
    for (const removal of this.removals) yield* affectedBy(removal.with({ userId }));
    return active.map((session) => endingAt(session, now, 'user_deleted'));
  }
}
