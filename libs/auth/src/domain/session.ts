import type { AccountStatus } from './account-status';
import type { DeviceInfo } from './device';

/** The state of a session. All states except `active` are final. */
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

/** A stored session. Instants are in milliseconds since 1970 (UTC). */
export interface SessionRecord extends DeviceInfo {
  readonly id: string;
  /** The user's id as text. */
  readonly userId: string;
  readonly state: SessionState;
  readonly ipAddress: string | null;
  readonly createdAt: number;
  /** The time of the login, or of the last reauthentication or password change. */
  readonly authenticatedAt: number;
  readonly lastActivity: number;
  /**
   * When the session expires without further activity: the earliest of its stored idle and absolute
   * timeouts and the currently configured ones.
   */
  readonly expiresAt: number;
}

/** A session in the form that the application and its users receive. */
export interface SessionInfo extends DeviceInfo {
  readonly id: string;
  readonly state: SessionState;
  readonly ipAddress: string | null;
  readonly createdAt: Date;
  readonly lastActivity: Date;
  /** Whether this is the session of the request. */
  readonly isCurrent: boolean;
}

/** A session in its final state, and the reason why it ended. */
export interface EndedSession {
  readonly session: SessionRecord;
  readonly reason: EndReason;
}

/** Returns the session in the final state for this reason. */
export function toEndedSession(session: SessionRecord, reason: EndReason): EndedSession {
  return { session: { ...session, state: stateAfter(reason) }, reason };
}

/** Like `toEndedSession`, but with the reason `expired` if the session has expired. */
export function toEndedSessionAt(session: SessionRecord, now: number, reason: EndReason): EndedSession {
  return toEndedSession(session, isExpired(session, now) ? 'expired' : reason);
}

/** Returns the reason why the sessions of an inactive account end, or null if the account is active or unknown. */
export function inactiveReason(account: AccountStatus | null): EndReason | null {
  if (account === 'disabled') return 'user_disabled';
  return account === 'deleted' ? 'user_deleted' : null;
}

export function stateAfter(reason: EndReason): SessionState {
  if (reason === 'logout') return 'logged_out';
  return reason === 'expired' ? 'expired' : 'revoked';
}

/** Returns whether the session has reached its idle or absolute timeout, to the millisecond. (ASVS 7.3.1, 7.3.2) */
export function isExpired(session: SessionRecord, now: number): boolean {
  return now >= session.expiresAt;
}

/**
 * Converts a stored session to a `SessionInfo`.
 * @param currentId the id of the session of the request, or null
 */
export function toSessionInfo(record: SessionRecord, currentId: string | null): SessionInfo {
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
