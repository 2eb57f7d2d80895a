import { type BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import { Clock, isWithinLast, OncePerMinute } from '../base/clock';
import { isInRealm } from '../adapters/realm';
import { assertValidField, AuthError, databaseUnavailable, invalidRefreshToken } from '../base/errors';
import { textProblem } from '../base/fields';
import { sha256 } from '../base/random';
import { Metrics } from '../base/telemetry';
import type { TokenTransport } from '../database/entities';
import { type Client, EventLog, newEvent, type WriteEvents } from '../history/event-log';
import { Signals } from '../history/signals';
import { parseRefreshToken, type Successor, TokenIssuer, tokenPair, type TokenPair } from '../tokens/tokens';
import { Users } from '../users/users';
import { endEvents, EndSessions, NO_CLIENT } from './end-sessions';
import {
  termsOf,
  MAX_REPLAYS,
  type PresentedRefreshToken,
  previousNetworkOf,
  type RefreshableSession,
  type ReplayWindow,
  Rotate,
  type Rotation,
} from './rotate';
import { isExpired, type SessionRecord, toEndedSession, toSessionInfo, UserLock } from './session';

const RETENTION_MS = 60_000;

/** Bounds memory if an outage affects every client at the same time. */
const MAX_PAIRS = 10_000;

/**
 * Keeps the pairs of refreshes that failed with 503 because their outcome was unknown. If the client presents its token
 * to this instance again within 60 seconds, the refresh is retried with the same pair, whose digests the database
 * contains if the first attempt was committed. A returned pair is not kept.
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

  keep(presented: PresentedRefreshToken, successor: Successor): void {
    this.pairs.set(keyOf(presented), { successor, expiresAt: this.clock.now() + RETENTION_MS });
    if (this.pairs.size > MAX_PAIRS) this.pairs.delete(this.pairs.keys().next().value!);
    // A timer removes expired pairs, because secrets must not stay in memory until the next refresh.
    this.timer ??= setTimeout(() => this.removeExpired(), RETENTION_MS).unref();
  }

  take(presented: PresentedRefreshToken): Successor | null {
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

/**
 * The transport is part of the key, because a bearer client must not receive the pair of a cookie client. So is the realm,
 * because a call of another realm must not take the pair.
 */
function keyOf({ digest, transport, realm }: PresentedRefreshToken): string {
  return `${transport} ${digest} ${realm}`;
}

interface RefreshCall extends Rotation {
  readonly refreshToken: string;
  readonly accessToken: string | null;
  /** The pair of an earlier refresh whose outcome was unknown. */
  readonly unconfirmed: Successor | null;
  /** The pair that a replay returns, once one was tried. */
  replayed?: Successor;
}

/** `changed`: another request has changed the session since it was read. */
type Outcome = TokenPair | 'refused' | 'changed';

/**
 * The time limit of a rotation before the session is read. If the event log is locked, enough time remains to end the
 * sessions in case the token turns out to be reused.
 */
const FIRST_ATTEMPT_TIMEOUT_MS = 2_000;

/** Each parallel change requires another decision. */
const MAX_DECISIONS = 5;

/** Rotates a refresh token, replays the last refresh, or ends all sessions of the user after reuse. */
@Injectable()
export class Refresh {
  private readonly logger = new Logger('AuthSessions');
  private readonly lostCommitsLimit: OncePerMinute;

  constructor(
    private readonly tokens: TokenIssuer,
    private readonly rotation: Rotate,
    private readonly unconfirmed: UnconfirmedPairs,
    private readonly endSessions: EndSessions,
    private readonly lock: UserLock,
    private readonly users: Users,
    private readonly events: EventLog,
    private readonly signals: Signals,
    private readonly metrics: Metrics,
    clock: Clock,
  ) {
    this.lostCommitsLimit = new OncePerMinute(clock);
  }

  /** Exchanges a refresh token. @param accessToken the access token that the client sent in another cookie, or null */
  refresh(
    refreshToken: string,
    client: Client,
    transport: TokenTransport = 'bearer',
    accessToken: string | null = null,
  ): Promise<TokenPair> {
    return this.metrics.measure('session_auth.refresh.duration', async () => {
      const call: RefreshCall = this.begin(refreshToken, client, transport, accessToken);
      const outcome = await this.run(call).catch((error: unknown) => {
        // The outcome of an earlier refresh is still unknown, so the next retry needs the same pair.
        const kept = call.outcomeUnknown ? (call.replayed ?? call.successor) : call.unconfirmed;
        if (kept) this.unconfirmed.keep(call.presented, kept);
        const isUnavailable = error instanceof AuthError && error.code === 'database_unavailable';
        // The client must retry after one second, because the pair is kept for one minute only.
        throw call.outcomeUnknown || isUnavailable ? databaseUnavailable(1) : error;
      });
      if (typeof outcome === 'string') throw invalidRefreshToken();
      return outcome;
    });
  }

  private begin(refreshToken: string, client: Client, transport: TokenTransport, accessToken: string | null) {
    if (transport === 'bearer') assertValidField('refresh_token', textProblem(refreshToken));
    const claims = parseRefreshToken(refreshToken);
    if (!claims) throw invalidRefreshToken();
    const presented: PresentedRefreshToken = {
      sessionId: claims.sessionId,
      digest: sha256(refreshToken),
      familyDigest: sha256(claims.familySecret),
      generation: claims.generation,
      transport,
      realm: client.realm,
      accessDigest: accessToken === null ? null : sha256(accessToken),
      networkDigest: this.tokens.networkDigest(refreshToken, client.network),
      successor: (seed) => this.tokens.deriveSuccessor(refreshToken, claims, seed),
    };
    const unconfirmed = this.unconfirmed.take(presented);
    const successor = unconfirmed ?? this.tokens.issueSuccessor(refreshToken, claims, transport);
    return { ...this.rotation.begin(presented, successor, client), refreshToken, accessToken, unconfirmed };
  }

  private async run(call: RefreshCall): Promise<Outcome> {
    const { presented, successor } = call;
    // If the access token is presented too, only a read can decide whether the pair stays unchanged.
    if (this.rotation.needsNoRead && presented.accessDigest === null) {
      const rotated = await this.rotate(call, null, FIRST_ATTEMPT_TIMEOUT_MS).catch(() => null);
      if (rotated && rotated !== 'changed') return rotated;
    }
    for (let decisions = 0; decisions < MAX_DECISIONS; decisions++) {
      const found = await this.rotation.read(call);
      // An earlier run, whose result was lost, has rotated the token.
      if (found?.accessDigest === successor.digests.accessDigest) return tokenPair(successor.tokens, termsOf(found));
      const outcome = found ? await this.respond(found, call) : 'refused';
      if (outcome !== 'changed') return outcome;
    }
    return 'refused';
  }

  private async respond(found: RefreshableSession, call: RefreshCall): Promise<Outcome> {
    const { presented, client, now, graceMs, accessToken, refreshToken } = call;
    const { userId } = found.session;
    switch (decideRefresh(found, presented, now, graceMs)) {
      case 'rotate':
        return this.rotate(call, found);
      case 'replay':
        return this.replay(call, found);
      case 'unchanged':
        if (call.unconfirmed) this.unconfirmed.keep(presented, call.unconfirmed);
        return tokenPair({ accessToken: accessToken!, refreshToken }, termsOf(found));
      case 'reuse':
        // With a seed, a replay may have delivered the pair of an earlier run, and the client may have refreshed it.
        // Without a seed, no client has received that pair, so `run` would have found it in the session.
        if (!mayHaveRotated(call, found)) await this.endAfterReuse(found, call);
        return 'refused';
      case 'newer_than_database':
        this.reportLostCommits(found.session);
        return 'refused';
      case 'session_expired':
        await this.endSessions.end({ userId, reason: 'expired' }, { client: NO_CLIENT, tx: null });
        return 'refused';
      case 'account_inactive':
        await this.endSessions.endForInactiveAccount(userId, found.account!, { client, tx: null });
        return 'refused';
      case 'refuse':
        return 'refused';
    }
  }

  private async rotate(call: RefreshCall, found: RefreshableSession | null, maxMs?: number): Promise<Outcome> {
    const rotated = await this.rotation.rotate(call, found, maxMs);
    if (!rotated) return 'changed';
    if (rotated.previousNetwork !== null) await this.publishNetworkChange(rotated.previousNetwork, call, found);
    return tokenPair(call.successor.tokens, rotated);
  }

  private async replay(call: RefreshCall, found: RefreshableSession): Promise<Outcome> {
    call.replayed = call.presented.successor(found.replay!.seed);
    if (!(await this.rotation.replay(call, found))) return 'changed';
    const previousNetwork = previousNetworkOf(found, call.client);
    if (previousNetwork !== null) await this.publishNetworkChange(previousNetwork, call, found);
    return tokenPair(call.replayed.tokens, termsOf(found));
  }

  /** The refresh is committed and must not fail, even if the session cannot be read. */
  private async publishNetworkChange(from: string, call: RefreshCall, known: RefreshableSession | null): Promise<void> {
    const found = known ?? (await this.rotation.read(call).catch(() => null));
    if (!found) return;
    const { id, userId } = found.session;
    const payload = { userId: this.users.parseId(userId), session: toSessionInfo(found.session, id) };
    this.signals.emit(null, 'session_network_changed', { ...payload, from, to: call.client.trackedNetwork });
  }

  private async endAfterReuse({ session: { userId } }: RefreshableSession, call: RefreshCall): Promise<void> {
    const { presented, budget, client } = call;
    const reuse = await this.events.revoke(null, (write) => this.revokeOnReuse(userId, call, write), budget);
    if (!reuse) return;
    const { found, ended, sessionsEnded } = reuse;
    const { session, generation, refreshedAt } = found;
    const generationsBehind = generation - presented.generation;
    this.signals.emit(null, 'token_reuse_detected', {
      userId: this.users.parseId(userId),
      session: toSessionInfo({ ...session, state: 'revoked' }, null),
      ipAddress: client.ipAddress,
      userAgent: client.userAgent,
      reuse: { generationsBehind, lastRefreshAt: new Date(refreshedAt ?? session.createdAt) },
      sessionsEnded,
    });
    this.endSessions.publish(ended, null);
    this.endSessions.publishKeys(null, userId);
  }

  /** Decides again under the user's lock, so that only the first of several parallel presentations ends anything. */
  private *revokeOnReuse(userId: string, call: RefreshCall, write: WriteEvents) {
    const { presented, now, graceMs, client } = call;
    const active = yield* this.endSessions.lockAllActive(userId);
    const found = yield* this.rotation.readStep(call);
    if (!found || decideRefresh(found, presented, now, graceMs) !== 'reuse') return null;

    const ended = active.map((one) => toEndedSession(one, now, 'token_reuse'));
    yield* this.endSessions.storeEnded(ended, now, presented);
    yield* this.lock.revokeLogins(userId);
    yield* this.endSessions.endKeys({ userId, reason: 'token_reuse' }, client, write);
    const sessionsEnded = ended.filter(({ reason }) => reason === 'token_reuse').length;
    const extra = { session_id: found.session.id, sessions_ended: sessionsEnded };
    yield* write([newEvent('token_reuse', userId, client, now, extra), ...endEvents(ended, client, now)]);
    return { found, ended, sessionsEnded };
  }

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

export type RefreshDecision =
  /** The token is the current token of a valid session. */
  | 'rotate'
  /** The presented pair is the current one, and a refresh in cookie mode issued it within the grace period. */
  | 'unchanged'
  /** The token is the direct predecessor of the current token. The grace period allows to issue the same pair again. */
  | 'replay'
  /** The token was used before. All sessions of the user end. */
  | 'reuse'
  /** The token is unknown, revoked or expired, its session has ended, or its refresh was replayed too often. */
  | 'refuse'
  /** The token belongs to the current family, and its generation is not lower than the stored one. */
  | 'newer_than_database'
  | 'session_expired'
  | 'account_inactive';

/**
 * Decides how to respond to a presented refresh token. (RFC 9700, section 4.14.2; Jaspan's series-and-token scheme,
 * with the series stored as a digest)
 * @param graceMs the grace period in milliseconds, or 0 for none
 */
export function decideRefresh(
  found: RefreshableSession,
  presented: PresentedRefreshToken,
  now: number,
  graceMs: number,
): RefreshDecision {
  if (found.session.state !== 'active' || !isOfRealm(found, presented.realm)) return 'refuse';
  // Such a token was revoked rather than used, for example by a password change.
  if (found.familyDigest !== presented.familyDigest) return 'refuse';
  if (isExpired(found.session, now)) return 'session_expired';
  const replay = openReplayWindowOf(found, presented.transport, now, graceMs);
  if (found.refreshDigest === presented.digest) return decideOnCurrentToken(found, presented, replay, now);
  // The database has probably lost commits, which RFC 9700 does not consider. Presenting such a token is not reuse.
  if (presented.generation >= found.generation) return 'newer_than_database';
  if (!replay || !mayReplay(found, replay, presented)) return 'reuse';
  if (found.account !== 'active') return 'account_inactive';
  return replay.count < MAX_REPLAYS ? 'replay' : 'refuse';
}

/** Compares the realm of the session and, unless the account is inactive, that of the user. */
function isOfRealm({ realm, userRealm, account }: RefreshableSession, ofCall: string | null): boolean {
  return isInRealm({ realm }, ofCall) && (account !== 'active' || isInRealm({ realm: userRealm }, ofCall));
}

function decideOnCurrentToken(
  found: RefreshableSession,
  presented: PresentedRefreshToken,
  replay: ReplayWindow | null,
  now: number,
): RefreshDecision {
  if (found.refreshExpiresAt <= now) return 'refuse';
  if (found.account !== 'active') return 'account_inactive';
  // If browser tabs wake up together, the first one refreshes, and the others may already send its new cookies.
  const isLivePair = presented.accessDigest === found.accessDigest && found.accessExpiresAt > now;
  return isLivePair && replay ? 'unchanged' : 'rotate';
}

/** Returns the replay window of the last refresh, or null if the window is closed or belongs to another transport. */
function openReplayWindowOf(found: RefreshableSession, transport: TokenTransport, now: number, graceMs: number) {
  const { refreshedAt, replay } = found;
  if (!replay || refreshedAt === null || replay.transport !== transport) return null;
  // A shortened grace period applies immediately.
  return now < replay.until && isWithinLast(graceMs, refreshedAt, now) ? replay : null;
}

/** Returns whether the current pair replaced the token, and may be issued to the client's network again. */
function mayReplay(found: RefreshableSession, replay: ReplayWindow, presented: PresentedRefreshToken): boolean {
  if (presented.generation !== found.generation - 1) return false;
  if (replay.accessTokenUsed && replay.networkDigest !== presented.networkDigest) return false;
  const { digests } = presented.successor(replay.seed);
  return digests.accessDigest === found.accessDigest && digests.refreshDigest === found.refreshDigest;
}

/**
 * Returns whether an earlier statement of this call may have rotated the token, and another call the successor. If so,
 * the session was refreshed since this call started, or within the grace period before, to allow for clock differences.
 */
function mayHaveRotated(call: RefreshCall, { refreshedAt, generation }: RefreshableSession): boolean {
  const { presented, successor, now, graceMs } = call;
  const isReplaced = generation > presented.generation + 1 && refreshedAt !== null && refreshedAt >= now - graceMs;
  return call.outcomeUnknown && successor.seed !== null && isReplaced;
}
