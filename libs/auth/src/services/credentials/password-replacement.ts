import { Inject, Injectable } from '@nestjs/common';
import type { ClientInfo } from '../../domain/client';
import { AuthError } from '../../domain/errors';
import { CredentialStore, type ReplacePassword, type StoredUser } from '../../domain/ports/accounts';
import { viewSession } from '../../domain/session';
import type { PairExpiries } from '../../domain/tokens';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from '../../options/auth-options';
import { SessionLifecycle } from '../sessions/session-lifecycle';
import { LoginThrottle } from './login-throttle';
import { Passwords } from './passwords';

/** Stores a new password that meets the policy, and publishes it with the sessions that it ends. */
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

  /** @throws AuthError `not_supported` where the user store cannot set passwords */
  assertSupported(): void {
    if (!this.isSupported) throw new AuthError('not_supported', 'The user store cannot set passwords.');
  }

  /**
   * @param by what allows it, and the session to keep at a change; a reset keeps none
   * @returns when the new pair of the kept session expires, if that has not ended meanwhile; null where the password was
   * not set, because the user, the verified password or what allowed it is gone
   */
  async replace(
    user: StoredUser,
    newPassword: string,
    info: ClientInfo,
    by: Pick<ReplacePassword, 'expectedHash' | 'resetDigest' | 'keep'>,
  ): Promise<{ readonly kept: PairExpiries | null } | null> {
    const isChange = by.keep !== null;
    const revoke = isChange ? this.options.revokeOnPasswordChange : this.options.revokeOnPasswordReset;
    const { network } = this.lifecycle.operationContext(info).client;
    // A change confirms the password first, and has entered the queue with that.
    const origin = { network, hasEntered: isChange };
    const passwordHash = await this.passwords.hashNew(newPassword, 'new_password', user.username, origin);
    const at = this.lifecycle.operationContext(info);
    const outcome = await this.credentials.replace({ ...at, ...by, revoke, userId: user.id, passwordHash });
    const keptId = by.keep?.sessionId ?? null;
    this.lifecycle.publishSessionEnded(outcome.ended, keptId);
    if (outcome.kind === 'refused') return null;
    const kept = outcome.kind === 'replaced' ? outcome.kept : null;
    const session = kept && viewSession(kept.session, keptId);
    if (outcome.kind === 'replaced' || outcome.isSet) {
      if (isChange) this.lifecycle.signals.emit('password_changed', { userId: user.id, session });
      else this.lifecycle.signals.emit('password_reset', { userId: user.id });
    }
    if (outcome.kind === 'broken') throw outcome.error;
    if (!isChange) await this.throttle.resetPasswordStreaks(user.id);
    return { kept };
  }
}
