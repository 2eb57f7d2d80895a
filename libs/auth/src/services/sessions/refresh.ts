import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../../domain/client';
import { assertValidField, AuthError, databaseUnavailable, invalidRefreshToken } from '../../domain/errors';
import { textProblem } from '../../domain/fields';
import type { RotateOutcome } from '../../domain/outcomes';
import { type RotateToken, SessionTransitions } from '../../domain/ports/sessions';
import type { PresentedRefreshToken, TokenTransport } from '../../domain/refresh-decision';
import { parseRefreshToken, tokenPair } from '../../domain/tokens';
import type { RefreshTokenClaims, TokenPair } from '../../domain/tokens';
import { LostCommits } from './lost-commits';
import { SessionLifecycle } from './session-lifecycle';
import { TokenIssuer, type TokenLifetimes } from './token-issuer';
import { UndeliveredPairs } from './undelivered-pairs';

/** How a refresh token was presented. */
export interface Presentation {
  readonly transport: TokenTransport;
  /** The access token that came with it; null for none. */
  readonly accessToken: string | null;
}

const BY_BEARER: Presentation = { transport: 'bearer', accessToken: null };

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
   * Returns the pair that follows a refresh token, or the presented pair where that was issued just now. If the outcome
   * is unknown, the next pair is kept for a minute, for the same token over the same transport.
   * @throws AuthError `invalid_field` for a bearer token that is no text; `invalid_refresh_token`, the same for unknown,
   * expired, revoked and used tokens
   */
  async refresh(refreshToken: string, info: ClientInfo, presentation = BY_BEARER): Promise<TokenPair> {
    const { transport, accessToken } = presentation;
    if (transport === 'bearer') assertValidField('refresh_token', textProblem(refreshToken));
    const claims = parseRefreshToken(refreshToken);
    if (!claims) throw invalidRefreshToken();
    const context = this.lifecycle.operationContext(info);
    const presented = this.presentedToken(refreshToken, claims, context.client.network, presentation);
    const undelivered = this.undelivered.take(presented);
    const successor = undelivered ?? this.tokens.issueSuccessor(refreshToken, claims, transport);
    const command = { ...context, presented, next: successor.digests, seed: successor.seed };
    const outcome = await this.rotate(command).catch((error: unknown) => {
      // What became of the earlier refresh is as unknown as before.
      if (undelivered) this.undelivered.keep(presented, undelivered);
      throw error;
    });
    switch (outcome.kind) {
      case 'rotated':
        if (outcome.networkChange) this.lifecycle.publishNetworkChange(outcome.networkChange);
        return tokenPair(successor.tokens, outcome.expiries);
      case 'replayed': {
        if (outcome.networkChange) this.lifecycle.publishNetworkChange(outcome.networkChange);
        const { tokens } = this.tokens.deriveSuccessor(refreshToken, claims, outcome.seed);
        return tokenPair(tokens, outcome.expiries);
      }
      case 'unchanged':
        if (undelivered) this.undelivered.keep(presented, undelivered);
        return tokenPair({ accessToken: accessToken!, refreshToken }, outcome.expiries);
      case 'unknown':
        this.undelivered.keep(presented, successor);
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
    throw invalidRefreshToken();
  }

  private async rotate(command: Omit<RotateToken, keyof TokenLifetimes>): Promise<RotateOutcome> {
    try {
      return await this.transitions.rotate({ ...command, ...this.tokens.lifetimes(command.presented.transport) });
    } catch (error) {
      throw error instanceof AuthError && error.code === 'database_unavailable' ? unavailable() : error;
    }
  }

  private presentedToken(
    text: string,
    claims: RefreshTokenClaims,
    network: string,
    { transport, accessToken }: Presentation,
  ): PresentedRefreshToken {
    const { tokens } = this;
    return {
      sessionId: claims.sessionId,
      digest: tokens.digest(text),
      generation: claims.generation,
      transport,
      accessDigest: accessToken === null ? null : tokens.digest(accessToken),
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
