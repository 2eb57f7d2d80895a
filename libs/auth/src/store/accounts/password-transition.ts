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

/** Stores reset tokens, and applies a new password to the user's sessions, reset tokens and login tickets. */
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
   * Stores a reset token and revokes the previous one, because a user has at most one. Returns false if
   * `credentialsVersion` is no longer the version of the credentials, because the user may have been
   * disabled in the meantime.
   */
  *replaceReset(userId: string, { event, credentialsVersion, ...token }: NewResetToken): Step<boolean> {
    // Without the lock, parallel calls would not see each other's tokens, and several tokens could remain.
    yield* this.locks.lock(userId);
    const row = yield* firstOf(this.locks.versionOf(userId));
    if (Number(row?.['version']) !== credentialsVersion) return false;
    yield* this.locks.revokeResetTokens(userId);
    yield* affectedBy(this.insertReset.with({ ...token, userId }));
    yield* this.events.write([event]);
    return true;
  }

  /** Returns a query that reads the user of a valid reset token as `user_id`. */
  ownerOfReset(digest: string, now: number): Query {
    return this.owner.with({ digest, now });
  }

  /**
   * Consumes the reset token, if there is one, sets the password and, with `revoke`, ends the
   * sessions except the one to keep. The command is refused if the reset token is invalid, if the
   * session to keep has ended, or if the password was not set.
   * @param setHash sets the password within the transaction, or null if a `UserStore` sets it later
   */
  *replace(command: ReplacePassword, setHash: (() => Step<boolean>) | null): Transaction<ReplaceOutcome> {
    const mayReplace = (yield* this.begin(command)) && (setHash === null || (yield* setHash()));
    if (!mayReplace) return { kind: 'refused', ended: [] };
    return yield* this.endSessions(command, command.keep, { record: setHash !== null });
  }

  /** Repeats `endSessions` after a `UserStore` has set the password, even if the session to keep has ended. */
  *endAgain(command: ReplacePassword): Step<Replaced> {
    yield* this.locks.lock(String(command.userId));
    const keep = (yield* this.isActive(command)) ? command.keep : null;
    return yield* this.endSessions(command, keep, { record: true });
  }

  /**
   * Ends the session that was to be kept, because its new token pair is not sent to the client. Returns an
   * empty list if no session was to be kept, or if ending it fails.
   */
  async endKept({ keep, ...context }: ReplacePassword): Promise<readonly EndedSession[]> {
    if (!keep) return [];
    const command = {
      ...context,
      userId: String(context.userId),
      sessionId: keep.sessionId,
      reason: 'password_change',
    } as const;
    return this.revocation.run((write) => this.revocation.endAndRecord(command, write)).catch(() => []);
  }

  /**
   * Locks the user and consumes the reset token, if there is one. Returns false if the token is invalid or
   * the session to keep has ended.
   */
  private *begin(command: ReplacePassword): Step<boolean> {
    const { resetDigest: digest, now } = command;
    const userId = String(command.userId);
    yield* this.locks.lock(userId);
    // Only one of several parallel calls deletes the row.
    if (digest !== null && (yield* affectedBy(this.useReset.with({ digest, userId, now }))) === 0) return false;
    return command.keep === null || (yield* this.isActive(command));
  }

  /**
   * Revokes the credentials, issues a new token pair to the session in `keep`, and, with `revoke`,
   * ends the user's other sessions.
   */
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
