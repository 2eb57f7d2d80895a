import type { AccountStatus } from './account-status';
import type { DeviceInfo } from './device';

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
  | 'failed_reauthentication'
  | 'token_reuse'
  | 'expired';

/** A session as the database holds it. Instants are milliseconds since 1970 (UTC). */
export interface SessionRecord extends DeviceInfo {
  readonly id: string;
  /** The user's id as text. */
  readonly userId: string;
  readonly state: SessionState;
  readonly ipAddress: string | null;
  readonly createdAt: number;
  /** When its user last proved their identity. */
  readonly authenticatedAt: number;
  readonly lastActivity: number;
  /** When it expires if nothing happens, by its own timeouts and those in force. */
  readonly expiresAt: number;
}

/** A session as its user sees it. */
export interface SessionInfo extends DeviceInfo {
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

/** The session in the state that this reason leaves it in. */
export function ending(session: SessionRecord, reason: EndReason): EndedSession {
  return { session: { ...session, state: stateAfter(reason) }, reason };
}

/** The same for a session that is being ended: one that has expired by then ends as such. */
export function endingAt(session: SessionRecord, now: number, reason: EndReason): EndedSession {
  return ending(session, isExpired(session, now) ? 'expired' : reason);
}

/** Why sessions end whose user has this account; null for an active or unknown one. */
export function inactiveReason(account: AccountStatus | null): EndReason | null {
  if (account === 'disabled') return 'user_disabled';
  return account === 'deleted' ? 'user_deleted' : null;
}

export function stateAfter(reason: EndReason): SessionState {
  if (reason === 'logout') return 'logged_out';
  return reason === 'expired' ? 'expired' : 'revoked';
}

/** Whether the session has reached its idle or absolute timeout, to the millisecond. (ASVS 7.3.1, 7.3.2) */
export function isExpired(session: SessionRecord, now: number): boolean {
  return now >= session.expiresAt;
}

/** The session as its user sees it; `currentId` is the session of the request, if it came with one. */
export function viewSession(record: SessionRecord, currentId: string | null): SessionInfo {
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
