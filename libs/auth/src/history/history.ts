import { invalidField } from '../base/errors';
import { FIELD_MESSAGES } from '../base/fields';
import { AUTH_EVENT_NAMES, type AuthEventName } from '../database/entities';
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

/**
 * The maximum number of a user's events that are searched if `HistoryCriteria` names events. The search begins at
 * `before`, and goes from newer to older events.
 */
export const HISTORY_SEARCH_LIMIT = 10_000;

/** Selects events of a user. */
export interface HistoryCriteria {
  /** Only events with a smaller id. Infinity selects all events. */
  readonly before: number;
  /** Only events with these names, among the newest `HISTORY_SEARCH_LIMIT` before `before`. Null selects all names. */
  readonly events: readonly string[] | null;
  readonly limit: number;
}

export const HISTORY_LIMIT = { default: 50, max: 200 } as const;

/** Selects events of a user's history. */
export interface HistoryRequest {
  /** The maximum number of events. Values above 200 mean 200. Default: 50. */
  readonly limit?: number;
  /** The id of an event. Only earlier events are returned. Default: all events. */
  readonly before?: number;
  /**
   * One or more event names. Only events with these names are returned. Of the events before `before`, the newest
   * 10,000 are searched. Default: all names.
   */
  readonly event?: string | readonly string[];
}

/** Accepts positive integers and `Infinity`. @throws AuthError `invalid_field` */
export function assertPositive(field: string, value: number): void {
  if (value >= 1 && (value === Infinity || Number.isInteger(value))) return;
  throw invalidField(field, FIELD_MESSAGES.integer);
}

export function isEventName(name: unknown): boolean {
  return (AUTH_EVENT_NAMES as readonly unknown[]).includes(name);
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
