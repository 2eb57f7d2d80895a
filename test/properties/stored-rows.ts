import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { DataSource } from 'typeorm';
import { firstEventIdAt } from '../../libs/auth/src/history/event-log';
import { parseRefreshToken } from '../../libs/auth/src/tokens/tokens';
import type { Sent } from './instance';
import type { Model, ModelSession } from './model';

type Row = Readonly<Record<string, unknown>>;

/** Compares the contents of the database with the model. */
export class StoredRows {
  /** The ids of the recorded events that are not pruned. */
  private readonly events = new Set<number>();

  constructor(
    private readonly dataSource: DataSource,
    private readonly model: Model,
  ) {}

  /** Compares all sessions, and all events: earlier events unchanged, and those of the last step. */
  async assertSame(): Promise<void> {
    const rows: Row[] = await this.dataSource.query('SELECT * FROM auth_sessions ORDER BY id');
    const sessions = this.model.sessions.toSorted((a, b) => (a.id < b.id ? -1 : 1)).map(fieldsOfSession);
    const actual = rows.map((row, index) => fieldsOfRow(row, Object.keys(sessions[index] ?? {})));
    assertEqual(actual, sessions);
    await this.assertSameEvents();
  }

  forgetEventsBefore(instant: number): void {
    for (const id of this.events) if (id < firstEventIdAt(instant)) this.events.delete(id);
  }

  private async assertSameEvents(): Promise<void> {
    const rows: Row[] = await this.dataSource.query('SELECT id, user_id, event, extra FROM auth_events');
    const ids = new Set(rows.map((row) => Number(row['id'])));
    const added = rows.filter((row) => !this.events.has(Number(row['id'])));
    const recorded = added.map((row) => `${String(row['user_id'])} ${String(row['event'])} ${String(row['extra'])}`);
    assertEqual(recorded.sort(), this.model.events.splice(0).sort());
    assertEqual(
      [...this.events].filter((id) => !ids.has(id)),
      [],
    );
    for (const id of ids) this.events.add(id);
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
    case 'session_limit_reached':
      return `${name} ${payload.userId} ${payload.activeSessions}`;
    case 'token_reuse_detected': {
      const { generationsBehind, lastRefreshAt } = payload.reuse;
      const { userId, session, sessionsEnded } = payload;
      return `${name} ${userId} ${session.id} ${sessionsEnded} ${generationsBehind} ${lastRefreshAt.getTime()}`;
    }
    default:
      return `${name} ${'userId' in payload ? String(payload.userId) : ''}`;
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
};

/** Returns the columns of a row under the names of the model's fields. */
function fieldsOfRow(row: Row, names: readonly string[]): Record<string, unknown> {
  const fields = names.map((name) => {
    const value = row[COLUMNS[name] ?? name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)];
    // Drivers return large integers as strings.
    return [name, typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : value];
  });
  return Object.fromEntries(fields) as Record<string, unknown>;
}

function fieldsOfSession({ pair, replay, ...rest }: ModelSession): Record<string, unknown> {
  const { familySecret, ...claims } = parseRefreshToken(pair.refreshToken)!;
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

function digest(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}
