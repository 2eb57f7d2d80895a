import type { AccountStatus } from './account-status';
import { isExpired, type SessionRecord } from './session';
import type { PairExpiries } from './tokens';

/** How a client receives and presents its tokens. */
export type TokenTransport = 'bearer' | 'cookie';

/** The most replays of one refresh. */
export const MAX_REPLAYS = 100;

/** A refresh token as it was presented: digests, and what it says about itself. */
export interface PresentedRefreshToken {
  readonly sessionId: string;
  readonly digest: string;
  readonly familyDigest: string;
  readonly generation: number;
  readonly transport: TokenTransport;
  /** The digest of the access token that was presented with it over cookies; null for none. */
  readonly accessDigest: string | null;
  /** The digest of the token together with the network of the client. */
  readonly networkDigest: string;
  /** The digests of the pair that followed this token, if it was rotated with this seed. */
  successorDigests(seed: string): PairDigests;
}

export interface PairDigests {
  readonly accessDigest: string;
  readonly refreshDigest: string;
}

/** A session with its live tokens. */
export interface RefreshableSession extends PairDigests, PairExpiries {
  readonly session: SessionRecord;
  /** Null where only the user store knows it. */
  readonly account: AccountStatus | null;
  readonly familyDigest: string;
  /** The generation of the live refresh token. */
  readonly generation: number;
  /** No token of the session is valid from then on. */
  readonly absoluteEnd: number;
  /** When the live pair was issued by a refresh; null for the first pair of a family. */
  readonly refreshedAt: number | null;
  /** The network of the last refresh or, before it, of the login; null where addresses are not tracked. */
  readonly lastNetwork: string | null;
  /** How the response to the last refresh is replayed; null without a grace period. */
  readonly replay: ReplayWindow | null;
}

/** What is stored of a refresh, so that its response can be derived again from the token that was presented. */
export interface ReplayWindow {
  readonly seed: string;
  readonly until: number;
  readonly transport: TokenTransport;
  readonly networkDigest: string;
  readonly count: number;
  /** Whether the access token of the new pair has authenticated a request. */
  readonly accessTokenUsed: boolean;
}

/** What a presented refresh token leads to. */
export type RefreshDecision =
  /** It is the live token of a session that may continue. */
  | 'rotate'
  /** It is the live token with its access token, and a refresh over cookies has just issued both: nothing changes. */
  | 'unchanged'
  /** It is the direct predecessor of the live token, within the grace period: the same pair is issued again. */
  | 'replay'
  /** It was used before: the session and all others of the user end. */
  | 'reuse'
  /** Unknown, revoked, expired, or of a session that has ended: nothing changes. */
  | 'refuse'
  /** Of the live family, and newer than its row: the database was restored, or lost its last commits. Nothing changes. */
  | 'newer_than_database'
  | 'session_expired'
  | 'account_inactive';

/**
 * The rules of a refresh. (RFC 9700, section 4.14.2; Jaspan's series-and-token scheme, with the series stored as a digest)
 * @param graceMs the grace period in force; 0 for none
 */
export function decideRefresh(
  found: RefreshableSession | null,
  presented: PresentedRefreshToken,
  now: number,
  graceMs: number,
): RefreshDecision {
  if (!found || found.session.state !== 'active') return 'refuse';
  // Another family: a forged token, or one that a password change or reauthentication has revoked. Neither is reuse.
  if (found.familyDigest !== presented.familyDigest) return 'refuse';
  if (isExpired(found.session, now)) return 'session_expired';

  if (found.refreshDigest === presented.digest) {
    if (found.refreshExpiresAt <= now) return 'refuse';
    if (found.account !== 'active') return 'account_inactive';
    return isJustIssued(found, presented, now, graceMs) ? 'unchanged' : 'rotate';
  }
  // The client did nothing wrong.
  if (presented.generation >= found.generation) return 'newer_than_database';
  if (!isWithinGrace(found, presented, now, graceMs)) return 'reuse';
  if (found.account !== 'active') return 'account_inactive';
  return found.replay!.count < MAX_REPLAYS ? 'replay' : 'refuse';
}

/**
 * When the live pair expires: as stored, or with the session. An absolute timeout that was lowered since applies at once.
 */
export function expiriesOf({ accessExpiresAt, refreshExpiresAt, absoluteEnd }: RefreshableSession): PairExpiries {
  return {
    accessExpiresAt: Math.min(accessExpiresAt, absoluteEnd),
    refreshExpiresAt: Math.min(refreshExpiresAt, absoluteEnd),
  };
}

/** The window of the last refresh, if it is open to this transport. */
function openWindow(
  { refreshedAt, replay }: RefreshableSession,
  { transport }: PresentedRefreshToken,
  now: number,
  graceMs: number,
): ReplayWindow | null {
  if (!replay || refreshedAt === null || replay.transport !== transport) return null;
  // A grace period that was shortened since applies at once.
  return now < Math.min(replay.until, refreshedAt + graceMs) ? replay : null;
}

/**
 * Whether the live pair is presented that a refresh has just issued: of tabs that wake up together, the others get their
 * cookies from the first one before they send their own request.
 */
function isJustIssued(
  found: RefreshableSession,
  presented: PresentedRefreshToken,
  now: number,
  graceMs: number,
): boolean {
  if (presented.accessDigest !== found.accessDigest) return false;
  return found.accessExpiresAt > now && openWindow(found, presented, now, graceMs) !== null;
}

/** Whether the token may have its response again, rather than count as used. */
function isWithinGrace(
  found: RefreshableSession,
  presented: PresentedRefreshToken,
  now: number,
  graceMs: number,
): boolean {
  const { generation, accessDigest, refreshDigest } = found;
  const replay = openWindow(found, presented, now, graceMs);
  if (!replay || presented.generation !== generation - 1) return false;
  if (replay.accessTokenUsed && replay.networkDigest !== presented.networkDigest) return false;
  const successor = presented.successorDigests(replay.seed);
  return successor.accessDigest === accessDigest && successor.refreshDigest === refreshDigest;
}
