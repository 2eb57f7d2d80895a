import type { AccountStatus } from '../adapters/user-store';
import { isWithinLast } from '../base/clock';
import type { TokenTransport } from '../database/entities';
import type { Row } from '../database/transaction';
import type { PairDigests, PairExpiries } from '../tokens/tokens';
import { accountFromRow, expiriesFromRow, isExpired, sessionFromRow, type SessionRecord } from './session';

/** The maximum number of replays of one refresh. */
export const MAX_REPLAYS = 100;

/** The digests and claims of a presented refresh token. */
export interface PresentedRefreshToken {
  readonly sessionId: string;
  readonly digest: string;
  readonly familyDigest: string;
  readonly generation: number;
  readonly transport: TokenTransport;
  /** The digest of the access token that the client presented together with this token in cookies, or null. */
  readonly accessDigest: string | null;
  /** The digest of this token together with the client's network. */
  readonly networkDigest: string;
  /** Returns the digests of the pair that is derived from this token and the seed. */
  successorDigests(seed: string): PairDigests;
}

/** A session with its current tokens. */
export interface RefreshableSession extends PairDigests, PairExpiries {
  readonly session: SessionRecord;
  /** The account of the user, or null if the account was not read. */
  readonly account: AccountStatus | null;
  readonly familyDigest: string;
  /** The generation of the current refresh token. */
  readonly generation: number;
  /** When the absolute timeout of the session expires. */
  readonly absoluteEnd: number;
  /** When the session was last refreshed, or null before the first refresh. */
  readonly refreshedAt: number | null;
  /** The last known network, from the login or a refresh. Null if none is known. */
  readonly lastNetwork: string | null;
  /** Null if the last refresh cannot be replayed. */
  readonly replay: ReplayWindow | null;
}

/** The stored data of a refresh, from which the same pair can be derived again. */
interface ReplayWindow {
  readonly seed: string;
  readonly until: number;
  readonly transport: TokenTransport;
  readonly networkDigest: string;
  readonly count: number;
  /** Whether the first use of the new pair's access token is stored. */
  readonly accessTokenUsed: boolean;
}

/** The decision about a presented refresh token. */
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
  found: RefreshableSession | null,
  presented: PresentedRefreshToken,
  now: number,
  graceMs: number,
): RefreshDecision {
  if (!found || found.session.state !== 'active') return 'refuse';
  // Presenting a token of another family is not reuse. For example, a password change or reauthentication has revoked
  // the token.
  if (found.familyDigest !== presented.familyDigest) return 'refuse';
  if (isExpired(found.session, now)) return 'session_expired';
  const replay = openReplayWindowOf(found, presented, now, graceMs);
  if (found.refreshDigest === presented.digest) return decideOnCurrentToken(found, presented, replay, now);
  // The database has probably lost commits. Presenting such a token is not reuse.
  if (presented.generation >= found.generation) return 'newer_than_database';
  if (!replay || !mayReplay(found, replay, presented)) return 'reuse';
  if (found.account !== 'active') return 'account_inactive';
  return replay.count < MAX_REPLAYS ? 'replay' : 'refuse';
}

function decideOnCurrentToken(
  found: RefreshableSession,
  presented: PresentedRefreshToken,
  replay: ReplayWindow | null,
  now: number,
): RefreshDecision {
  if (found.refreshExpiresAt <= now) return 'refuse';
  if (found.account !== 'active') return 'account_inactive';
  // If browser tabs wake up together, the first tab refreshes, and the other tabs may already send the new cookies with
  // their own refresh.
  const isLivePair = presented.accessDigest === found.accessDigest && found.accessExpiresAt > now;
  return isLivePair && replay ? 'unchanged' : 'rotate';
}

/** Returns the replay window of the last refresh, or null if the window is closed or belongs to another transport. */
function openReplayWindowOf(
  { refreshedAt, replay }: RefreshableSession,
  { transport }: PresentedRefreshToken,
  now: number,
  graceMs: number,
): ReplayWindow | null {
  if (!replay || refreshedAt === null || replay.transport !== transport) return null;
  // A shortened grace period applies immediately.
  return now < replay.until && isWithinLast(graceMs, refreshedAt, now) ? replay : null;
}

/** Returns whether the current pair replaced the token, and may be issued to the client's network again. */
function mayReplay(found: RefreshableSession, replay: ReplayWindow, presented: PresentedRefreshToken): boolean {
  if (presented.generation !== found.generation - 1) return false;
  if (replay.accessTokenUsed && replay.networkDigest !== presented.networkDigest) return false;
  const successor = presented.successorDigests(replay.seed);
  return successor.accessDigest === found.accessDigest && successor.refreshDigest === found.refreshDigest;
}

/**
 * Returns when the current pair expires: at its stored expiry or at the session's absolute timeout, whichever is
 * earlier. A lowered absolute timeout applies immediately.
 */
export function expiriesOf({ accessExpiresAt, refreshExpiresAt, absoluteEnd }: RefreshableSession): PairExpiries {
  return {
    accessExpiresAt: Math.min(accessExpiresAt, absoluteEnd),
    refreshExpiresAt: Math.min(refreshExpiresAt, absoluteEnd),
  };
}

/** The columns that `refreshableFromRow` reads besides `absolute_end`, a session and its account. */
export const TOKEN_COLUMNS = `accessDigest accessExpiresAt refreshDigest refreshExpiresAt familyDigest generation refreshedAt
  lastNetwork replaySeed replayUntil replayTransport replayNetworkDigest replayCount firstUsedAt`;

export function refreshableFromRow(row: Row): RefreshableSession {
  return {
    session: sessionFromRow(row),
    account: accountFromRow(row),
    accessDigest: String(row['access_digest']),
    refreshDigest: String(row['refresh_digest']),
    familyDigest: String(row['family_digest']),
    generation: Number(row['generation']),
    ...expiriesFromRow(row),
    absoluteEnd: Number(row['absolute_end']),
    refreshedAt: row['refreshed_at'] === null ? null : Number(row['refreshed_at']),
    lastNetwork: (row['last_network'] ?? null) as string | null,
    replay:
      row['replay_seed'] === null
        ? null
        : {
            seed: row['replay_seed'] as string,
            until: Number(row['replay_until']),
            transport: row['replay_transport'] as TokenTransport,
            networkDigest: String(row['replay_network_digest']),
            count: Number(row['replay_count']),
            accessTokenUsed: row['first_used_at'] !== null,
          },
  };
}
