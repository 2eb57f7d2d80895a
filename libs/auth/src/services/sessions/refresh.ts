import { Inject, Injectable } from '@nestjs/common';
import type { ClientInfo } from '../../domain/client';
import { assertValidField, AuthError } from '../../domain/errors';
import { textProblem } from '../../domain/fields';
import { SessionTransitions } from '../../domain/ports/sessions';
import type { PresentedRefreshToken } from '../../domain/refresh-decision';
import { parseRefreshToken, type RefreshTokenClaims, type TokenPair } from '../../domain/tokens';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from '../../options/auth-options';
import { SessionLifecycle } from './session-lifecycle';
import { TokenIssuer } from './token-issuer';

/** Refreshes token pairs, and reports the reuse of refresh tokens. */
@Injectable()
export class Refresh {
  constructor(
    @Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions,
    private readonly tokens: TokenIssuer,
    private readonly transitions: SessionTransitions,
    private readonly lifecycle: SessionLifecycle,
  ) {}

  /**
   * Returns the pair that follows a refresh token.
   * @throws AuthError `invalid_field`; `invalid_refresh_token`, the same for unknown, expired, revoked and used tokens
   */
  async refresh(refreshToken: string, info: ClientInfo): Promise<TokenPair> {
    assertValidField('refresh_token', textProblem(refreshToken));
    const claims = parseRefreshToken(refreshToken);
    if (!claims) throw refused();
    const context = this.lifecycle.operationContext(info);
    const graceMs = this.options.refreshReuseGraceSeconds * 1000;
    const seed = graceMs > 0 ? this.tokens.newSeed() : null;
    const next =
      seed === null
        ? this.tokens.issueSuccessor(refreshToken, claims)
        : this.tokens.deriveSuccessor(refreshToken, claims, seed);
    const outcome = await this.transitions.rotate({
      ...context,
      presented: this.presentedToken(refreshToken, claims, context.client.network),
      next: next.digests,
      accessTtlMs: this.options.accessTokenTtlSeconds * 1000,
      refreshTtlMs: this.options.refreshTokenTtlSeconds * 1000,
      graceMs,
      seed,
    });
    switch (outcome.kind) {
      case 'rotated':
        if (outcome.networkChange) this.lifecycle.publishNetworkChange(outcome.networkChange);
        return next.pair;
      case 'replayed':
        return this.tokens.deriveSuccessor(refreshToken, claims, outcome.seed).pair;
      case 'reused':
        this.lifecycle.publishTokenReuse(outcome, context.client);
        break;
      case 'session_expired':
        await this.lifecycle.expireSessions(outcome.userId);
        break;
      case 'account_inactive':
        await this.lifecycle.revokeForInactiveAccount(outcome.userId, outcome.account, context);
    }
    throw refused();
  }

  private presentedToken(text: string, claims: RefreshTokenClaims, network: string): PresentedRefreshToken {
    const { tokens } = this;
    return {
      sessionId: claims.sessionId,
      digest: tokens.digest(text),
      generation: claims.generation,
      transport: 'bearer',
      // Computed on demand: a digest takes longer than everything else here, and most refreshes do not need these.
      get familyDigest() {
        return tokens.digest(claims.familySecret);
      },
      get networkDigest() {
        return tokens.networkDigest(text, network);
      },
      successorDigests: (seed) => tokens.deriveSuccessor(text, claims, seed).digests,
    };
  }
}

function refused(): AuthError {
  return new AuthError('invalid_refresh_token', 'Invalid or expired refresh token.');
}
