import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { DataSource } from 'typeorm';
import { firstEventIdAt } from '../../libs/auth/src/history/event-log';
import type { Sent } from './instance';
import type { Model, ModelSession } from './model';
import type { ModelTicket } from './tickets';

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
    const expected = this.model.sessions.toSorted((a, b) => (a.id < b.id ? -1 : 1)).map(fieldsOfSession);
    assertEqual(rows.map(fieldsOfRow), expected);
    for (const row of rows) this.keepCopy(row);
    const tickets: Row[] = await this.dataSource.query('SELECT * FROM auth_login_tickets ORDER BY digest');
    const expectedTickets = this.model.tickets.all.toSorted((a, b) => (a.digest < b.digest ? -1 : 1));
    assertEqual(tickets.map(fieldsOfTicketRow), expectedTickets.map(fieldsOfTicket));
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

/** Returns the expected row. The replay columns are empty unless the live pair can be replayed. */
function fieldsOfSession(session: ModelSession): unknown {
  const { pair, replay, ...rest } = session;
  const { familySecret, ...claims } = claimsOf(pair.refreshToken);
  assertEqual(claims, { sessionId: session.id, generation: session.generation });
  return {
    ...rest,
    access: digest(pair.accessToken),
    refresh: digest(pair.refreshToken),
    family: digest(familySecret),
    replay: replay && {
      until: replay.until,
      transport: 'bearer',
      network: Buffer.from(digest(`${replay.predecessor}\0${replay.network}`), 'hex').toString('base64url'),
      count: replay.count,
      firstUsedAt: replay.firstUsedAt,
    },
  };
}

function fieldsOfRow(row: Row): unknown {
  const number = (column: string): number | null => (row[column] === null ? null : Number(row[column]));
  return {
    id: row['id'],
    user: row['user_id'],
    state: row['state'],
    reason: row['end_reason'],
    createdAt: number('created_at'),
    authenticatedAt: number('authenticated_at'),
    lastActivity: number('last_activity'),
    idleEnd: number('idle_expires_at'),
    absoluteEnd: number('absolute_expires_at'),
    checkAt: number('check_at'),
    accessEnd: number('access_expires_at'),
    refreshEnd: number('refresh_expires_at'),
    generation: number('generation'),
    refreshedAt: number('refreshed_at'),
    lastNetwork: row['last_network'],
    methods: JSON.parse(row['methods'] as string),
    data: JSON.parse(row['data'] as string),
    access: row['access_digest'],
    refresh: row['refresh_digest'],
    family: row['family_digest'],
    replay:
      row['replay_seed'] === null
        ? null
        : {
            until: number('replay_until'),
            transport: row['replay_transport'],
            network: row['replay_network_digest'],
            count: number('replay_count'),
            firstUsedAt: number('first_used_at'),
          },
  };
}

function fieldsOfTicket({ text, ...rest }: ModelTicket): unknown {
  return { ...rest, digest: digest(text) };
}

function fieldsOfTicketRow(row: Row): unknown {
  return {
    digest: row['digest'],
    user: row['user_id'],
    createdAt: Number(row['created_at']),
    expiresAt: Number(row['expires_at']),
    failures: Number(row['failure_count']),
    methods: JSON.parse(row['methods'] as string),
    data: JSON.parse(row['data'] as string),
  };
}

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
