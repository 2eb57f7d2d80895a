import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { EventOwner } from '../../domain/history-growth';
import { type PruningStore, TRIM_START, type TrimPosition } from '../../domain/ports/maintenance';

/** The maximum number of rows in a batch. Each batch is one short transaction. */
export const BATCH_SIZE = 500;

/** The maximum number of events kept for unknown names. Anyone can cause events of unknown names. (ASVS 16.4) */
export const MAX_EVENTS_WITHOUT_USER = 10_000;

/**
 * An instance trims the rows of a user after it has written this many events for the user, or
 * `maxRowsPerUser` if that is less.
 */
export const GROWTH_LIMIT = 1_000;

/**
 * The maximum number of ended sessions kept per user. Each login is compared with these sessions to detect a new
 * device.
 */
const MAX_ENDED_SESSIONS = 1_000;

/** The number of failed owners after which trimming stops, because the database is probably down. */
const MAX_FAILED_OWNERS = 10;

export interface TrimmedRows {
  readonly events: number;
  readonly sessions: number;
}

/**
 * Removes the events and ended sessions that exceed the maximum per user, and the surplus events of unknown names.
 * Users over a maximum are found by their number of events alone, because each new session also writes an event.
 */
export class Trimming {
  constructor(
    private readonly store: PruningStore,
    private readonly maxRowsPerUser: number,
    private readonly countRemoved: (kind: 'events' | 'sessions', rows: number) => number,
    private readonly isStopped: () => boolean,
  ) {}

  /** Trims the events that belong to no user, and the rows of every user who may exceed a maximum. */
  async trimAll(): Promise<TrimmedRows> {
    return this.trimEach(this.ownersOverCap());
  }

  /**
   * Trims the rows of one owner after another. If trimming the rows of an owner fails, for example because a
   * transaction holds the user's lock, continues with the next owner. Stops after 10 failures, or at shutdown.
   * @throws the failure to read the next owner, immediately; otherwise the first failure, at the end
   */
  async trimEach(owners: Iterable<EventOwner> | AsyncIterable<EventOwner>): Promise<TrimmedRows> {
    const total = { events: 0, sessions: 0 };
    const failures: unknown[] = [];
    for await (const owner of owners) {
      try {
        total.events += await this.trimEvents(owner);
        if (owner !== null) total.sessions += await this.trimSessions(owner);
      } catch (error) {
        if (failures.push(error) === MAX_FAILED_OWNERS) break;
      }
      if (this.isStopped()) break;
    }
    if (failures.length > 0) throw failures[0];
    return total;
  }

  private async *ownersOverCap(): AsyncGenerator<EventOwner> {
    yield null;
    const threshold = Math.min(this.maxRowsPerUser, MAX_ENDED_SESSIONS);
    for (let after: string | null = ''; after !== null; await yieldToEventLoop()) {
      const { users, next } = await this.store.usersOverCap(threshold, after);
      yield* users;
      after = this.isStopped() ? null : next;
    }
  }

  private async trimEvents(owner: EventOwner): Promise<number> {
    const cap = owner === null ? MAX_EVENTS_WITHOUT_USER : this.maxRowsPerUser;
    let total = 0;
    for (let position: TrimPosition | null = TRIM_START; position !== null && !this.isStopped();) {
      const { removed, next } = await this.store.trim(owner, cap, BATCH_SIZE, position);
      total += this.countRemoved('events', removed);
      position = next;
      if (next) await yieldToEventLoop();
    }
    return total;
  }

  private async trimSessions(userId: string): Promise<number> {
    let total = 0;
    for (let removed = BATCH_SIZE; removed === BATCH_SIZE && !this.isStopped();) {
      removed = this.countRemoved('sessions', await this.store.trimSessions(userId, MAX_ENDED_SESSIONS, BATCH_SIZE));
      total += removed;
      if (removed === BATCH_SIZE) await yieldToEventLoop();
    }
    return total;
  }
}
