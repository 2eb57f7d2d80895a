import type { Device } from './device';

/** A session is one login on one client. Every state but `active` is final. */
export type SessionState = 'active' | 'logged_out' | 'revoked' | 'expired';

/** Why a session ended. */
export type EndReason =
  | 'logout'
  | 'logout_all'
  | 'user'
  | 'admin'
  | 'session_policy'
  | 'password_change'
  | 'password_reset'
  | 'user_disabled'
  | 'user_deleted'
  | 'token_reuse'
  | 'expired';

/** A session as the database holds it. Instants are milliseconds since 1970 (UTC). */
export interface SessionRecord extends Device {
  readonly id: string;
  /** The user's id as text. */
  readonly userId: string;
  readonly state: SessionState;
  readonly ipAddress: string | null;
  readonly createdAt: number;
  /** When its user last proved who they are. */
  readonly authenticatedAt: number;
  readonly lastActivity: number;
  readonly idleExpiresAt: number;
  readonly absoluteExpiresAt: number;
}

/** A session as its user sees it. */
export interface Session extends Device {
  readonly id: string;
  readonly state: SessionState;
  readonly ipAddress: string | null;
  readonly createdAt: Date;
  readonly lastActivity: Date;
  /** True for the session that made the request, and for no other. */
  readonly isCurrent: boolean;
}

/** A session that has just ended, with the state and reason it ended with. */
export interface EndedSession {
  readonly session: SessionRecord;
  readonly reason: EndReason;
}

/** The session in the state in which this reason leaves it. */
export function ending(session: SessionRecord, reason: EndReason): EndedSession {
  return { session: { ...session, state: stateAfter(reason) }, reason };
}

export function stateAfter(reason: EndReason): SessionState {
  if (reason === 'logout') return 'logged_out';
  return reason === 'expired' ? 'expired' : 'revoked';
}

/** The limits in force now; a session has those that it was opened with besides. */
export interface SessionLimits {
  readonly idleMs: number;
  readonly absoluteMs: number;
}

/** The instant at which no refresh goes any further. A lowered limit acts on open sessions, a raised one does not. */
export function absoluteEnd(session: SessionRecord, limits: SessionLimits): number {
  return Math.min(session.absoluteExpiresAt, session.createdAt + limits.absoluteMs);
}

/** Whether the session's idle or absolute time is over: at the very millisecond it is. (ASVS 7.3.1, 7.3.2) */
export function isOver(session: SessionRecord, limits: SessionLimits, now: number): boolean {
  const idleEnd = Math.min(session.idleExpiresAt, session.lastActivity + limits.idleMs);
  return now >= Math.min(idleEnd, absoluteEnd(session, limits));
}

/** The session after activity, which it may go on from as long as before, or less where the limit was lowered since. */
export function renewed(session: SessionRecord, limits: SessionLimits, now: number): SessionRecord {
  const lastActivity = Math.max(now, session.lastActivity);
  const allowance = Math.min(session.idleExpiresAt - session.lastActivity, limits.idleMs);
  return { ...session, lastActivity, idleExpiresAt: lastActivity + allowance };
}

/** The session as its user sees it; `currentId` is the session of the request, if it came with one. */
export function viewSession(record: SessionRecord, currentId: string | null): Session {
  return {
    id: record.id,
    state: record.state,
    ipAddress: record.ipAddress,
    deviceType: record.deviceType,
    osFamily: record.osFamily,
    browserFamily: record.browserFamily,
    deviceName: record.deviceName,
    createdAt: new Date(record.createdAt),
    lastActivity: new Date(record.lastActivity),
    isCurrent: record.id === currentId,
  };
}
