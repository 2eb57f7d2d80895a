import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../adapters/second-factor';
import { type StoredUser, type UserId, UserStore } from '../adapters/user-store';
import { AuthError, unknownUser } from '../base/errors';
import { type NewAuthEvent, newEvent } from '../history/event-log';
import { SessionLifecycle } from '../sessions/lifecycle';
import { isResetToken, TokenIssuer } from '../tokens/tokens';
import { CredentialStore } from '../users/users';
import { PasswordReplacement } from './replace-password';

/** A reset token to be stored. */
export interface NewResetToken {
  readonly digest: string;
  readonly expiresAt: number;
  /** The result of `CredentialStore.versionOf` before the user was read. */
  readonly credentialsVersion: number;
  /** The event that is recorded in the same transaction. */
  readonly event: NewAuthEvent;
}

/** A password reset token that the application sends to the user. The library stores only a digest of the token. */
export interface PasswordResetToken {
  readonly token: string;
  readonly expiresAt: Date;
}

/** Issues reset tokens. Sets passwords with a reset token, or for a user whom the application has identified. */
@Injectable()
export class PasswordReset {
  constructor(
    private readonly users: UserStore,
    private readonly credentials: CredentialStore,
    private readonly tokens: TokenIssuer,
    private readonly lifecycle: SessionLifecycle,
    private readonly replacement: PasswordReplacement,
  ) {}

  async reset(userId: UserId, newPassword: string, info: ClientInfo): Promise<void> {
    this.replacement.assertSupported();
    const user = await this.users.findById(userId);
    const proof = { resetDigest: null, keep: null };
    if (!user || !(await this.replacement.replace(user, newPassword, info, proof))) throw unknownUser();
  }

  /**
   * Issues a reset token. (ASVS 6.4.3)
   * @throws AuthError `not_supported`; `unknown_user` if the user does not exist or is not active
   */
  async createToken(userId: UserId, info: ClientInfo): Promise<PasswordResetToken> {
    this.replacement.assertSupported();
    const credentialsVersion = await this.credentials.versionOf(userId);
    const user = await this.users.findById(userId);
    if (user && !user.active) await this.revokeForDisabledUser(user, info);
    if (!user?.active) throw unknownUser();
    const { now, client } = this.lifecycle.operationContext(info);
    const { token, digest, expiresAt } = this.tokens.issueResetToken(now);
    const event = newEvent('password_reset_requested', String(user.id), client, now);
    const isStored = await this.credentials.addReset(user.id, { digest, expiresAt, credentialsVersion, event });
    // If the token was not stored, the credentials version changed in the meantime, for example by `disableUser`.
    return isStored ? { token, expiresAt: new Date(expiresAt) } : this.createToken(userId, info);
  }

  /** Sets a new password with a reset token. If the password is refused, the token stays valid. */
  async redeemToken(token: string, newPassword: string, info: ClientInfo): Promise<void> {
    this.replacement.assertSupported();
    if (typeof token !== 'string' || !isResetToken(token)) throw invalidResetToken();
    const resetDigest = this.tokens.digest(token);
    const owner = await this.credentials.ownerOfReset(resetDigest, this.lifecycle.now());
    const user = owner === null ? null : await this.users.findById(this.users.parseId(owner));
    if (user && !user.active) await this.revokeForDisabledUser(user, info);
    const proof = { resetDigest, keep: null };
    if (!user?.active || !(await this.replacement.replace(user, newPassword, info, proof))) throw invalidResetToken();
  }

  /**
   * Ends the sessions and revokes the tokens of a user whom the application has disabled in its own table. Otherwise
   * the sessions and tokens would become valid again when the application enables the user.
   */
  private revokeForDisabledUser({ id }: StoredUser, info: ClientInfo): Promise<void> {
    return this.lifecycle.revokeForInactiveAccount(String(id), 'disabled', this.lifecycle.operationContext(info));
  }
}

function invalidResetToken(): AuthError {
  return new AuthError('invalid_reset_token', 'Invalid or expired token.');
}
