import { Inject, Injectable } from '@nestjs/common';
import type { StoredUser, UserId } from '../adapters/user-store';
import { Clock } from '../base/clock';
import { AuthError } from '../base/errors';
import { Database } from '../database/database';
import { type Statement, StatementFactory } from '../database/statements';
import { affectedBy, type Step, type Transaction } from '../database/transaction';
import type { Client, Operation } from '../history/client';
import { EventLog, newEvent } from '../history/event-log';
import { Signals } from '../history/signal-publisher';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from '../options/auth-options';
import { EndSessions } from '../sessions/end-sessions';
import { Reissue, type ReissuedSession } from '../sessions/reissue';
import { type EndedSession, toSessionInfo } from '../sessions/session';
import { Throttle } from '../throttle/throttle';
import type { NewTokenFamily, PairExpiries } from '../tokens/tokens';
import { UserLock } from '../users/user-lock';
import { Users } from '../users/users';
import { Passwords } from './passwords';

/** What authorizes the replacement of a password: a verified password, a reset token, or the application itself. */
type Authorization =
  /** A change in a session, which continues with a new token pair. */
  | {
      readonly kind: 'change';
      /** The hash that was verified. If a different hash is stored by now, the change is refused. */
      readonly expectedHash: string;
      readonly keep: { readonly sessionId: string; readonly issued: NewTokenFamily };
    }
  /** A reset, with the digest of the reset token that it consumes, or null. */
  | { readonly kind: 'reset'; readonly resetDigest: string | null };

interface Replacement {
  readonly userId: UserId;
  readonly passwordHash: string;
  readonly authorization: Authorization;
  readonly client: Client;
  readonly now: number;
}

type Outcome =
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

type Replaced = Extract<Outcome, { kind: 'replaced' }>;

/** Replaces passwords. A password change and a reset are the same transition with another authorization. */
@Injectable()
export class ReplacePassword {
  private readonly useReset: Statement;

  constructor(
    @Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions,
    private readonly database: Database,
    statements: StatementFactory,
    private readonly users: Users,
    private readonly lock: UserLock,
    private readonly passwords: Passwords,
    private readonly endSessions: EndSessions,
    private readonly reissue: Reissue,
    private readonly throttle: Throttle,
    private readonly events: EventLog,
    private readonly signals: Signals,
    private readonly clock: Clock,
  ) {
    this.useReset = statements.statement(
      `DELETE FROM {reset} WHERE {reset.digest} = :digest AND {reset.expiresAt} > :now AND {reset.userId} = :userId`,
    );
  }

  /** @throws AuthError `not_supported` if the user store cannot set passwords */
  assertSupported(): void {
    if (this.users.canSetPasswords) return;
    const message = 'The user store cannot set passwords. Implement its method `setPasswordHash`.';
    throw new AuthError('not_supported', message);
  }

  /**
   * Checks the new password against the policy and stores it. The option `revokeOnPasswordChange` or
   * `revokeOnPasswordReset` decides whether the user's sessions end. Emits the signals.
   * @returns the expiries of the kept session's new pair, or null for a reset; or `refused` if the password was not
   *   set, because the user, the current password, the reset token or the session to keep changed in the meantime
   */
  async replace(
    user: StoredUser,
    newPassword: string,
    authorization: Authorization,
    { client, tx }: Operation,
  ): Promise<{ readonly kept: PairExpiries | null } | 'refused'> {
    const isChange = authorization.kind === 'change';
    // A password change has already entered the queue to verify the current password.
    const origin = { network: client.network, hasEntered: isChange };
    const passwordHash = await this.passwords.hashNew(newPassword, 'new_password', user.username, origin);
    const replacement = { userId: user.id, passwordHash, authorization, client, now: this.clock.now() };
    const outcome = this.users.steps
      ? await this.database.transaction(tx, () => this.replaceAll(replacement))
      : await this.replaceExternally(replacement, tx);
    const keptId = isChange ? authorization.keep.sessionId : null;
    this.endSessions.publish(outcome.ended, tx, keptId);
    if (outcome.kind === 'refused') return 'refused';
    const kept = outcome.kind === 'replaced' ? outcome.kept : null;
    if (outcome.kind === 'replaced' || outcome.isSet) {
      const session = kept && toSessionInfo(kept.session, keptId);
      if (isChange) this.signals.emit(tx, 'password_changed', { userId: user.id, session });
      else this.signals.emit(tx, 'password_reset', { userId: user.id });
    }
    if (outcome.kind === 'broken') throw outcome.error;
    if (!isChange) await this.throttle.resetPassword(user.id, tx);
    return { kept };
  }

  /** Replaces the password of a user in the DataSource, in one transaction. */
  private *replaceAll(replacement: Replacement): Transaction<Outcome> {
    const { userId, passwordHash, authorization } = replacement;
    const expected = authorization.kind === 'change' ? authorization.expectedHash : undefined;
    const mayReplace =
      (yield* this.begin(replacement)) && (yield* this.users.steps!.setHash(userId, passwordHash, expected));
    if (!mayReplace) return { kind: 'refused', ended: [] };
    return yield* this.finish(replacement, true, true);
  }

  /**
   * Replaces the password in a `UserStore`, which takes part in no transaction. Ends the sessions, except the one to
   * keep, before the password is set. If this first step fails, the old password remains. After the password is set,
   * sessions end again, because a login with the old password may have opened a session in between. If the password is
   * refused or a later step fails, also tries to end the session to keep.
   */
  private async replaceExternally(replacement: Replacement, tx: Operation['tx']): Promise<Outcome> {
    const { userId, passwordHash, authorization } = replacement;
    const first = await this.database.transaction(tx, () => this.prepareExternal(replacement));
    if (first.kind !== 'replaced') return first;
    let isSet = false;
    try {
      const expected = authorization.kind === 'change' ? authorization.expectedHash : undefined;
      isSet = await this.users.setHash(userId, passwordHash, expected, tx);
      if (!isSet) return { kind: 'refused', ended: [...first.ended, ...(await this.endKept(replacement, tx))] };
      const second = await this.database.transaction(tx, () => this.finishExternal(replacement));
      return { ...second, ended: [...first.ended, ...second.ended] };
    } catch (error) {
      return { kind: 'broken', isSet, ended: [...first.ended, ...(await this.endKept(replacement, tx))], error };
    }
  }

  private *prepareExternal(replacement: Replacement): Transaction<Outcome> {
    if (!(yield* this.begin(replacement))) return { kind: 'refused', ended: [] };
    return yield* this.finish(replacement, true, false);
  }

  private *finishExternal(replacement: Replacement): Step<Replaced> {
    yield* this.lock.lock(String(replacement.userId));
    const keeps = replacement.authorization.kind === 'change' && (yield* this.isKeptActive(replacement));
    return yield* this.finish(replacement, keeps, true);
  }

  /**
   * Ends the session that was to be kept, because its new token pair is not sent to the client. Returns an
   * empty list if no session was to be kept, or if ending it fails.
   */
  private async endKept(
    { userId, authorization, client }: Replacement,
    tx: Operation['tx'],
  ): Promise<readonly EndedSession[]> {
    if (authorization.kind === 'reset') return [];
    const { sessionId } = authorization.keep;
    const command = { userId: String(userId), sessionId, reason: 'password_change' } as const;
    return this.events.revoke(tx, (write) => this.endSessions.endAndRecord(command, client, write)).catch(() => []);
  }

  /**
   * Locks the user and consumes the reset token, if there is one. Returns false if the token is invalid or
   * the session to keep has ended.
   */
  private *begin(replacement: Replacement): Step<boolean> {
    const { authorization, now } = replacement;
    const userId = String(replacement.userId);
    yield* this.lock.lock(userId);
    if (authorization.kind === 'change') return yield* this.isKeptActive(replacement);
    const { resetDigest: digest } = authorization;
    // Only one of several parallel calls deletes the row.
    return digest === null || (yield* affectedBy(this.useReset.with({ digest, userId, now }))) === 1;
  }

  private *isKeptActive({ userId, authorization }: Replacement): Step<boolean> {
    const active = yield* this.endSessions.lockAllActive(String(userId));
    return authorization.kind === 'change' && active.some(({ id }) => id === authorization.keep.sessionId);
  }

  /** Revokes the credentials, issues a new token pair to the session to keep, and ends the other sessions. */
  private *finish(
    { userId: id, authorization, client, now }: Replacement,
    keeps: boolean,
    records: boolean,
  ): Step<Replaced> {
    const userId = String(id);
    const isChange = authorization.kind === 'change';
    const reason = isChange ? 'password_change' : 'password_reset';
    const write = this.events.write.bind(this.events);
    yield* this.lock.revokeCredentials(userId);
    const keep = isChange && keeps ? authorization.keep : null;
    const kept = keep ? yield* this.reissue.reissue(keep.sessionId, keep.issued, now) : null;
    const revoke = isChange ? this.options.revokeOnPasswordChange : this.options.revokeOnPasswordReset;
    const command = { userId, reason, ...(keep ? { exceptId: keep.sessionId } : {}) } as const;
    const ended = revoke ? yield* this.endSessions.endAndRecord(command, client, write) : [];
    if (records) yield* write([newEvent(reason, userId, client, now)]);
    return { kind: 'replaced', kept, ended };
  }
}
