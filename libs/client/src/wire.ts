import { ClientError } from './errors.js';

/** A session of the user, as `sessions()` returns it. */
export interface Session {
  readonly id: string;
  readonly state: string;
  /** The IP address of the login, or null if the address is unknown or not tracked. */
  readonly ipAddress: string | null;
  /** `desktop`, `mobile`, `tablet`, `bot` or `other`. */
  readonly deviceType: string;
  readonly osFamily: string;
  readonly browserFamily: string;
  readonly deviceName: string;
  readonly createdAt: Date;
  readonly lastActivity: Date;
  /** Whether this session belongs to this client. */
  readonly isCurrent: boolean;
}

/** An event of the user's history, as `history()` returns it. */
export interface HistoryEntry {
  readonly id: number;
  readonly event: string;
  readonly ipAddress: string | null;
  readonly userAgent: string;
  /** The details of the event, in camelCase. */
  readonly extra: Readonly<Record<string, unknown>>;
  readonly timestamp: Date;
}

/** A token pair. */
export interface TokenPair {
  readonly accessToken: string;
  readonly refreshToken: string;
}

export type JsonRecord = Readonly<Record<string, unknown>>;

/** Returns the value, or an empty record if the value is not a record. */
export function recordOf(value: unknown): JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonRecord) : {};
}

/** Parses a stored text. Returns null if the text is not valid JSON. */
export function parseJson(stored: string | null): unknown {
  try {
    return JSON.parse(stored ?? 'null');
  } catch {
    return null;
  }
}

/** Returns the JSON body, or an empty record if the body is not a JSON object. */
export async function readRecord(response: Pick<Response, 'json'>): Promise<JsonRecord> {
  return recordOf(await response.json().catch(() => null));
}

/** Returns the record with the names of its fields in camelCase. */
export function inCamelCase<T>(row: Readonly<Record<string, T>>): Record<string, T> {
  const rename = (name: string): string => name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [rename(name), value]));
}

export function readPair(body: unknown): TokenPair {
  return { accessToken: text(body, 'access_token'), refreshToken: text(body, 'refresh_token') };
}

/** Returns the value of a field. Throws if the value is missing, empty or not a string. */
export function text(body: unknown, name: string): string {
  const value = recordOf(body)[name];
  if (typeof value !== 'string' || !value) throw unexpected(`\`${name}\` is missing.`);
  return value;
}

export function readSessions(body: unknown): Session[] {
  return list<Session>(body, ['created_at', 'last_activity']);
}

export function readHistory(body: unknown): HistoryEntry[] {
  return list<HistoryEntry>(body, ['timestamp']).map((entry) => ({ ...entry, extra: inCamelCase(entry.extra) }));
}

/** Returns the number in `Revoked <n> session(s).` */
export function readRevoked(body: unknown): number {
  return Number(/\d+/.exec(text(body, 'detail'))?.[0] ?? 0);
}

function list<T>(body: unknown, instants: readonly string[]): T[] {
  if (!Array.isArray(body)) throw unexpected('The response is not a list.');
  return body.map((row: unknown) => {
    const dates = instants.map((name) => [name, new Date(text(row, name))] as const);
    return inCamelCase<unknown>({ ...recordOf(row), ...Object.fromEntries(dates) }) as T;
  });
}

function unexpected(problem: string): ClientError {
  return new ClientError('unexpected_answer', problem);
}
