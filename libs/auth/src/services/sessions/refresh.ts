import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../../domain/client';
import { assertValidField, AuthError, databaseUnavailable } from '../../domain/errors';
import { textProblem } from '../../domain/fields';
import type { RotateOutcome } from '../../domain/outcomes';
import { type RotateToken, SessionTransitions } from '../../domain/ports/sessions';
import type { PresentedRefreshToken } from '../../domain/refresh-decision';
import { parseRefreshToken, type RefreshTokenClaims, type TokenPair } from '../../domain/tokens';
import { LostCommits } from './lost-commits';
import { SessionLifecycle } from './session-lifecycle';
import { TokenIssuer } from './token-issuer';
import { UndeliveredPairs } from './undelivered-pairs';

/** Refreshes token pairs, and reports the reuse of refresh tokens. */
@Injectable()
export class Refresh {
  constructor(
    private readonly tokens: TokenIssuer,
    private readonly transitions: SessionTransitions,
    private readonly lifecycle: SessionLifecycle,
    private readonly undelivered: UndeliveredPairs,
    private readonly lostCommits: LostCommits,
  ) {}

  /**
   * Returns the pair that follows a refresh token. If the outcome is unknown, the pair is kept for a
   * minute, for the same token.
   * @throws AuthError `invalid_field`; `invalid_refresh_token`, the same for unknown, expired, revoked and used tokens
   */
  async refresh(refreshToken: string, info: ClientInfo): Promise<TokenPair> {
    assertValidField('refresh_token', textProblem(refreshToken));
    const claims = parseRefreshToken(refreshToken);
    if (!claims) throw refused();
    const context = this.lifecycle.operationContext(info);
    const presented = this.presentedToken(refreshToken, claims, context.client.network);
    const undelivered = this.undelivered.take(presented.digest);
    const successor = undelivered ?? this.tokens.issueSuccessor(refreshToken, claims);
    const command = { ...context, presented, next: successor.digests, seed: successor.seed };
    const outcome = await this.rotate(command).catch((error: unknown) => {
      // What became of the earlier refresh is as unknown as before.
      if (undelivered) this.undelivered.keep(presented.digest, undelivered);
      throw error;
    });
    switch (outcome.kind) {
      case 'rotated':
        if (outcome.networkChange) this.lifecycle.publishNetworkChange(outcome.networkChange);
        return successor.pair;
      case 'replayed':
        if (outcome.networkChange) this.lifecycle.publishNetworkChange(outcome.networkChange);
        return this.tokens.deriveSuccessor(refreshToken, claims, outcome.seed).pair;
      case 'unknown':
        this.undelivered.keep(presented.digest, successor);
        throw unavailable();
      case 'reused':
        this.lifecycle.publishTokenReuse(outcome, context.client);
        break;
      case 'newer_than_database':
        this.lostCommits.report(outcome.session);
        break;
      case 'session_expired':
        await this.lifecycle.expireSessions(outcome.userId);
        break;
      case 'account_inactive':
        await this.lifecycle.revokeForInactiveAccount(outcome.userId, outcome.account, context);
    }
    throw refused();
  }

  private async rotate(command: Omit<RotateToken, keyof TokenIssuer['lifetimes']>): Promise<RotateOutcome> {
    try {
      return await this.transitions.rotate({ ...command, ...this.tokens.lifetimes });
    } catch (error) {
      throw error instanceof AuthError && error.code === 'database_unavailable' ? unavailable() : error;
    }
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

/** The client comes back soon: a refresh that was done after all is best answered while its pair is kept. */
function unavailable(): AuthError {
  return databaseUnavailable(1);
}

function refused(): AuthError {
  return new AuthError('invalid_refresh_token', 'Invalid or expired refresh token.');
}
