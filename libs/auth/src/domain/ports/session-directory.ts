import type { AuthEventEntry } from '../auth-event';
import type { DeviceType } from '../device';
import type { EndedSession, SessionRecord } from '../session';
import type { Circumstances } from './session-store';

/** Which of all active sessions; what is left out does not matter. Instants are milliseconds. */
export interface SessionCriteria {
  readonly userId?: string;
  readonly createdBefore?: number;
  readonly inactiveSince?: number;
  readonly ipAddress?: string;
  readonly deviceType?: DeviceType;
  readonly osFamily?: string;
  readonly browserFamily?: string;
}

/** Where a page of a history ends. */
export interface HistoryPosition {
  readonly at: number;
  readonly id: number;
}

/** The sessions and histories of all users, for those who administer them. */
export abstract class SessionDirectory {
  /** Active sessions in the order of their ids, behind the given one. */
  abstract page(criteria: SessionCriteria, after: string, most: number): Promise<readonly SessionRecord[]>;
  /** Ends so many of them as one unit, and tells the log who did it; none when none is left. */
  abstract end(
    criteria: SessionCriteria,
    most: number,
    actor: string,
    at: Circumstances,
  ): Promise<readonly EndedSession[]>;
  /** Events of the user (as text), newest first, older than the position. */
  abstract history(userId: string, before: HistoryPosition | null, most: number): Promise<readonly AuthEventEntry[]>;
}
