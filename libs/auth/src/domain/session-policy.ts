import { ending, isOver, type EndedSession, type SessionLimits, type SessionRecord } from './session';

/** What happens where a user has as many sessions as there may be. */
export interface SessionPolicy {
  /** The most sessions the user may have; null for any number. */
  readonly maxSessions: number | null;
  readonly onLimit: 'revoke_oldest' | 'reject';
  readonly limits: SessionLimits;
}

export type Room =
  /** The sessions that end for it: those whose time is over, and the oldest of the others. */
  | { readonly kind: 'room'; readonly ended: readonly EndedSession[] }
  | { readonly kind: 'limit_reached'; readonly activeSessions: number };

/** Makes room for one more session beside those that are stored as active, which are given oldest first. */
export function makeRoom(
  active: readonly SessionRecord[],
  { maxSessions, onLimit, limits }: SessionPolicy,
  now: number,
): Room {
  if (maxSessions === null) return { kind: 'room', ended: [] };
  const live = active.filter((one) => !isOver(one, limits, now));
  const excess = Math.max(0, live.length - maxSessions + 1);
  if (excess > 0 && onLimit === 'reject') return { kind: 'limit_reached', activeSessions: live.length };
  const over = active.filter((one) => !live.includes(one)).map((one) => ending(one, 'expired'));
  return { kind: 'room', ended: [...over, ...live.slice(0, excess).map((one) => ending(one, 'session_policy'))] };
}
