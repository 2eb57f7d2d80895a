import { Injectable, Logger } from '@nestjs/common';
import { AuthError } from '../base/errors';
import { Random } from '../base/random';
import { Database } from '../database/database';
import type { TimeBudget } from '../database/deadline';
import { withLockTimeout } from '../database/dialect';
import type { AuthEventName } from '../database/entities';
import { DatabaseFailure, isLockTimeout } from '../database/failure';
import type { JoinedTransaction } from '../database/joined-transaction';
import { letters, StatementFactory } from '../database/statements';
import { affectedBy, type Query, type Step, type Transaction } from '../database/transaction';
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

const INSERT = `INSERT INTO {event} ({event.id}, {event.userId}, {event.event}, {event.ipAddress}, {event.userAgent},
  {event.extra}, {event.occurredAt})`;

/** Databases limit the number of parameters of a statement. */
const ROWS_PER_INSERT = 200;

/** The number of written events after which an instance prunes, besides its schedule. */
const EVENTS_PER_PRUNING = 100_000;

/** The minimum time for a revocation without its events, if writing them has used up the time of the operation. */
const MIN_REVOCATION_MS = 2_000;

/** Writes the events of a revocation. */
export type WriteEvents = (events: readonly NewAuthEvent[]) => Step<void>;

/** Writes events to the durable log, in the transaction of the change that the events record. */
@Injectable()
export class EventLog {
  private readonly logger = new Logger('AuthEvents');
  private readonly insertOne;
  private readonly insertMany;
  private lastId = 0;
  private written = 0;
  /** Called after every 100,000 written events. Events that are rolled back also count. */
  onGrowth: () => void = () => undefined;

  constructor(
    private readonly database: Database,
    statements: StatementFactory,
    private readonly random: Random,
  ) {
    this.insertOne = statements.prepared(`${INSERT} VALUES (:eventRow...)`);
    this.insertMany = statements.forCount((count) => {
      const rows = Array.from({ length: count }, (_, row) => `(:row${letters(row)}...)`);
      return `${INSERT} VALUES ${rows.join(', ')}`;
    });
  }

  /** Writes events. If a row cannot be written, the transaction fails. */
  *write(events: readonly NewAuthEvent[]): Step<void> {
    for (let i = 0; i < events.length; i += ROWS_PER_INSERT) {
      yield* affectedBy(this.insertOf(events.slice(i, i + ROWS_PER_INSERT)));
    }
  }

  /** Returns an INSERT of 1 to 200 events, with new ids. */
  insertOf(events: readonly NewAuthEvent[]): Query {
    this.countWritten(events.length);
    if (events.length === 1) return this.insertOne.with({ eventRow: this.rowOf(events[0]!) });
    const rows = Object.fromEntries(events.map((event, row) => [`row${letters(row)}`, this.rowOf(event)]));
    return this.insertMany(events.length).with(rows);
  }

  /**
   * Returns an INSERT that is part of another statement and records an event for the user of the row in `table`
   * (PostgreSQL). The table must have at most one row, because there is only one event id.
   * @param extra an expression for the details, if they depend on the row
   */
  insertForUsersIn(table: string, extra: string = 'CAST(:eventExtra AS text)'): string {
    return `${INSERT} SELECT CAST(:eventId AS bigint), user_id, CAST(:event AS text), CAST(:eventIp AS text),
      CAST(:eventUserAgent AS text), ${extra}, CAST(:eventAt AS bigint) FROM ${table}`;
  }

  /** Counts events that `insertForUsersIn` has written. `write` counts its own events. */
  countWritten(events: number): void {
    this.written += events;
    if (this.written < EVENTS_PER_PRUNING) return;
    this.written = 0;
    this.onGrowth();
  }

  /** Returns the values of the parameters in the SQL of `insertForUsersIn`. */
  valuesOf(event: NewAuthEvent): Record<string, unknown> {
    const [eventId, , name, eventIp, eventUserAgent, eventExtra, eventAt] = this.rowOf(event);
    return { eventId, event: name, eventIp, eventUserAgent, eventExtra, eventAt };
  }

  /**
   * Runs a transaction that ends sessions, which must not fail because of its events. If the events cannot be written,
   * for example because another transaction keeps the event log locked, the transaction is run again without them,
   * and the loss is logged.
   * @param revocation receives the function that writes its events
   * @param budget the remaining time, if the revocation is part of a longer operation
   */
  async revoke<T>(
    tx: JoinedTransaction | null,
    revocation: (write: WriteEvents) => Transaction<T>,
    budget?: TimeBudget,
  ): Promise<T> {
    // The application decides how long its own transactions wait for a lock.
    const write = tx ? this.write.bind(this) : this.writeUnlessLocked.bind(this);
    let isWriting = false;
    const trackedWrite: WriteEvents = function* (events) {
      if (events.length === 0) return;
      isWriting = true;
      yield* write(events);
      isWriting = false;
    };
    const run = (): Transaction<T> => {
      isWriting = false;
      return revocation(trackedWrite);
    };
    try {
      return await this.database.transaction(tx, run, { withinMs: budget?.remainingMs ?? Infinity });
    } catch (error) {
      if (!isWriting || !(error instanceof AuthError)) throw error;
    }
    let lost: string[] = [];
    const runWithoutEvents = (): Transaction<T> => {
      lost = [];
      // eslint-disable-next-line require-yield -- nothing is written
      return revocation(function* (events) {
        lost.push(...events.map(({ event }) => event));
      });
    };
    const withinMs = Math.max(budget?.remainingMs ?? Infinity, MIN_REVOCATION_MS);
    const outcome = await this.database.transaction(tx, runWithoutEvents, { withinMs });
    this.logger.error(
      'A change was stored without its events, because the event log could not be written. ' +
        `Lost events: ${lost.join(', ')}`,
    );
    return outcome;
  }

  /** Writes events. Fails after two seconds if the event log is locked. */
  private *writeUnlessLocked(events: readonly NewAuthEvent[]): Step<void> {
    const { begin, end } = withLockTimeout(this.database.dialect);
    for (const query of begin) yield query;
    try {
      yield* this.write(events);
    } catch (error) {
      // Not a conflict, because running the transaction again would not help.
      const message = 'Another transaction has locked the event log.';
      throw isLockTimeout(error) ? new DatabaseFailure('LOG_LOCKED', message) : error;
    } finally {
      for (const query of end) yield query;
    }
  }

  private rowOf({ userId, event, ipAddress, userAgent, extra, at }: NewAuthEvent): unknown[] {
    return [this.nextId(at), userId, event, ipAddress, userAgent, JSON.stringify(extra), at];
  }

  /**
   * Returns the id of an event: the milliseconds since 2020 times 4096 plus an offset, which stays below 2^53. The
   * first offset of a millisecond and the steps to further ids are random, so that instances rarely generate the same
   * id. If they do, the transaction that fails is run again with new ids.
   */
  private nextId(at: number): number {
    const first = firstEventIdAt(at);
    this.lastId = this.lastId < first ? first + this.random.integer(2048) : this.lastId + 1 + this.random.integer(512);
    return this.lastId;
  }
}
