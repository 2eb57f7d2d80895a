import type { FailureKind } from '../metrics';
import type { EndedSession } from '../session';
import type { OperationContext } from './sessions';

/** What pruning removes by age alone. */
export type Prunable = 'events' | 'loginFailures' | 'loginTickets' | 'passwordResets';

/** What one batch did to the sessions that were due. */
export interface PrunedSessions {
  /** All that were looked at. A batch that is not full is the last one. */
  readonly visited: number;
  /** Ended sessions that were removed. */
  readonly removed: number;
  /** Active sessions that had expired, or whose user is no longer active. */
  readonly ended: readonly EndedSession[];
}

/** How many events may stay. */
export interface HistoryCaps {
  readonly perUser: number;
  /** Of unknown names, together. */
  readonly withoutUser: number;
}

/** Users with more events than may stay. */
export interface UsersOverCap {
  readonly users: readonly string[];
  /** Where to continue; null where there are no more. */
  readonly next: string | null;
}

/** Which kind of events the next batch removes, by its rank, and the id behind which to look for them. */
export interface TrimPosition {
  readonly rank: number;
  readonly from: number;
}

/** Where the trimming of a history begins. */
export const TRIM_START: TrimPosition = { rank: 0, from: 0 };

/** What one batch removed of a history. */
export interface TrimmedEvents {
  readonly removed: number;
  /** Where the next batch continues; null after the last one. */
  readonly next: TrimPosition | null;
}

/** Pruning, in batches. Each call is one transaction that skips rows that others have locked. */
export abstract class PruningStore {
  /** Ends, removes or schedules again the sessions that are due. */
  abstract pruneSessions(context: OperationContext, most: number): Promise<PrunedSessions>;
  /** Removes rows that were due by then; returns how many. */
  abstract remove(what: Prunable, before: number, most: number): Promise<number>;
  /** The next users (as text, in order, after the given one) who may have more events than the cap. */
  abstract usersOverCap(cap: number, after: string): Promise<UsersOverCap>;
  /**
   * Removes events beyond the cap of a user, or of unknown names (null): the oldest refreshes first,
   * then the oldest failed logins, then the oldest of all.
   */
  abstract trim(userId: string | null, cap: number, most: number, position: TrimPosition): Promise<TrimmedEvents>;
  /** Removes the oldest ended sessions beyond the cap of a user; returns how many. */
  abstract trimSessions(userId: string, cap: number, most: number): Promise<number>;

  /** What `pruneSessions`, `remove` and `trim` would find. */
  abstract countSessions(now: number): Promise<{ readonly toEnd: number; readonly toRemove: number }>;
  abstract count(what: Prunable, before: number): Promise<number>;
  abstract countOverCap(before: number, caps: HistoryCaps): Promise<number>;
}

/** Whether the store can do its work. */
export abstract class StoreProbe {
  /** Reads from each of the library's tables, on a server that takes writes. Returns why that is impossible, or null. */
  abstract findFailure(): Promise<FailureKind | null>;
}
