import { Injectable } from '@nestjs/common';
import type { NewResetToken, ReplaceOutcome, ReplacePassword } from '../../domain/ports/accounts';
import type { EndedSession } from '../../domain/session';
import { newEvent } from '../../domain/session-events';
import { StatementFactory } from '../database/statement-factory';
import { affectedBy, firstOf, type Query, type Step, type Transaction } from '../database/transaction';
import { EventWriter } from '../events/event-writer';
import { SessionRevocation } from '../sessions/session-revocation';
import { TokenReissue } from '../sessions/token-reissue';
import { UserLocks } from './user-locks';

type Replaced = Extract<ReplaceOutcome, { kind: 'replaced' }>;

/** What a new password does to the user's sessions and reset tokens. Its steps are parts of a transaction. */
@Injectable()
export class PasswordTransition {
  private readonly insertReset;
  private readonly owner;
  private readonly useReset;

  constructor(
    private readonly locks: UserLocks,
    private readonly revocation: SessionRevocation,
    private readonly tokenReissue: TokenReissue,
    private readonly events: EventWriter,
    statements: StatementFactory,
  ) {
    this.insertReset = statements.statement(
      'INSERT INTO {reset} ({reset.digest}, {reset.userId}, {reset.expiresAt}) VALUES (:digest, :userId, :expiresAt)',
    );
    const valid = '{reset.digest} = :digest AND {reset.expiresAt} > :now';
    this.owner = statements.statement(`SELECT {reset.userId} AS user_id FROM {reset} WHERE ${valid}`);
    this.useReset = statements.statement(`DELETE FROM {reset} WHERE ${valid} AND {reset.userId} = :userId`);
  }

  /**
   * Stores a reset token in place of an earlier one: a user has at most one. Refused if the credentials have another version
   * than the one that was read before the user: the user may have been disabled since.
   */
  *replaceReset(userId: string, { event, credentialsVersion, ...token }: NewResetToken): Step<boolean> {
    // Without the lock, parallel calls would each remove what was there before, and leave one token each.
    yield* this.locks.lock(userId);
    const row = yield* firstOf(this.locks.versionOf(userId));
    if (Number(row?.['version']) !== credentialsVersion) return false;
    yield* this.locks.revokeResetTokens(userId);
    yield* affectedBy(this.insertReset.with({ ...token, userId }));
    yield* this.events.write([event]);
    return true;
  }

  /** Reads `user_id`, the user of a valid reset token. */
  ownerOfReset(digest: string, now: number): Query {
    return this.owner.with({ digest, now });
  }

  /**
   * Sets the password, where that is a step of the transaction, and ends the sessions. Refused if the reset token is
   * invalid, the session to keep has ended or the password is not set.
   */
  *replace(command: ReplacePassword, setHash: (() => Step<boolean>) | null): Transaction<ReplaceOutcome> {
    const mayReplace = (yield* this.begin(command)) && (setHash === null || (yield* setHash()));
    if (!mayReplace) return { kind: 'refused', ended: [] };
    return yield* this.endSessions(command, command.keep, { record: setHash !== null });
  }

  /** Ends the sessions again when a user store has set the password, whether the session to keep is active or not. */
  *endAgain(command: ReplacePassword): Step<Replaced> {
    yield* this.locks.lock(String(command.userId));
    const keep = (yield* this.isActive(command)) ? command.keep : null;
    return yield* this.endSessions(command, keep, { record: true });
  }

  /** Ends the kept session: its new pair was sent to nobody, and whether the password is set may be unknown. */
  async endKept({ keep, ...at }: ReplacePassword): Promise<readonly EndedSession[]> {
    if (!keep) return [];
    const command = { ...at, userId: String(at.userId), sessionId: keep.sessionId, reason: 'password_change' } as const;
    return this.revocation.run((write) => this.revocation.endAndRecord(command, write)).catch(() => []);
  }

  /** Locks the user and uses up the reset token; false if that is invalid, or the session to keep has ended. */
  private *begin(command: ReplacePassword): Step<boolean> {
    const { resetDigest: digest, now } = command;
    const userId = String(command.userId);
    yield* this.locks.lock(userId);
    // Of any number of parallel calls one deletes the row.
    if (digest !== null && (yield* affectedBy(this.useReset.with({ digest, userId, now }))) === 0) return false;
    return command.keep === null || (yield* this.isActive(command));
  }

  /** Ends the sessions but for the one to keep, which gets new tokens. */
  private *endSessions(
    command: ReplacePassword,
    keep: ReplacePassword['keep'],
    { record }: { record: boolean },
  ): Step<Replaced> {
    const { client, now } = command;
    const userId = String(command.userId);
    const reason = command.keep === null ? 'password_reset' : 'password_change';
    const write = this.events.write.bind(this.events);
    yield* this.locks.revokeCredentials(userId);
    const kept = keep ? yield* this.tokenReissue.reissue(keep.sessionId, keep.issued, now) : null;
    const ending = { ...command, userId, reason } as const;
    const ended = command.revoke
      ? yield* this.revocation.endAndRecord(keep ? { ...ending, exceptId: keep.sessionId } : ending, write)
      : [];
    if (record) yield* write([newEvent(reason, userId, client, now)]);
    return { kind: 'replaced', kept, ended };
  }

  private *isActive({ userId, keep }: ReplacePassword): Step<boolean> {
    const active = yield* this.revocation.lockAllActive(String(userId));
    return active.some((session) => session.id === keep?.sessionId);
  }
}
