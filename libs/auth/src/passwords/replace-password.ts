import { Inject, Injectable } from '@nestjs/common';
import type { ClientInfo } from '../adapters/second-factor';
import type { StoredUser, UserId } from '../adapters/user-store';
import { AuthError } from '../base/errors';
import { Database } from '../database/database';
import { StatementFactory } from '../database/statements';
import { affectedBy, firstOf, type Query, type Step, type Transaction } from '../database/transaction';
import type { OperationContext } from '../history/client';
import { EventWriter, newEvent } from '../history/event-log';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from '../options/auth-options';
import { SessionRevocation } from '../sessions/end-sessions';
import { SessionLifecycle } from '../sessions/lifecycle';
import { type ReissuedSession, TokenReissue } from '../sessions/reissue';
import { type EndedSession, toSessionInfo } from '../sessions/session';
import { LoginThrottle } from '../throttle/throttle';
import type { NewTokenFamily, PairExpiries } from '../tokens/tokens';
import { UserLocks } from '../users/user-lock';
import { AccountSource, CredentialStore, type FoundCredentials } from '../users/users';
import { Passwords } from './passwords';
import type { NewResetToken } from './reset-password';

export interface ReplacePassword extends OperationContext {
  readonly userId: UserId;
  readonly passwordHash: string;
  /** The hash that was verified. If a different hash is stored by now, the change is refused. */
  readonly expectedHash?: string;
  /** The digest of the reset token that the change consumes, or null. */
  readonly resetDigest: string | null;
  /** Whether to end the user's sessions, except the session to keep. */
  readonly revoke: boolean;
  /** The session that continues with a new token pair, or null. */
  readonly keep: { readonly sessionId: string; readonly issued: NewTokenFamily } | null;
}

export type ReplaceOutcome =
  /** `kept` is null if there is no session to keep or, with a `UserStore`, if that session ended in the meantime. */
  | { readonly kind: 'replaced'; readonly kept: ReissuedSession | null; readonly ended: readonly EndedSession[] }
  /** The user does not exist, the reset token is invalid, the session to keep has ended, or the password changed. */
  | { readonly kind: 'refused'; readonly ended: readonly EndedSession[] }
  /** With a `UserStore` only: a later step failed. `isSet`: whether the store reported that the password was set. */
  | {
      readonly kind: 'broken';
      readonly isSet: boolean;
      readonly ended: readonly EndedSession[];
      readonly error: unknown;
    };

/**
 * Replaces passwords. The new password must meet the policy. Emits the signals of the change and of the sessions that
 * the change ends.
 */
@Injectable()
export class PasswordReplacement {
  constructor(
    @Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions,
    private readonly passwords: Passwords,
    private readonly credentials: CredentialStore,
    private readonly lifecycle: SessionLifecycle,
    private readonly throttle: LoginThrottle,
  ) {}

  get isSupported(): boolean {
    return this.credentials.canSetPasswords;
  }

  /** @throws AuthError `not_supported` if the user store cannot set passwords */
  assertSupported(): void {
    if (this.isSupported) return;
    const message = 'The user store cannot set passwords. Implement its method `setPasswordHash`.';
    throw new AuthError('not_supported', message);
  }

  /**
   * Stores a new password. The option `revokeOnPasswordChange` or `revokeOnPasswordReset` decides whether the user's
   * sessions end.
   * @param proof what authorizes the replacement: the hash of the verified current password, the digest of a reset
   *   token, or neither if the application authorizes a reset. `keep` is the session that a password change keeps,
   *   and null for a reset
   * @returns an object with the expiries of the kept session's new pair in `kept`, which is null if no session was
   *   kept. Returns null instead of an object if the password was not set, because the user, the current password,
   *   the reset token or the session to keep changed in the meantime
   */
  async replace(
    user: StoredUser,
    newPassword: string,
    info: ClientInfo,
    proof: Pick<ReplacePassword, 'expectedHash' | 'resetDigest' | 'keep'>,
  ): Promise<{ readonly kept: PairExpiries | null } | null> {
    const isChange = proof.keep !== null;
    const revoke = isChange ? this.options.revokeOnPasswordChange : this.options.revokeOnPasswordReset;
    const { network } = this.lifecycle.operationContext(info).client;
    // A password change has already entered the queue to verify the current password.
    const origin = { network, hasEntered: isChange };
    const passwordHash = await this.passwords.hashNew(newPassword, 'new_password', user.username, origin);
    const context = this.lifecycle.operationContext(info);
    const outcome = await this.credentials.replace({ ...context, ...proof, revoke, userId: user.id, passwordHash });
    const keptId = proof.keep?.sessionId ?? null;
    this.lifecycle.publishSessionEnded(outcome.ended, keptId);
    if (outcome.kind === 'refused') return null;
    const kept = outcome.kind === 'replaced' ? outcome.kept : null;
    const session = kept && toSessionInfo(kept.session, keptId);
    if (outcome.kind === 'replaced' || outcome.isSet) {
      if (isChange) this.lifecycle.signals.emit('password_changed', { userId: user.id, session });
      else this.lifecycle.signals.emit('password_reset', { userId: user.id });
    }
    if (outcome.kind === 'broken') throw outcome.error;
    if (!isChange) await this.throttle.resetPasswordStreaks(user.id);
    return { kept };
  }
}

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

/** Reads and replaces credentials, and stores and looks up reset tokens. */
@Injectable()
export class SqlCredentialStore extends CredentialStore {
  constructor(
    private readonly database: Database,
    private readonly accounts: AccountSource,
    private readonly locks: UserLocks,
    private readonly transition: PasswordTransition,
  ) {
    super();
  }

  get canSetPasswords(): boolean {
    return typeof this.accounts.users.setPasswordHash === 'function';
  }

  find(username: string): Promise<FoundCredentials> {
    return this.accounts.findCredentials(username, (userId) => this.versionOf(userId));
  }

  replace(command: ReplacePassword): Promise<ReplaceOutcome> {
    return this.accounts.replacePassword(command, this.transition);
  }

  async versionOf(userId: UserId): Promise<number> {
    const [row] = (await this.database.autocommit(this.locks.versionOf(String(userId)))).rows;
    return Number(row?.['version'] ?? 0);
  }

  addReset(userId: UserId, token: NewResetToken): Promise<boolean> {
    return this.database.transaction(() => this.transition.replaceReset(String(userId), token));
  }

  async ownerOfReset(digest: string, now: number): Promise<string | null> {
    const [row] = (await this.database.autocommit(this.transition.ownerOfReset(digest, now))).rows;
    return row ? String(row['user_id']) : null;
  }
}
