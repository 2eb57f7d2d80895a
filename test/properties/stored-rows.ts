import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { DataSource } from 'typeorm';
import { firstEventIdAt } from '../../libs/auth/src/history/event-log';
import type { Sent } from './instance';
import type { Model, ModelSession, ModelTicket } from './model';

type Row = Readonly<Record<string, unknown>>;

/** An earlier state of a session, as a backup contains it. */
interface Copy {
  readonly row: Row;
  readonly session: ModelSession;
}

/** Compares the contents of the database with the model. */
export class StoredRows {
  private readonly copies = new Map<string, Copy[]>();
  /** The recorded events that are not pruned: their ids and users. */
  private readonly events = new Map<number, string>();

  constructor(
    private readonly dataSource: DataSource,
    private readonly model: Model,
  ) {}

  /**
   * Compares all columns of all sessions and login tickets, and all events: earlier events unchanged, and those
   * of the last step.
   */
  async assertSame(): Promise<void> {
    const rows: Row[] = await this.dataSource.query('SELECT * FROM auth_sessions ORDER BY id');
    const sessions = this.model.sessions.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    assertStored(rows, sessions.map(fieldsOfSession));
    for (const row of rows) this.keepCopy(row);
    const tickets: Row[] = await this.dataSource.query('SELECT * FROM auth_login_tickets ORDER BY digest');
    const expected = this.model.tickets.all.toSorted((a, b) => (a.digest < b.digest ? -1 : 1));
    assertStored(tickets, expected.map(fieldsOfTicket));
    await this.assertSameEvents();
  }

  /** Restores an earlier copy of a session's row, as a restored backup or a failover with lost commits does. */
  async restore(id: string, age: number): Promise<void> {
    const copies = this.copies.get(id)!;
    const index = this.model.sessions.findIndex((session) => session.id === id);
    if (index < 0) return;
    const { row, session } = copies.at(-1 - (age % copies.length))!;
    await this.update(id, row);
    this.model.sessions[index] = structuredClone(session);
  }

  async update(id: string, row: Row): Promise<void> {
    const parameter = (index: number): string => (this.dataSource.options.type === 'postgres' ? `$${index + 1}` : '?');
    const columns = Object.keys(row);
    const assignments = columns.map((column, index) => `${column} = ${parameter(index)}`).join(', ');
    const sql = `UPDATE auth_sessions SET ${assignments} WHERE id = ${parameter(columns.length)}`;
    await this.dataSource.query(sql, [...Object.values(row), id]);
  }

  forgetEventsOf(user: string): void {
    for (const [id, owner] of this.events) if (owner === user) this.events.delete(id);
  }

  forgetEventsBefore(instant: number): void {
    for (const id of this.events.keys()) if (id < firstEventIdAt(instant)) this.events.delete(id);
  }

  private keepCopy(row: Row): void {
    const id = String(row['id']);
    const copies = this.copies.get(id) ?? [];
    if (isDeepStrictEqual(copies.at(-1)?.row, row)) return;
    this.copies.set(id, [...copies, { row, session: structuredClone(this.model.find(id)!) }]);
  }

  private async assertSameEvents(): Promise<void> {
    const rows: Row[] = await this.dataSource.query('SELECT id, user_id, event, extra FROM auth_events');
    const byId = new Map(rows.map((row) => [Number(row['id']), row]));
    const added = rows.filter((row) => !this.events.has(Number(row['id'])));
    const recorded = added.map((row) => `${String(row['user_id'])} ${String(row['event'])} ${String(row['extra'])}`);
    assertEqual(recorded.sort(), this.model.events.splice(0).sort());
    assertEqual(
      [...this.events.keys()].filter((id) => !byId.has(id)),
      [],
    );
    for (const [id, row] of byId) this.events.set(id, String(row['user_id']));
  }
}

export function assertSameSignals(sent: readonly Sent[], expected: readonly string[]): void {
  assertEqual(sent.map(describeSignal).sort(), expected.toSorted());
}

/** Compares the columns that are expected. */
function assertStored(rows: readonly Row[], expected: readonly object[]): void {
  const actual = rows.map((row, index) => fieldsOfRow(row, Object.keys(expected[index] ?? {})));
  assertEqual(actual, expected);
}

/** Compares without `expect` first, because `expect` takes as long as the library itself. */
function assertEqual(actual: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(actual, expected)) expect(actual).toEqual(expected);
}

function describeSignal({ name, payload }: Sent): string {
  switch (name) {
    case 'user_logged_out':
      return `${name} ${payload.userId} ${payload.session.id} ${payload.reason}`;
    case 'login_failed':
      return `${name} ${payload.userId ?? ''} ${payload.failureCount}`;
    case 'brute_force_threshold_hit':
      return `${name} ${payload.failureCount}`;
    case 'session_limit_reached':
      return `${name} ${payload.userId} ${payload.activeSessions}`;
    case 'token_reuse_detected': {
      const { generationsBehind, lastRefreshAt } = payload.reuse;
      const { userId, session, sessionsEnded } = payload;
      return `${name} ${userId} ${session.id} ${sessionsEnded} ${generationsBehind} ${lastRefreshAt.getTime()}`;
    }
    default:
      return `${name} ${payload.userId}`;
  }
}

/** The columns of the fields whose names differ from those of the columns. */
const COLUMNS: Readonly<Record<string, string>> = {
  user: 'user_id',
  reason: 'end_reason',
  idleEnd: 'idle_expires_at',
  absoluteEnd: 'absolute_expires_at',
  accessEnd: 'access_expires_at',
  refreshEnd: 'refresh_expires_at',
  access: 'access_digest',
  refresh: 'refresh_digest',
  family: 'family_digest',
  failures: 'failure_count',
};

/** Returns the columns of a row under the names of the model's fields. */
function fieldsOfRow(row: Row, names: readonly string[]): Record<string, unknown> {
  const fields = names.map((name) => {
    const value = row[COLUMNS[name] ?? name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)];
    if (name === 'methods' || name === 'data') return [name, JSON.parse(value as string)];
    // Drivers return large integers as strings.
    return [name, typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : value];
  });
  return Object.fromEntries(fields) as Record<string, unknown>;
}

function fieldsOfSession({ pair, replay, ...rest }: ModelSession): Record<string, unknown> {
  const { familySecret, ...claims } = claimsOf(pair.refreshToken);
  assertEqual(claims, { sessionId: rest.id, generation: rest.generation });
  return {
    ...rest,
    ...{ access: digest(pair.accessToken), refresh: digest(pair.refreshToken), family: digest(familySecret) },
    ...fieldsOfReplay(replay),
  };
}

/** Returns the expected columns of the replay, which are empty unless the live pair can be replayed. */
function fieldsOfReplay(replay: ModelSession['replay']): Record<string, unknown> {
  if (!replay) return { replaySeed: null };
  const { until, count, firstUsedAt, predecessor, network } = replay;
  const networkDigest = Buffer.from(digest(`${predecessor}\0${network}`), 'hex').toString('base64url');
  return {
    ...{ replayUntil: until, replayTransport: 'bearer', replayNetworkDigest: networkDigest },
    ...{ replayCount: count, firstUsedAt },
  };
}

const fieldsOfTicket = ({ text, ...rest }: ModelTicket): object => ({ ...rest, digest: digest(text) });

/**
 * The content of a refresh token, by the contract: session id (16 bytes), family secret (16), generation (4),
 * 33 random bytes.
 */
function claimsOf(refreshToken: string): { sessionId: string; familySecret: Buffer; generation: number } {
  const payload = Buffer.from(refreshToken.slice('nsar_'.length, -6), 'base64url');
  const id = payload.toString('hex', 0, 16);
  return {
    sessionId: id.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5'),
    familySecret: payload.subarray(16, 32),
    generation: payload.readUInt32BE(32),
  };
}

function digest(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}
