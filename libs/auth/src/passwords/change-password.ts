import { Injectable } from '@nestjs/common';
import { assertValidField, invalidAccessToken } from '../base/errors';
import { passwordProblem } from '../base/fields';
import { Login } from '../login/login';
import type { AuthPrincipal } from '../sessions/authenticate';
import { Clock } from '../base/clock';
import type { Operation } from '../history/client';
import { TokenIssuer, tokenPair, type TokenPair } from '../tokens/tokens';
import { ReplacePassword } from './replace-password';

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
    private readonly clock: Clock,
    private readonly tokens: TokenIssuer,
    private readonly replacement: ReplacePassword,
  ) {}

  async change(principal: AuthPrincipal, change: PasswordChange, op: Operation): Promise<TokenPair> {
    const { currentPassword, newPassword } = change;
    assertValidField('current_password', passwordProblem(currentPassword));
    assertValidField('new_password', passwordProblem(newPassword));
    this.replacement.assertSupported();
    return this.login.verifyPasswordThen(principal, currentPassword, 'current_password', op, async (user) => {
      const { tokens, digests } = this.tokens.issueFamily(principal.session.id, this.clock.now());
      const keep = { sessionId: principal.session.id, issued: digests };
      const authorization = { kind: 'change', expectedHash: user.passwordHash!, keep } as const;
      const replaced = await this.replacement.replace(user, newPassword, authorization, op);
      if (replaced === 'refused' || !replaced.kept) throw invalidAccessToken();
      return tokenPair(tokens, replaced.kept);
    });
  }
}
