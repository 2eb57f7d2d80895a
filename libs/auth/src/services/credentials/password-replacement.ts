import { Inject, Injectable } from '@nestjs/common';
import type { ClientInfo } from '../../domain/client';
import { AuthError } from '../../domain/errors';
import { CredentialStore, type ReplacePassword, type StoredUser } from '../../domain/ports/accounts';
import { toSessionInfo } from '../../domain/session';
import type { PairExpiries } from '../../domain/tokens';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from '../../options/auth-options';
import { SessionLifecycle } from '../sessions/session-lifecycle';
import { LoginThrottle } from './login-throttle';
import { Passwords } from './passwords';

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
