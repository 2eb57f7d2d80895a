import { ending, isExpired, type EndedSession, type SessionRecord } from './session';

/** The most active sessions of one user under any policy, so that every transition has an upper bound. */
export const SESSION_LIMIT = 1_000;

/** For how long further logins from one network that the session limit refuses are not recorded again. */
export const REFUSAL_RECORDED_FOR_MS = 3_600_000;

/** What happens where a user has as many sessions as are allowed. */
export interface SessionPolicy {
  /** 1 to `SESSION_LIMIT`. */
  readonly maxSessions: number;
  /** The session that ends for a new one, or whether the new one is refused. */
  readonly onLimit: 'end_oldest' | 'end_least_recently_used' | 'reject';
}

type Capacity =
  /** The sessions that end for the new one: the expired ones, and as many of the others as needed. */
  | { readonly kind: 'available'; readonly ended: readonly EndedSession[] }
  | { readonly kind: 'limit_reached'; readonly activeSessions: number };

/** Whether the policy allows one more session beside those stored as active, oldest first, and which ones end for it. */
export function capacityFor(
  active: readonly SessionRecord[],
  { maxSessions, onLimit }: SessionPolicy,
  now: number,
): Capacity {
  const expired = active.filter((session) => isExpired(session, now));
  const live = active.filter((session) => !isExpired(session, now));
  const excess = Math.max(0, live.length - maxSessions + 1);
  if (excess > 0 && onLimit === 'reject') return { kind: 'limit_reached', activeSessions: live.length };
  if (onLimit === 'end_least_recently_used') live.sort((a, b) => a.lastActivity - b.lastActivity);
  const evicted = live.slice(0, excess);
  return {
    kind: 'available',
    ended: [...expired.map((one) => ending(one, 'expired')), ...evicted.map((one) => ending(one, 'session_policy'))],
  };
}
