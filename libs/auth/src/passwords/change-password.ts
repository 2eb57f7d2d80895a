import { Injectable } from '@nestjs/common';
import { Clock } from '../base/clock';
import { assertValidField, invalidAccessToken } from '../base/errors';
import { passwordProblem } from '../base/fields';
import type { Operation } from '../history/client';
import type { AuthPrincipal } from '../sessions/authenticate';
import { TokenIssuer, tokenPair, type TokenPair } from '../tokens/tokens';
import { InSession } from './in-session';
import { ReplacePassword } from './replace-password';

/** The current password and the new one. */
export interface PasswordChange {
  readonly currentPassword: string;
  readonly newPassword: string;
}

/** Changes a user's password within a session. The session continues with a new token family. */
@Injectable()
export class ChangePassword {
  constructor(
    private readonly inSession: InSession,
    private readonly clock: Clock,
    private readonly tokens: TokenIssuer,
    private readonly replacement: ReplacePassword,
  ) {}

  async change(principal: AuthPrincipal, change: PasswordChange, op: Operation): Promise<TokenPair> {
    const { currentPassword, newPassword } = change;
    assertValidField('current_password', passwordProblem(currentPassword));
    assertValidField('new_password', passwordProblem(newPassword));
    this.replacement.assertSupported();
    return this.inSession.withPassword(principal, currentPassword, 'current_password', op, async (user) => {
      const { tokens, digests } = this.tokens.issueFamily(principal.sessionId, this.clock.now());
      const keep = { sessionId: principal.sessionId, issued: digests };
      const authorization = { kind: 'change', expectedHash: user.passwordHash!, keep } as const;
      const replaced = await this.replacement.replace(user, newPassword, authorization, op);
      if (replaced === 'refused' || !replaced.kept) throw invalidAccessToken();
      return tokenPair(tokens, replaced.kept);
    });
  }
}
