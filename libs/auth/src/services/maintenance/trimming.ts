import { setImmediate as turn } from 'node:timers/promises';
import type { EventOwner } from '../../domain/history-growth';
import { type PruningStore, TRIM_START, type TrimPosition } from '../../domain/ports/sessions';

/** Rows of one batch, which is one short transaction. */
export const BATCH = 500;

/** The most events that are kept of unknown names, which anyone may type. (ASVS 16.4) */
export const EVENTS_WITHOUT_USER = 10_000;

/** The most events that a process writes for one user between two trims. */
export const GROWTH_LIMIT = 1_000;

/** The most ended sessions that are kept of one user. A login is compared with them, and all are removed with the user. */
const ENDED_SESSIONS = 1_000;

/** After so many users in a row who cannot be trimmed, the database is down. */
const MOST_FAILURES = 10;

export interface TrimmedRows {
  readonly events: number;
  readonly sessions: number;
}

/**
 * Keeps what a user leaves within its number of rows: events, and ended sessions. A session is recorded when it is opened, so
 * who has more ended sessions than are kept has had as many events.
 */
export class Trimming {
  constructor(
    private readonly store: PruningStore,
    private readonly maxRowsPerUser: number,
    private readonly counted: (kind: 'events' | 'sessions', rows: number) => number,
    private readonly isStopped: () => boolean,
  ) {}

  /** Trims whoever has too much. */
  async trimAll(): Promise<TrimmedRows> {
    return this.trimEach(this.ownersOverCap());
  }

  /**
   * One after another. One who cannot be trimmed, because a transaction holds the user's lock, keeps no other from it.
   * @throws the first failure, after all others were trimmed
   */
  async trimEach(owners: Iterable<EventOwner> | AsyncIterable<EventOwner>): Promise<TrimmedRows> {
    const total = { events: 0, sessions: 0 };
    const failures: unknown[] = [];
    for await (const owner of owners) {
      try {
        total.events += await this.trimEvents(owner);
        if (owner !== null) total.sessions += await this.trimSessions(owner);
      } catch (error) {
        if (failures.push(error) === MOST_FAILURES) break;
      }
      if (this.isStopped()) break;
    }
    if (failures.length > 0) throw failures[0];
    return total;
  }

  private async *ownersOverCap(): AsyncGenerator<EventOwner> {
    yield null;
    for (let after: string | null = ''; after !== null; await turn()) {
      const { users, next } = await this.store.usersOverCap(this.maxRowsPerUser, after);
      yield* users;
      after = this.isStopped() ? null : next;
    }
  }

  private async trimEvents(owner: EventOwner): Promise<number> {
    const cap = owner === null ? EVENTS_WITHOUT_USER : this.maxRowsPerUser;
    let total = 0;
    for (let position: TrimPosition | null = TRIM_START; position !== null && !this.isStopped();) {
      const { removed, next } = await this.store.trim(owner, cap, BATCH, position);
      total += this.counted('events', removed);
      position = next;
      if (next) await turn();
    }
    return total;
  }

  private async trimSessions(userId: string): Promise<number> {
    let total = 0;
    for (let removed = BATCH; removed === BATCH && !this.isStopped();) {
      removed = this.counted('sessions', await this.store.trimSessions(userId, ENDED_SESSIONS, BATCH));
      total += removed;
      if (removed === BATCH) await turn();
    }
    return total;
  }
}
