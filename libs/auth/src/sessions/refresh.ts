import { type BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import { Clock, OncePerMinute } from '../base/clock';
import { assertValidField, AuthError, databaseUnavailable, invalidRefreshToken } from '../base/errors';
import { textProblem } from '../base/fields';
import { sha256 } from '../base/random';
import { measureDuration, Metrics } from '../base/telemetry';
import type { TokenTransport } from '../database/entities';
import type { Client } from '../history/event-log';
import { Signals } from '../history/signals';
import { parseRefreshToken, type Successor, TokenIssuer, tokenPair, type TokenPair } from '../tokens/tokens';
import { Users } from '../users/users';
import type { PresentedRefreshToken } from './decide-refresh';
import { EndSessions } from './end-sessions';
import { type NetworkChange, type Reused, Rotate, type RotateOutcome } from './rotate';
import { type SessionRecord, toSessionInfo } from './session';

/** How a refresh token was presented. */
interface Presentation {
  readonly transport: TokenTransport;
  /** The access token that the client sent with the refresh token, or null. */
  readonly accessToken: string | null;
}

const BEARER: Presentation = { transport: 'bearer', accessToken: null };

/** How long a pair is kept for the client's retry, in milliseconds. */
const RETENTION_MS = 60_000;

/** The maximum number of pairs, which bounds memory if an outage affects every client at the same time. */
const MAX_PAIRS = 10_000;

type Presented = Pick<PresentedRefreshToken, 'digest' | 'transport'>;

/**
 * Keeps the token pairs of refreshes that failed with 503 because their outcome was unknown. If the client presents
 * its token to this instance again within 60 seconds, the refresh is retried with the same pair, whose digests the
 * database contains if the first attempt was committed. A returned pair is not kept. Pairs are kept in memory only.
 */
@Injectable()
export class UnconfirmedPairs implements BeforeApplicationShutdown {
  /** The kept pairs, oldest first. */
  private readonly pairs = new Map<string, { readonly successor: Successor; readonly expiresAt: number }>();
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly clock: Clock) {}

  beforeApplicationShutdown(): void {
    clearTimeout(this.timer);
    this.pairs.clear();
  }

  /** @param presented the refresh token that the pair replaces */
  keep(presented: Presented, successor: Successor): void {
    this.pairs.set(keyOf(presented), { successor, expiresAt: this.clock.now() + RETENTION_MS });
    if (this.pairs.size > MAX_PAIRS) this.pairs.delete(this.pairs.keys().next().value!);
    // A timer removes expired pairs, because secrets must not stay in memory until the next refresh.
    this.timer ??= setTimeout(() => this.removeExpired(), RETENTION_MS).unref();
  }

  /** Removes and returns the pair that replaces the presented token, or returns null if none is kept. */
  take(presented: Presented): Successor | null {
    const kept = this.pairs.get(keyOf(presented));
    this.pairs.delete(keyOf(presented));
    return kept && this.clock.now() < kept.expiresAt ? kept.successor : null;
  }

  private removeExpired(): void {
    const now = this.clock.now();
    for (const [key, { expiresAt }] of this.pairs) if (expiresAt <= now) this.pairs.delete(key);
    this.timer = this.pairs.size > 0 ? setTimeout(() => this.removeExpired(), RETENTION_MS).unref() : undefined;
  }
}

/** The transport is part of the key, because a bearer client must not receive the pair of a cookie client. */
function keyOf({ digest, transport }: Presented): string {
  return `${transport} ${digest}`;
}

/** Refreshes token pairs, and reports the reuse of refresh tokens. */
@Injectable()
export class Refresh {
  private readonly logger = new Logger('AuthSessions');
  /** Limits logs and signals, because one loss of commits can affect many clients. */
  private readonly lostCommitsLimit: OncePerMinute;

  constructor(
    private readonly tokens: TokenIssuer,
    private readonly rotation: Rotate,
    private readonly unconfirmed: UnconfirmedPairs,
    private readonly endSessions: EndSessions,
    private readonly users: Users,
    private readonly signals: Signals,
    private readonly metrics: Metrics,
    clock: Clock,
  ) {
    this.lostCommitsLimit = new OncePerMinute(clock);
  }

  /**
   * Exchanges a refresh token for a new pair. In cookie mode, a presented pair that a refresh issued within the grace
   * period is returned unchanged, because browser tabs that wake up together present the pair that one tab has just
   * received. If the outcome is unknown, this instance keeps the new pair for one minute, for a retry with the same
   * token over the same transport.
   * @throws AuthError `database_unavailable`; `invalid_refresh_token` if the token is refused, with the same message
   *   for every reason; `invalid_field` if a bearer token is empty or not a string
   */
  refresh(refreshToken: string, client: Client, presentation = BEARER): Promise<TokenPair> {
    return measureDuration(this.metrics, 'session_auth.refresh.duration', async () => {
      const { transport, accessToken } = presentation;
      if (transport === 'bearer') assertValidField('refresh_token', textProblem(refreshToken));
      const claims = parseRefreshToken(refreshToken);
      if (!claims) throw invalidRefreshToken();
      const { sessionId, generation, familySecret } = claims;
      const presented: PresentedRefreshToken = {
        sessionId,
        digest: sha256(refreshToken),
        familyDigest: sha256(familySecret),
        generation,
        transport,
        accessDigest: accessToken === null ? null : sha256(accessToken),
        networkDigest: this.tokens.networkDigest(refreshToken, client.network),
        successorDigests: (seed) => this.tokens.deriveSuccessor(refreshToken, claims, seed).digests,
      };
      const unconfirmed = this.unconfirmed.take(presented);
      const successor = unconfirmed ?? this.tokens.issueSuccessor(refreshToken, claims, transport);
      const outcome = await this.rotation.rotate(presented, successor, client).catch((error: unknown) => {
        // The outcome of the earlier refresh is still unknown, so the next retry needs the same pair.
        if (unconfirmed) this.unconfirmed.keep(presented, unconfirmed);
        throw error instanceof AuthError && error.code === 'database_unavailable' ? unavailable() : error;
      });
      switch (outcome.kind) {
        case 'rotated':
          this.publishNetworkChange(outcome.networkChange);
          return tokenPair(successor.tokens, outcome.expiries);
        case 'replayed':
          this.publishNetworkChange(outcome.networkChange);
          return tokenPair(this.tokens.deriveSuccessor(refreshToken, claims, outcome.seed).tokens, outcome.expiries);
        case 'unchanged':
          if (unconfirmed) this.unconfirmed.keep(presented, unconfirmed);
          return tokenPair({ accessToken: accessToken!, refreshToken }, outcome.expiries);
        case 'unknown': {
          const { replayedSeed: seed } = outcome;
          const replayed = seed === null ? null : this.tokens.deriveSuccessor(refreshToken, claims, seed);
          this.unconfirmed.keep(presented, replayed ?? successor);
          throw unavailable();
        }
        default:
          await this.reactToRefusal(outcome, client);
          throw invalidRefreshToken();
      }
    });
  }

  private async reactToRefusal(
    outcome: Exclude<RotateOutcome, { kind: 'rotated' | 'replayed' | 'unchanged' | 'unknown' }>,
    client: Client,
  ): Promise<void> {
    switch (outcome.kind) {
      case 'reused':
        return this.publishTokenReuse(outcome, client);
      case 'newer_than_database':
        return this.reportLostCommits(outcome.found.session);
      case 'session_expired':
        return this.endSessions.expire(outcome.found.session.userId);
      case 'account_inactive': {
        const { session, account } = outcome.found;
        return this.endSessions.endForInactiveAccount(session.userId, account!, { client, tx: null });
      }
      case 'refused':
    }
  }

  private publishNetworkChange(change: NetworkChange | null): void {
    if (!change) return;
    const { session, from, to } = change;
    const payload = { userId: this.users.parseId(session.userId), session: toSessionInfo(session, session.id) };
    this.signals.emit(null, 'session_network_changed', { ...payload, from, to });
  }

  private publishTokenReuse(reuse: Reused, { ipAddress, userAgent }: Client): void {
    const { found, ended, sessionsEnded, generationsBehind } = reuse;
    const { session, refreshedAt } = found;
    this.signals.emit(null, 'token_reuse_detected', {
      userId: this.users.parseId(session.userId),
      session: toSessionInfo({ ...session, state: 'revoked' }, null),
      ipAddress,
      userAgent,
      reuse: { generationsBehind, lastRefreshAt: new Date(refreshedAt ?? session.createdAt) },
      sessionsEnded,
    });
    this.endSessions.publish(ended, null);
  }

  /**
   * Reports a refresh token that is newer than the database. Presenting it is not reuse: RFC 9700, section 4.14.2,
   * assumes a server that does not lose commits.
   */
  private reportLostCommits(session: SessionRecord): void {
    this.metrics.count('session_auth.token.newer_than_database', 1);
    this.lostCommitsLimit.run(() => {
      this.logger.error(
        `A refresh token of session ${session.id} is newer than the database. If the database was restored from a backup, or ` +
          'failed over to a server that lagged behind, revoked sessions may be active again. In that case, end all ' +
          "sessions with SessionAdministration.end({ everyone: true }, { actor: '...' }).",
      );
      const userId = this.users.parseId(session.userId);
      this.signals.emit(null, 'lost_commits_suspected', { userId, session: toSessionInfo(session, null) });
    });
  }
}

/** The client must retry after one second, because the pair of an unknown outcome is kept for one minute only. */
function unavailable(): AuthError {
  return databaseUnavailable(1);
}
