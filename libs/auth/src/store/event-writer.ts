import { Logger } from '@nestjs/common';
import { randomInt } from 'node:crypto';
import type { AuthEventName, NewAuthEvent } from '../domain/auth-event';
import type { Client } from '../domain/client';
import { AuthError } from '../domain/errors';
import type { EndedSession, EndReason } from '../domain/session';
import type { AuthTables } from './auth-tables';
import type { Database } from './sql/database';
import { shortWaits } from './sql/dialect';
import { isLockTimeout, LogLockedError } from './sql/failure';
import { currentTransaction } from './sql/joined-transaction';
import { letters, type Statement } from './sql/statement';
import { affectedBy, type Unit } from './sql/unit';

/** How an end is told in the log. A reuse is told once for all, and time that is over is no event. */
const EVENT_OF: Record<EndReason, AuthEventName | null> = {
  logout: 'logout',
  logout_all: 'session_revoked',
  user: 'session_revoked',
  admin: 'session_revoked',
  session_policy: 'forced_logout',
  password_change: 'forced_logout',
  password_reset: 'forced_logout',
  user_disabled: 'forced_logout',
  user_deleted: 'forced_logout',
  token_reuse: null,
  expired: null,
};

const INSERT = `INSERT INTO {event} ({event.id}, {event.userId}, {event.event}, {event.ipAddress}, {event.userAgent},
  {event.extra}, {event.occurredAt})`;

/** Rows of one INSERT: as many as every database takes in one statement. */
const ROWS_AT_ONCE = 200;

const FIRST_YEAR = Date.UTC(2020, 0, 1);

/** An event that is told if something came of it for this session. */
export interface SessionEvent {
  readonly event: NewAuthEvent;
  readonly sessionId: string;
}

/** The lists of values of such events, one a column. */
const TOLD = ['bigint', 'text', 'text', 'text', 'text', 'text', 'bigint', 'text'].map((type, column) => ({
  name: `told${letters(column)}`,
  type,
}));
const OWNER = TOLD[1]!.name;

/** Writes the rows of the durable log, inside the unit of the change that they tell of. */
export class EventWriter {
  private readonly logger = new Logger('AuthEvents');
  private readonly insert = new Map<number, Statement>();
  private lastId = 0;

  constructor(
    private readonly tables: AuthTables,
    private readonly database: Database,
  ) {
    this.insertOf(1);
  }

  /** The rows are part of the unit: if they cannot be written, nothing is. */
  *write(events: readonly NewAuthEvent[]): Unit<void> {
    for (let i = 0; i < events.length; i += ROWS_AT_ONCE) {
      const batch = events.slice(i, i + ROWS_AT_ONCE);
      yield* affectedBy(this.insertOf(batch.length).with(this.valuesOf(batch)));
    }
  }

  /** The same as a part of another statement (PostgreSQL): of the events that it is given, those of sessions in `table`. */
  insertOfSessionsIn(table: string): string {
    const columns = ['id', 'owner', 'event', 'ip', 'agent', 'extra', 'at'];
    const lists = TOLD.map(({ name, type }) => `CAST(:${name} AS ${type}[])`);
    return `${INSERT} SELECT ${columns.join(', ')} FROM unnest(${lists.join(', ')})
      AS told(${columns.join(', ')}, session_id) WHERE session_id IN (SELECT id FROM ${table})`;
  }

  valuesOfSessions(events: readonly SessionEvent[]): Record<string, unknown> {
    const rows = events.map(({ event, sessionId }) => [...this.rowOf(event), sessionId]);
    return Object.fromEntries(TOLD.map(({ name }, column) => [name, rows.map((row) => row[column])]));
  }

  /** The same for one event, which is told of the user in `table`, if there is one. */
  insertOfUserIn(table: string): string {
    const values = TOLD.slice(0, -1).map(({ name, type }) =>
      name === OWNER ? 'user_id' : `CAST(:${name} AS ${type})`,
    );
    return `${INSERT} SELECT ${values.join(', ')} FROM ${table}`;
  }

  valuesOfUser(event: NewAuthEvent): Record<string, unknown> {
    return Object.fromEntries(this.rowOf(event).map((value, column) => [TOLD[column]!.name, value]));
  }

  /**
   * Runs a revocation, which must not fail because its row cannot be written, or not soon: then it is done again without,
   * and the loss is logged. `unit` is given the way to write.
   */
  async revoke<T>(unit: (write: (events: readonly NewAuthEvent[]) => Unit<void>) => Unit<T>): Promise<T> {
    const write = this.writeSoon.bind(this);
    let isUnwritten = false;
    const noting = function* (events: readonly NewAuthEvent[]): Unit<void> {
      isUnwritten = true;
      yield* write(events);
      isUnwritten = false;
    };
    try {
      return await this.database.atomic(() => unit(noting));
    } catch (error) {
      if (!isUnwritten || !(error instanceof AuthError)) throw error;
      const lost: string[] = [];
      const outcome = await this.database.atomic(() =>
        // eslint-disable-next-line require-yield -- nothing is written, which is the point
        unit(function* (events): Unit<void> {
          lost.push(...events.map((event) => event.event));
        }),
      );
      this.logger.error(`Sessions were ended, but the event log could not be written. Lost: ${lost.join(', ')}`);
      return outcome;
    }
  }

  /** Does not wait for a log that somebody has locked. */
  private *writeSoon(events: readonly NewAuthEvent[]): Unit<void> {
    if (events.length === 0) return;
    // How long a transaction of the host's waits is the host's to say.
    if (currentTransaction()) return yield* this.write(events);
    const { begin, end } = shortWaits(this.tables.dialect);
    for (const query of begin) yield query;
    try {
      yield* this.write(events);
    } catch (error) {
      throw isLockTimeout(error) ? new LogLockedError() : error;
    } finally {
      for (const query of end) yield query;
    }
  }

  private valuesOf(batch: readonly NewAuthEvent[]): Record<string, unknown> {
    const values: Record<string, unknown> = {};
    batch.forEach((event, row) => {
      values[`row${letters(row)}`] = this.rowOf(event);
    });
    return values;
  }

  private rowOf(event: NewAuthEvent): unknown[] {
    const { userId, event: name, ipAddress, userAgent, extra, at } = event;
    return [this.nextId(at), userId, name, ipAddress, userAgent, JSON.stringify(extra), at];
  }

  private insertOf(rows: number): Statement {
    let statement = this.insert.get(rows);
    if (!statement) {
      const values = Array.from({ length: rows }, (_, row) => `(:row${letters(row)}...)`).join(', ');
      statement = this.tables.statement(`${INSERT} VALUES ${values}`);
      this.insert.set(rows, statement);
    }
    return statement;
  }

  /**
   * Whole numbers below 2^53 that rise with time: milliseconds since 2020, times 4096. Where one begins within its
   * millisecond, and how far the next one is, is left to chance, so that instances seldom meet. Should two meet, the unit
   * is run again with other numbers.
   */
  private nextId(at: number): number {
    const first = Math.max(1, at - FIRST_YEAR) * 4096;
    this.lastId = this.lastId < first ? first + randomInt(2048) : this.lastId + 1 + randomInt(512);
    return this.lastId;
  }
}

/** The rows that tell of these ends. */
export function endEvents(
  ended: readonly EndedSession[],
  client: Client,
  at: number,
  actor: string | null = null,
): NewAuthEvent[] {
  return ended.flatMap(({ session, reason }) => {
    const event = EVENT_OF[reason];
    if (event === null) return [];
    const by = actor !== null && reason === 'admin' ? { actor } : {};
    const extra = event === 'logout' ? {} : { session_id: session.id, reason, ...by };
    return [eventOf(event, session.userId, client, at, extra)];
  });
}

export function eventOf(
  event: AuthEventName,
  userId: string | null,
  client: Client,
  at: number,
  extra: Record<string, unknown> = {},
): NewAuthEvent {
  return { event, userId, ipAddress: client.ipAddress, userAgent: client.userAgent, extra, at };
}
