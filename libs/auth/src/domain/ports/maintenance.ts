import type { FailureKind } from '../metrics';
import type { EndedSession } from '../session';
import type { OperationContext } from './sessions';

/** The rows that pruning removes only because they are too old or have expired. */
export type Prunable = 'events' | 'loginFailures' | 'loginTickets' | 'passwordResets';

/** The result of one batch of pruning sessions. */
export interface PrunedSessions {
  /**
   * The number of sessions that the batch examined. If the number is below the limit, this batch was the last batch.
   */
  readonly visited: number;
  /** The number of ended sessions that were removed. */
  readonly removed: number;
  /** The active sessions that ended because they had expired, or because their user is no longer active. */
  readonly ended: readonly EndedSession[];
}

/** The maximum numbers of events that trimming keeps. */
export interface HistoryCaps {
  readonly perUser: number;
  /** The maximum for all events of unknown names together. */
  readonly withoutUser: number;
}

/** A page of users who may have more events than the cap. */
export interface UsersOverCap {
  readonly users: readonly string[];
  /** The user after whom the next page begins, or null if this is the last page. */
  readonly next: string | null;
}

/**
 * The position of the next batch: the group of events to remove, as an index into the order that
 * `PruningStore.trim` documents, and the event id after which the search for these events begins.
 */
export interface TrimPosition {
  readonly rank: number;
  readonly from: number;
}

/** The position of the first batch. */
export const TRIM_START: TrimPosition = { rank: 0, from: 0 };

/** The result of one batch of trimming a history. */
export interface TrimmedEvents {
  readonly removed: number;
  /** The position of the next batch, or null after the last batch. */
  readonly next: TrimPosition | null;
}

/**
 * Prunes rows in batches. Each call is one transaction. `pruneSessions` and `remove` skip rows that
 * other transactions have locked.
 */
export abstract class PruningStore {
  /** Ends, removes or reschedules the sessions that are due. */
  abstract pruneSessions(context: OperationContext, limit: number): Promise<PrunedSessions>;
  /**
   * Removes events that occurred before `before`, or rows of other kinds that expired by then.
   * Returns the number of rows that this call removed.
   */
  abstract remove(what: Prunable, before: number, limit: number): Promise<number>;
  /**
   * Returns a page of users, in the order of their ids as text, who may have more events than the cap.
   * Begins after the user `after`.
   */
  abstract usersOverCap(cap: number, after: string): Promise<UsersOverCap>;
  /**
   * Removes the events of a user, or of unknown names (null), beyond the cap, in this order:
   * `token_refresh`, `login_failure`, `login_blocked`, `password_reset_requested`, and then all
   * other events. Within each group, the oldest events are removed first.
   */
  abstract trim(userId: string | null, cap: number, limit: number, position: TrimPosition): Promise<TrimmedEvents>;
  /**
   * Removes at most `limit` ended sessions of a user that are not among the newest `cap`. Returns the number of
   * sessions that this call removed.
   */
  abstract trimSessions(userId: string, cap: number, limit: number): Promise<number>;

  /** Counts the sessions that `pruneSessions` would end and remove. */
  abstract countSessions(now: number): Promise<{ readonly toEnd: number; readonly toRemove: number }>;
  /** Counts the rows that `remove` would remove. */
  abstract count(what: Prunable, before: number): Promise<number>;
  /** Counts the events since `before` that exceed the caps. */
  abstract countOverCap(before: number, caps: HistoryCaps): Promise<number>;
}

/** Checks whether the store is operational. */
export abstract class StoreProbe {
  /**
   * Reads from each of the library's tables and checks that the server accepts writes. Returns why the
   * check fails, or null.
   */
  abstract findFailure(): Promise<FailureKind | null>;
}
