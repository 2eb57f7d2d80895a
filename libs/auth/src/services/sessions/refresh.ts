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
import { UnconfirmedPairs } from './unconfirmed-pairs';

/** How a refresh token was presented. */
export interface Presentation {
  readonly transport: TokenTransport;
  /** The access token that the client sent with the refresh token, or null. */
  readonly accessToken: string | null;
}

const BEARER: Presentation = { transport: 'bearer', accessToken: null };

/** Refreshes token pairs, and reports the reuse of refresh tokens. */
@Injectable()
export class Refresh {
  constructor(
    private readonly tokens: TokenIssuer,
    private readonly transitions: SessionTransitions,
    private readonly lifecycle: SessionLifecycle,
    private readonly unconfirmed: UnconfirmedPairs,
    private readonly lostCommits: LostCommits,
  ) {}

  /**
   * Exchanges a refresh token for a new pair. In cookie mode, a presented pair that a refresh issued within the grace
   * period is returned unchanged. If the outcome is unknown, this instance keeps the new pair for one minute, for a
   * retry with the same token over the same transport.
   * @throws AuthError `database_unavailable`; `invalid_refresh_token` if the token is refused, with the same message
   *   for every reason; `invalid_field` if a bearer token is empty or not a string
   */
  async refresh(refreshToken: string, info: ClientInfo, presentation = BEARER): Promise<TokenPair> {
    const { transport, accessToken } = presentation;
    if (transport === 'bearer') assertValidField('refresh_token', textProblem(refreshToken));
    const claims = parseRefreshToken(refreshToken);
    if (!claims) throw invalidRefreshToken();
    const context = this.lifecycle.operationContext(info);
    const presented = this.presentedToken(refreshToken, claims, context.client.network, presentation);
    const unconfirmed = this.unconfirmed.take(presented);
    const successor = unconfirmed ?? this.tokens.issueSuccessor(refreshToken, claims, transport);
    const command = { ...context, presented, next: successor.digests, seed: successor.seed };
    const outcome = await this.rotate(command).catch((error: unknown) => {
      // The outcome of the earlier refresh is still unknown, so the next retry needs the same pair.
      if (unconfirmed) this.unconfirmed.keep(presented, unconfirmed);
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
        if (unconfirmed) this.unconfirmed.keep(presented, unconfirmed);
        return tokenPair({ accessToken: accessToken!, refreshToken }, outcome.expiries);
      case 'unknown':
        this.unconfirmed.keep(presented, successor);
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
      // These two digests are computed on demand, because not every refresh needs them.
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

/**
 * Returns `database_unavailable` with a delay of one second. The client must retry soon, because the pair of a
 * refresh with an unknown outcome is kept for one minute only.
 */
function unavailable(): AuthError {
  return databaseUnavailable(1);
}
