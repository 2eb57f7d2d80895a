import { Injectable, Logger } from '@nestjs/common';
import { AuthError } from '../base/errors';
import { CryptoSource } from '../base/random';
import { Database, type StatementOptions } from '../database/database';
import type { TimeBudget } from '../database/deadline';
import { withLockTimeout } from '../database/dialect';
import type { AuthEventName } from '../database/entities';
import { isLockTimeout, LogLockedError } from '../database/failure';
import { currentTransaction } from '../database/joined-transaction';
import { letters, StatementFactory } from '../database/statements';
import { affectedBy, type Step, type Transaction } from '../database/transaction';
import type { Client } from './client';

/** An event to write to `auth_events`. */
export interface NewAuthEvent {
  readonly event: AuthEventName;
  /** The user's id as text, or null for an unknown username. */
  readonly userId: string | null;
  readonly ipAddress: string | null;
  readonly userAgent: string;
  readonly extra: Readonly<Record<string, unknown>>;
  readonly at: number;
}

/** The maximum number of users whose events are counted. The users with the most recent events are kept. */
const MAX_COUNTED_OWNERS = 10_000;

/** The owner of events: the id of a user as text, or null for all unknown names together. */
export type EventOwner = string | null;

/**
 * Counts the events that this process writes for each user, so that a fast-growing history is trimmed before the next
 * pruning. Events that are rolled back also count, so trimming may start earlier than necessary. Beyond 10,000 users,
 * the counts of the least recently updated users are discarded.
 */
export class HistoryGrowth {
  /** The counts by owner, the least recently updated first. */
  private readonly counts = new Map<EventOwner, number>();
  private due = new Set<EventOwner>();

  /** @param threshold the number of events after which an owner is due for trimming */
  constructor(private readonly threshold: number) {}

  count(owner: EventOwner): void {
    const events = (this.counts.get(owner) ?? 0) + 1;
    this.counts.delete(owner);
    if (events >= this.threshold) return void this.due.add(owner);
    this.counts.set(owner, events);
    if (this.counts.size > MAX_COUNTED_OWNERS) this.counts.delete(this.counts.keys().next().value!);
  }

  /** Returns the owners whose events have reached the threshold since the last call. */
  takeOwnersOverThreshold(): readonly EventOwner[] {
    if (this.due.size === 0) return [];
    const due = [...this.due];
    this.due = new Set();
    return due;
  }
}

/** Creates an event to write. */
export function newEvent(
  event: AuthEventName,
  userId: string | null,
  client: Pick<Client, 'ipAddress' | 'userAgent'>,
  at: number,
  extra: Record<string, unknown> = {},
): NewAuthEvent {
  return { event, userId, ipAddress: client.ipAddress, userAgent: client.userAgent, extra, at };
}

const EPOCH = Date.UTC(2020, 0, 1);

const IDS_PER_MS = 4096;

/** Returns the smallest possible id of an event at this instant. Ids increase with time. */
export function firstEventIdAt(at: number): number {
  return Math.max(1, at - EPOCH) * IDS_PER_MS;
}

/**
 * Generates the ids of events: integers below 2^53, which are the milliseconds since 2020 times 4096 plus
 * an offset. The first offset of a millisecond and the steps to further ids are random, so that instances
 * rarely generate the same id. If two instances generate the same id, the transaction that fails is run
 * again with new ids.
 */
@Injectable()
export class EventIds {
  private last = 0;

  constructor(private readonly crypto: CryptoSource) {}

  next(at: number): number {
    const first = firstEventIdAt(at);
    this.last = this.last < first ? first + this.crypto.randomInt(2048) : this.last + 1 + this.crypto.randomInt(512);
    return this.last;
  }
}

const INSERT = `INSERT INTO {event} ({event.id}, {event.userId}, {event.event}, {event.ipAddress}, {event.userAgent},
  {event.extra}, {event.occurredAt})`;

/** The maximum number of rows in one INSERT, given the databases' limits on parameters. */
const ROWS_PER_INSERT = 200;

/** Writes events to the durable log, in the transaction of the change that the events record. */
@Injectable()
export class EventWriter {
  private readonly insertOne;
  private readonly insertMany;

  constructor(
    statements: StatementFactory,
    private readonly ids: EventIds,
    private readonly growth: HistoryGrowth,
  ) {
    this.insertOne = statements.prepared(`${INSERT} VALUES (:eventRow...)`);
    this.insertMany = statements.forCount((count) => {
      const rows = Array.from({ length: count }, (_, row) => `(:row${letters(row)}...)`);
      return `${INSERT} VALUES ${rows.join(', ')}`;
    });
  }

  /** Writes events. If a row cannot be written, the transaction fails. */
  *write(events: readonly NewAuthEvent[]): Step<void> {
    for (const { userId } of events) this.growth.count(userId);
    if (events.length === 1) return void (yield* affectedBy(this.insertOne.with({ eventRow: this.rowOf(events[0]!) })));
    for (let i = 0; i < events.length; i += ROWS_PER_INSERT) {
      const batch = events.slice(i, i + ROWS_PER_INSERT);
      const rows = Object.fromEntries(batch.map((event, row) => [`row${letters(row)}`, this.rowOf(event)]));
      yield* affectedBy(this.insertMany(batch.length).with(rows));
    }
  }

  /**
   * Returns an INSERT that is part of another statement and records an event for the user of the
   * row in `table` (PostgreSQL). The table must have at most one row, because there is only one
   * event id.
   * @param extra an expression for the details, if they depend on the row
   */
  insertForUsersIn(table: string, extra: string = 'CAST(:eventExtra AS text)'): string {
    return `${INSERT} SELECT CAST(:eventId AS bigint), user_id, CAST(:event AS text), CAST(:eventIp AS text),
      CAST(:eventUserAgent AS text), ${extra}, CAST(:eventAt AS bigint) FROM ${table}`;
  }

  /** Counts an event that `insertForUsersIn` has written. `write` counts its own events. */
  countWritten(userId: string): void {
    this.growth.count(userId);
  }

  /** Returns the values of the parameters in the SQL of `insertForUsersIn`. */
  valuesOf(event: NewAuthEvent): Record<string, unknown> {
    const [eventId, , name, eventIp, eventUserAgent, eventExtra, eventAt] = this.rowOf(event);
    return { eventId, event: name, eventIp, eventUserAgent, eventExtra, eventAt };
  }

  private rowOf({ userId, event, ipAddress, userAgent, extra, at }: NewAuthEvent): unknown[] {
    return [this.ids.next(at), userId, event, ipAddress, userAgent, JSON.stringify(extra), at];
  }
}

/** Writes the events of a revocation. */
export type WriteEvents = (events: readonly NewAuthEvent[]) => Step<void>;

/**
 * Runs revocations. A revocation must not fail because of its events. If the events cannot be
 * written, for example because another transaction keeps the event log locked, the revocation is
 * run again without them, and the loss is logged.
 */
@Injectable()
export class RevocationRunner {
  private readonly logger = new Logger('AuthEvents');

  constructor(
    private readonly database: Database,
    private readonly events: EventWriter,
  ) {}

  /**
   * Runs a revocation.
   * @param revocation receives the function that writes its events
   * @param budget the remaining time, if the revocation is part of a longer operation
   */
  async run<T>(revocation: (write: WriteEvents) => Transaction<T>, budget?: TimeBudget): Promise<T> {
    const options = (): StatementOptions => (budget ? { withinMs: budget.remainingMs } : {});
    const write = this.writeUnlessLocked.bind(this);
    let isWriting = false;
    const trackedWrite: WriteEvents = function* (events) {
      isWriting = true;
      yield* write(events);
      isWriting = false;
    };
    try {
      return await this.database.transaction(() => {
        isWriting = false;
        return revocation(trackedWrite);
      }, options());
    } catch (error) {
      if (!isWriting || !(error instanceof AuthError)) throw error;
      let lost: string[] = [];
      const outcome = await this.database.transaction(() => {
        lost = [];
        // eslint-disable-next-line require-yield -- nothing is written
        return revocation(function* (events): Step<void> {
          lost.push(...events.map(({ event }) => event));
        });
      }, options());
      this.logger.error(
        'A change was stored without its events, because the event log could not be written. ' +
          `Lost events: ${lost.join(', ')}`,
      );
      return outcome;
    }
  }

  /** Writes events. Fails after two seconds if the event log is locked, except in the application's transaction. */
  private *writeUnlessLocked(events: readonly NewAuthEvent[]): Step<void> {
    if (events.length === 0) return;
    // The application decides how long its own transactions wait.
    if (currentTransaction()) return yield* this.events.write(events);
    const { begin, end } = withLockTimeout(this.database.dialect);
    for (const query of begin) yield query;
    try {
      yield* this.events.write(events);
    } catch (error) {
      throw isLockTimeout(error) ? new LogLockedError() : error;
    } finally {
      for (const query of end) yield query;
    }
  }
}
