import { ClientError } from './errors.js';

/** A session of the user, as `sessions()` lists it. */
export interface Session {
  readonly id: string;
  readonly state: string;
  /** Null where the server does not track it. */
  readonly ipAddress: string | null;
  /** `desktop`, `mobile`, `tablet`, `bot` or `other`. */
  readonly deviceType: string;
  readonly osFamily: string;
  readonly browserFamily: string;
  readonly deviceName: string;
  readonly createdAt: Date;
  readonly lastActivity: Date;
  /** Whether it is the session of this client. */
  readonly isCurrent: boolean;
}

/** An event of the user's history. */
export interface HistoryEntry {
  readonly id: number;
  readonly event: string;
  readonly ipAddress: string | null;
  readonly userAgent: string;
  /** What the event tells besides, in camelCase. */
  readonly extra: Readonly<Record<string, unknown>>;
  readonly timestamp: Date;
}

/** The tokens of an answer. */
export interface TokenPair {
  readonly accessToken: string;
  readonly refreshToken: string;
}

export type JsonRecord = Readonly<Record<string, unknown>>;

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value of a stored text, or null where it is none. */
export function parseJson(stored: string | null): unknown {
  try {
    return JSON.parse(stored ?? 'null');
  } catch {
    return null;
  }
}

export function camelCase(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

export function readPair(body: unknown): TokenPair {
  return { accessToken: text(body, 'access_token'), refreshToken: text(body, 'refresh_token') };
}

/** A field that has to be a string. */
export function text(body: unknown, name: string): string {
  const value = isRecord(body) ? body[name] : undefined;
  if (typeof value !== 'string' || value === '') throw unexpected();
  return value;
}

export function readSessions(body: unknown): Session[] {
  return list<Session>(body, ['created_at', 'last_activity']);
}

export function readHistory(body: unknown): HistoryEntry[] {
  const entries = list<HistoryEntry>(body, ['timestamp']);
  return entries.map((entry) => ({ ...entry, extra: inCamelCase(entry.extra) }));
}

/** The n of "Revoked <n> session(s)." */
export function readRevoked(body: unknown): number {
  return Number(/\d+/.exec(text(body, 'detail'))?.[0] ?? 0);
}

function list<T>(body: unknown, instants: readonly string[]): T[] {
  if (!Array.isArray(body) || !body.every(isRecord)) throw unexpected();
  return body.map((row) => {
    const dates = instants.map((name) => [name, new Date(text(row, name))] as const);
    return inCamelCase({ ...row, ...Object.fromEntries(dates) }) as T;
  });
}

function inCamelCase(row: JsonRecord): JsonRecord {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [camelCase(name), value]));
}

function unexpected(): ClientError {
  return new ClientError('unexpected_answer', 'The answer is not one of nestjs-session-auth.');
}
