import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../../domain/client';
import { assertValidField, invalidAccessToken } from '../../domain/errors';
import { passwordProblem } from '../../domain/fields';
import { tokenPair, type TokenPair } from '../../domain/tokens';
import type { AuthPrincipal } from '../sessions/authentication';
import { SessionLifecycle } from '../sessions/session-lifecycle';
import { TokenIssuer } from '../sessions/token-issuer';
import { Login } from './login';
import { PasswordReplacement } from './password-replacement';

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
