import { Injectable, Logger } from '@nestjs/common';
import type { ClientInfo } from '../adapters/second-factor';
import { Clock, OncePerMinute } from '../base/clock';
import { assertValidField, AuthError, databaseUnavailable, invalidRefreshToken } from '../base/errors';
import { textProblem } from '../base/fields';
import { Metrics } from '../base/telemetry';
import type { TokenTransport } from '../database/entities';
import { SignalBus } from '../history/signal-publisher';
import {
  parseRefreshToken,
  type RefreshTokenClaims,
  TokenIssuer,
  type TokenLifetimes,
  tokenPair,
  type TokenPair,
} from '../tokens/tokens';
import type { PresentedRefreshToken } from './decide-refresh';
import { SessionLifecycle } from './lifecycle';
import type { RotateOutcome, RotateToken } from './rotate';
import { type SessionRecord, toSessionInfo } from './session';
import { SessionTransitions } from './transitions';
import { UnconfirmedPairs } from './unconfirmed-pairs';

/** The tokens in the cookies of a request. */
export interface CookieTokens {
  readonly refreshToken: string;
  readonly accessToken: string | null;
}

/**
 * Reports refresh tokens that are newer than the database. Each report is counted. At most once a
 * minute, an error is logged and a signal is emitted. Presenting such a token is not reuse: RFC
 * 9700, section 4.14.2, assumes a server that does not lose commits.
 */
@Injectable()
export class LostCommits {
  private readonly logger = new Logger('AuthSessions');
  /** Limits logs and signals, because one loss of commits can affect many clients. */
  private readonly reportLimit: OncePerMinute;

  constructor(
    clock: Clock,
    private readonly metrics: Metrics,
    private readonly signals: SignalBus,
    private readonly lifecycle: SessionLifecycle,
  ) {
    this.reportLimit = new OncePerMinute(clock);
  }

  report(session: SessionRecord): void {
    this.metrics.count('session_auth.token.newer_than_database', 1);
    this.reportLimit.run(() => this.logAndEmit(session));
  }

  private logAndEmit(session: SessionRecord): void {
    this.logger.error(
      `A refresh token of session ${session.id} is newer than the database. If the database was restored from a backup, or ` +
        'failed over to a server that lagged behind, revoked sessions may be active again. In that case, end all ' +
        "sessions with SessionAdministration.end({ everyone: true }, { actor: '...' }).",
    );
    const userId = this.lifecycle.userIdOf(session);
    this.signals.emit('lost_commits_suspected', { userId, session: toSessionInfo(session, null) });
  }
}

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
