import { Injectable } from '@nestjs/common';
import type { NewAuthEvent } from '../../domain/auth-event';
import { HistoryGrowth } from '../../domain/history-growth';
import { StatementFactory } from '../database/statement-factory';
import { letters } from '../database/statement';
import { affectedBy, type Step } from '../database/transaction';
import { EventIds } from './event-ids';

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
