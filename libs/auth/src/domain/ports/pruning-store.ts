import type { EndedSession } from '../session';

/** What clean-up removes, all of it by age. */
export type Prunable = 'refreshTokens' | 'sessions' | 'events' | 'loginFailures' | 'passwordResets';

/** How many events may stay. */
export interface HistoryCaps {
  readonly perUser: number;
  /** Of names that nobody has, all together. */
  readonly withoutUser: number;
}

/**
 * Clean-up, in batches. Each call is one atomic unit that passes over rows somebody else has locked, so that it waits for
 * nobody and several instances can do it at the same time.
 */
export abstract class PruningStore {
  /** Stores that the time of sessions is over that nobody has noticed; the ones that this call ended. */
  abstract expire(now: number, most: number): Promise<readonly EndedSession[]>;
  /** Erases answers whose grace period is over; how many. */
  abstract eraseSealedAnswers(now: number, most: number): Promise<number>;
  /** Whether there is any answer left, its grace period over or not. */
  abstract hasSealedAnswers(): Promise<boolean>;
  /** Removes rows whose time was over by then; how many. */
  abstract remove(what: Prunable, before: number, most: number): Promise<number>;
  /** Users (as text, in order, behind the given one) with more events than the cap. */
  abstract usersOverCap(cap: number, after: string, most: number): Promise<readonly string[]>;
  /**
   * Removes events beyond the cap of a user, or of the names that nobody has (null): the oldest refreshes first, then the
   * oldest failed logins, then the oldest of all; how many.
   */
  abstract trim(userId: string | null, cap: number, most: number): Promise<number>;

  /** What `expire`, `eraseSealedAnswers`, `remove` and `trim` would find. */
  abstract countExpired(now: number): Promise<number>;
  abstract countSealedAnswers(now: number): Promise<number>;
  abstract count(what: Prunable, before: number): Promise<number>;
  abstract countOverCap(before: number, caps: HistoryCaps): Promise<number>;
}
