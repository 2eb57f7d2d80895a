import { toEndedSession, isExpired, type EndedSession, type SessionRecord } from './session';

/** The maximum number of active sessions of a user under any policy. Bounds transactions that end a user's sessions. */
export const SESSION_LIMIT = 1_000;

/**
 * The minimum interval between recorded refusals of the session limit, for each user and network, in milliseconds.
 * Clients may retry often, and further refusals within the interval are not recorded.
 */
export const REFUSAL_RECORDED_FOR_MS = 3_600_000;

/** The session limit, and what happens to a login at the limit. */
export interface SessionPolicy {
  /** 1 to `SESSION_LIMIT`. */
  readonly maxSessions: number;
  /** Which sessions a login at the limit ends, or `reject` to refuse the login. */
  readonly onLimit: 'end_oldest' | 'end_least_recently_used' | 'reject';
}

type PolicyDecision =
  /** `ended`: the expired sessions, and as many other sessions as the limit requires. */
  | { readonly kind: 'available'; readonly ended: readonly EndedSession[] }
  | { readonly kind: 'limit_reached'; readonly activeSessions: number };

/**
 * Decides whether a user may open another session, and which sessions end as a result.
 * @param active the user's active sessions, oldest first. May be empty if they are fewer than `maxSessions`
 */
export function applySessionPolicy(
  active: readonly SessionRecord[],
  { maxSessions, onLimit }: SessionPolicy,
  now: number,
): PolicyDecision {
  const expired = active.filter((session) => isExpired(session, now));
  const live = active.filter((session) => !isExpired(session, now));
  const excess = Math.max(0, live.length - maxSessions + 1);
  if (excess > 0 && onLimit === 'reject') return { kind: 'limit_reached', activeSessions: live.length };
  if (onLimit === 'end_least_recently_used') live.sort((a, b) => a.lastActivity - b.lastActivity);
  const evicted = live.slice(0, excess);
  return {
    kind: 'available',
    ended: [
      ...expired.map((session) => toEndedSession(session, 'expired')),
      ...evicted.map((session) => toEndedSession(session, 'session_policy')),
    ],
  };
}
