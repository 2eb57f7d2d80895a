import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { EventOwner } from '../../domain/history-growth';
import { type PruningStore, TRIM_START, type TrimPosition } from '../../domain/ports/maintenance';

/** The number of rows in a batch. Each batch is one short transaction. */
export const BATCH_SIZE = 500;

/** The maximum number of events of unknown names that are kept. Anyone can cause such events. (ASVS 16.4) */
export const MAX_EVENTS_WITHOUT_USER = 10_000;

/** The maximum number of events that an instance writes for one user before it trims them. */
export const GROWTH_LIMIT = 1_000;

/** The maximum number of ended sessions kept per user. Each login is compared with them, to detect new devices. */
const MAX_ENDED_SESSIONS = 1_000;

/** Trimming stops after this many owners have failed: the database is probably down. */
const MAX_FAILED_OWNERS = 10;

export interface TrimmedRows {
  readonly events: number;
  readonly sessions: number;
}

/**
 * Removes the events and ended sessions of a user beyond the maximum. Only events are counted to find such users: each
 * session writes an event when it is opened.
 */
export class Trimming {
  constructor(
    private readonly store: PruningStore,
    private readonly maxRowsPerUser: number,
    private readonly countRemoved: (kind: 'events' | 'sessions', rows: number) => number,
    private readonly isStopped: () => boolean,
  ) {}

  /** Trims the events without a user, and every user with more than `maxRowsPerUser` events. */
  async trimAll(): Promise<TrimmedRows> {
    return this.trimEach(this.ownersOverCap());
  }

  /**
   * Trims the owners one after another. If one of them fails, for example because a transaction holds the user's lock, the
   * next ones are still trimmed.
   * @throws the first failure, at the end
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
    for (let after: string | null = ''; after !== null; await yieldToEventLoop()) {
      const { users, next } = await this.store.usersOverCap(this.maxRowsPerUser, after);
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
