import { Injectable } from '@nestjs/common';
import type { UserId } from '../adapters/user-store';
import { invalidField } from '../base/errors';
import { FIELD_MESSAGES } from '../base/fields';
import { Database } from '../database/database';
import { AUTH_EVENT_NAMES, type AuthEventName } from '../database/entities';
import { columns, StatementFactory } from '../database/statements';
import type { Row } from '../database/transaction';

/** An event in the history of a user. */
export interface AuthEventEntry {
  readonly id: number;
  readonly event: AuthEventName;
  readonly ipAddress: string | null;
  readonly userAgent: string;
  readonly extra: Readonly<Record<string, unknown>>;
  readonly timestamp: Date;
}

export const HISTORY_LIMIT = { default: 50, max: 200 } as const;

/** Selects events of a user's history. */
export interface HistoryRequest {
  /** The maximum number of events. Values above 200 mean 200. Default: 50. */
  readonly limit?: number;
  /** The id of an event. Only earlier events are returned. Default: all events. */
  readonly before?: number;
  /** The names of the events, which are searched among the newest 10,000 before `before`. Default: all names. */
  readonly event?: string | readonly string[];
}

@Injectable()
export class History {
  private readonly before;
  private readonly namedBefore;

  constructor(
    private readonly database: Database,
    statements: StatementFactory,
  ) {
    const fields = (alias: string): string => columns('event', 'id event ipAddress userAgent extra occurredAt', alias);
    const before = 'FROM {event} WHERE {event.userId} = :userId AND {event.id} < :before ORDER BY {event.id} DESC';
    this.before = statements.statement(`SELECT ${fields('')} ${before} LIMIT :limit`);
    // The names of events have no index. Without the limit of the subquery, the statement could read all events of the
    // user to find a rare event.
    this.namedBefore = statements.statement(
      `SELECT ${fields('e.')} FROM (SELECT {event.id}, {event.event} ${before} LIMIT 10000) newest
         INNER JOIN {event} e ON e.{event.id} = newest.{event.id}
       WHERE newest.{event.event} IN (:events...) ORDER BY newest.{event.id} DESC LIMIT :limit`,
    );
  }

  /** Returns the events that the request selects, newest first. @throws AuthError `invalid_field` */
  async list(userId: UserId, request: HistoryRequest): Promise<readonly AuthEventEntry[]> {
    const { limit = HISTORY_LIMIT.default, before = Infinity, event } = request;
    const events = event === undefined ? null : [event].flat();
    assertIntegerWithin('limit', limit, 1, Infinity);
    assertIntegerWithin('before', before, 1, Infinity);
    if (events) assertEventNames('event', events);
    return this.page(userId, before, Math.min(limit, HISTORY_LIMIT.max), events);
  }

  /** Returns at most `limit` events with ids below `before`, newest first. Null selects events of all names. */
  async page(
    userId: UserId,
    before: number,
    limit: number,
    events: readonly string[] | null = null,
  ): Promise<readonly AuthEventEntry[]> {
    const values = { userId: String(userId), before: Math.min(before, Number.MAX_SAFE_INTEGER), limit };
    const query = events ? this.namedBefore.with({ ...values, events }) : this.before.with(values);
    return (await this.database.run(null, query)).rows.map(eventFromRow);
  }
}

export function assertIntegerWithin(field: string, value: number, least: number, most: number): void {
  if (value >= least && value <= most && (value === Infinity || Number.isInteger(value))) return;
  throw invalidField(field, FIELD_MESSAGES.integer);
}

export function assertEventNames(field: string, events: readonly string[]): void {
  const names: readonly string[] = AUTH_EVENT_NAMES;
  const isValid = Array.isArray(events) && events.length > 0 && events.every((name: string) => names.includes(name));
  if (!isValid) throw invalidField(field, FIELD_MESSAGES.event);
}

export function eventFromRow(row: Row): AuthEventEntry {
  return {
    id: Number(row['id']),
    event: row['event'] as AuthEventName,
    ipAddress: (row['ip_address'] ?? null) as string | null,
    userAgent: String(row['user_agent']),
    extra: JSON.parse(String(row['extra'])) as Record<string, unknown>,
    timestamp: new Date(Number(row['occurred_at'])),
  };
}
