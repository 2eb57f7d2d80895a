import { Inject, Injectable } from '@nestjs/common';
import type { DeviceInfo, DeviceType } from '../adapters/device-detector';
import type { AccountStatus } from '../adapters/user-store';
import type { EndReason, SessionState } from '../database/entities';
import { greatest, least } from '../database/dialect';
import { columns, integerLiteral, type Statement, StatementFactory } from '../database/statements';
import type { Row } from '../database/transaction';
import type { SessionInfo } from '../history/signals';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from '../options/auth-options';
import type { PairExpiries } from '../tokens/tokens';
import { Users } from '../users/users';

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

/** Converts a row to a session. Drivers return 64-bit columns as numbers or as text. */
export function sessionFromRow(row: Row): SessionRecord {
  return {
    id: String(row['id']),
    userId: String(row['user_id']),
    state: row['state'] as SessionState,
    ipAddress: (row['ip_address'] ?? null) as string | null,
    deviceType: row['device_type'] as DeviceType,
    osFamily: String(row['os_family']),
    browserFamily: String(row['browser_family']),
    deviceName: String(row['device_name']),
    createdAt: Number(row['created_at']),
    authenticatedAt: Number(row['authenticated_at']),
    lastActivity: Number(row['last_activity']),
    expiresAt: Number(row['expires_at']),
  };
}

export function accountFromRow(row: Row): AccountStatus | null {
  return (row['account'] ?? null) as AccountStatus | null;
}

/** The columns that `expiriesFromRow` reads. */
export const EXPIRY_COLUMNS = 'accessExpiresAt refreshExpiresAt';

export function expiriesFromRow(row: Row): PairExpiries {
  return { accessExpiresAt: Number(row['access_expires_at']), refreshExpiresAt: Number(row['refresh_expires_at']) };
}

/** The columns that `sessionFromRow` reads, in addition to `expires_at`. */
const SESSION_COLUMNS = `id userId state ipAddress deviceType osFamily browserFamily deviceName createdAt authenticatedAt
  lastActivity`;

/** SQL expressions on a session `s`, which depend on the options and on where the users are stored. */
@Injectable()
export class SessionSql {
  /**
   * When the session ends even if it is refreshed. A lowered timeout applies to open sessions, but a raised timeout
   * does not.
   */
  readonly absoluteEnd: string;
  /** When the session expires without further activity. */
  readonly expiresAt: string;
  /** How long an ended session is stored, counted from its login, in milliseconds. */
  readonly retentionMs: string;
  /** The status of the user, or NULL if only the user store knows it. */
  readonly account: string;
  /** The columns that `sessionFromRow` reads. */
  readonly columns: string;
  /** The columns that `sessionFromRow` and `accountFromRow` read. */
  readonly columnsWithAccount: string;
  private readonly idleMs: string;

  constructor(
    private readonly statements: StatementFactory,
    users: Users,
    @Inject(AUTH_OPTIONS) { idleTimeoutSeconds, absoluteTimeoutSeconds, history }: ResolvedAuthOptions,
  ) {
    const { dialect } = statements;
    this.idleMs = integerLiteral(idleTimeoutSeconds * 1000);
    this.retentionMs = integerLiteral(history.retentionDays * 86_400_000);
    const configuredEnd = `s.{session.createdAt} + ${integerLiteral(absoluteTimeoutSeconds * 1000)}`;
    this.absoluteEnd = least(dialect, 's.{session.absoluteExpiresAt}', configuredEnd);
    const idleEnd = `s.{session.lastActivity} + ${this.idleMs}`;
    this.expiresAt = least(dialect, 's.{session.idleExpiresAt}', idleEnd, this.absoluteEnd);
    this.account = users.sql?.status ?? 'NULL';
    this.columns = `${columns('session', SESSION_COLUMNS, 's.')}, ${this.expiresAt} AS expires_at`;
    this.columnsWithAccount = `${this.columns}, ${this.account} AS account`;
  }

  /** Compiles a SELECT for `sessionFromRow`. `rest` may contain a clause that locks the rows. */
  select(rest: string): Statement {
    return this.statements.statement(`SELECT ${this.columns} FROM {session} s ${rest}`);
  }

  /** Compiles a SELECT for `sessionFromRow` and `accountFromRow`. */
  selectWithAccount(rest: string): Statement {
    return this.statements.statement(`SELECT ${this.columnsWithAccount} FROM {session} s ${rest}`);
  }

  /**
   * Returns the assignments that record activity at the instant `at`. The assignments extend the session by its own
   * idle timeout, or by the configured idle timeout if that is shorter.
   */
  activityAt(at: string): string {
    const { dialect } = this.statements;
    const last = greatest(dialect, 's.{session.lastActivity}', at);
    const stored = 's.{session.idleExpiresAt} - s.{session.lastActivity}';
    const allowance = least(dialect, stored, this.idleMs);
    // MySQL evaluates assignments from left to right, so the idle end, which depends on the previous
    // activity, is assigned first.
    return `{session.idleExpiresAt} = ${last} + ${allowance}, {session.lastActivity} = ${last}`;
  }
}
