import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../adapters/second-factor';
import { assertValidField, invalidAccessToken } from '../base/errors';
import { passwordProblem } from '../base/fields';
import { Login } from '../login/login';
import type { AuthPrincipal } from '../sessions/authenticate';
import { SessionLifecycle } from '../sessions/lifecycle';
import { TokenIssuer, tokenPair, type TokenPair } from '../tokens/tokens';
import { PasswordReplacement } from './replace-password';

/** The current password and the new one. */
export interface PasswordChange {
  readonly currentPassword: string;
  readonly newPassword: string;
}

/** Changes a user's password within a session. The session continues with a new token family. */
@Injectable()
export class UserPassword {
  constructor(
    private readonly login: Login,
    private readonly lifecycle: SessionLifecycle,
    private readonly tokens: TokenIssuer,
    private readonly replacement: PasswordReplacement,
  ) {}

  /** Whether the user store can set passwords. */
  get isChangeable(): boolean {
    return this.replacement.isSupported;
  }

  async change(principal: AuthPrincipal, change: PasswordChange, info: ClientInfo): Promise<TokenPair> {
    const { currentPassword, newPassword } = change;
    assertValidField('current_password', passwordProblem(currentPassword));
    assertValidField('new_password', passwordProblem(newPassword));
    this.replacement.assertSupported();
    return this.login.verifyPasswordThen(principal, currentPassword, 'current_password', info, async (user) => {
      const { tokens, digests } = this.tokens.issueFamily(principal.session.id, this.lifecycle.now());
      const keep = { sessionId: principal.session.id, issued: digests };
      const proof = { expectedHash: user.passwordHash!, resetDigest: null, keep };
      const replaced = await this.replacement.replace(user, newPassword, info, proof);
      if (!replaced?.kept) throw invalidAccessToken();
      return tokenPair(tokens, replaced.kept);
    });
  }
}
