import { createHash } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { parseRefreshToken } from '../../libs/auth/src/tokens/tokens';

/** What a client knows of its session when its server is killed. */
export interface Holder {
  readonly sessionId: string;
  /** The tokens of the last response that arrived. */
  readonly accessToken: string;
  readonly refreshToken: string;
  /** Whether a refresh with these tokens is still unanswered. */
  readonly isInFlight: boolean;
}

interface SessionRow {
  readonly id: string;
  readonly userId: string;
  readonly state: string;
  readonly accessDigest: string;
  readonly refreshDigest: string;
  readonly familyDigest: string;
  readonly generation: number;
  readonly refreshedAt: number | null;
  /** The columns from which the live pair can be replayed. */
  readonly replay: readonly unknown[];
  readonly replayCount: number;
}

interface LoggedRefreshes {
  readonly exchanges: number;
  readonly replays: number;
}

/** The contents of the tables at one instant. */
export interface Snapshot {
  readonly sessions: readonly SessionRow[];
  readonly logged: ReadonlyMap<string, LoggedRefreshes>;
}

export async function takeSnapshot(dataSource: DataSource): Promise<Snapshot> {
  const sessions: Record<string, unknown>[] = await dataSource.query('SELECT * FROM auth_sessions');
  const events: Record<string, unknown>[] = await dataSource.query(
    `SELECT user_id, COUNT(*) AS total, SUM(CASE WHEN extra LIKE '%"replayed":true%' THEN 1 ELSE 0 END) AS replays
     FROM auth_events WHERE event = 'token_refresh' GROUP BY user_id`,
  );
  return {
    sessions: sessions.map((row) => ({
      id: String(row['id']),
      userId: String(row['user_id']),
      state: String(row['state']),
      accessDigest: String(row['access_digest']),
      refreshDigest: String(row['refresh_digest']),
      familyDigest: String(row['family_digest']),
      generation: Number(row['generation']),
      refreshedAt: row['refreshed_at'] === null ? null : Number(row['refreshed_at']),
      replay: [row['replay_seed'], row['replay_until'], row['replay_transport'], row['replay_network_digest']],
      replayCount: Number(row['replay_count']),
    })),
    logged: new Map(
      events.map(({ user_id: userId, total, replays }) => [
        String(userId),
        { exchanges: Number(total) - Number(replays), replays: Number(replays) },
      ]),
    ),
  };
}

/** Returns all inconsistencies. The result must be empty, regardless of which server was killed and when. */
export function violations({ sessions, logged }: Snapshot, holders: readonly Holder[] = []): string[] {
  const found: string[] = [];
  for (const column of ['accessDigest', 'refreshDigest', 'familyDigest'] as const) {
    if (new Set(sessions.map((session) => session[column])).size !== sessions.length) {
      found.push(`Two sessions have the same ${column}.`);
    }
  }
  const stored = new Map<string, LoggedRefreshes>();
  for (const session of sessions) {
    found.push(...violationsOf(session));
    const { exchanges, replays } = stored.get(session.userId) ?? { exchanges: 0, replays: 0 };
    const sum = { exchanges: exchanges + session.generation, replays: replays + session.replayCount };
    stored.set(session.userId, sum);
  }
  // Every rotation increments a generation by one, in the transaction that records the event. Replays are counted from
  // the last rotation.
  for (const [userId, { exchanges, replays }] of stored) {
    const log = logged.get(userId) ?? { exchanges: 0, replays: 0 };
    if (log.exchanges !== exchanges) {
      found.push(`User ${userId} exchanged ${exchanges} tokens, and the log has ${log.exchanges}.`);
    }
    if (log.replays < replays) found.push(`User ${userId} had ${replays} replays, and the log has ${log.replays}.`);
  }
  for (const holder of holders) {
    const session = sessions.find(({ id }) => id === holder.sessionId);
    if (!session || outcomeOf(session, holder) === null) {
      found.push(
        `Session ${holder.sessionId} has neither all of the old nor all of the new: ${JSON.stringify(session)}`,
      );
    }
  }
  return found;
}

function violationsOf({ id, state, generation, refreshedAt, replay }: SessionRow): string[] {
  const found: string[] = [];
  const stored = replay.filter((column) => column !== null).length;
  if (state !== 'active' && replay[0] !== null) found.push(`The ended session ${id} can issue its pair again.`);
  if (state === 'active' && stored !== 0 && stored !== replay.length) {
    found.push(`Session ${id} has ${stored} of the ${replay.length} columns that issue its pair again.`);
  }
  if ((generation === 0) !== (refreshedAt === null)) {
    found.push(`Session ${id} of generation ${generation} was last refreshed at ${refreshedAt}.`);
  }
  return found;
}

/** Returns whether a refresh in flight did nothing (`old`) or completed (`new`), and null for any other state. */
export function outcomeOf(session: SessionRow, holder: Holder): 'old' | 'new' | null {
  const { generation, familySecret } = parseRefreshToken(holder.refreshToken)!;
  if (session.state !== 'active' || session.familyDigest !== digest(familySecret)) return null;
  const hasOldAccess = session.accessDigest === digest(holder.accessToken);
  const hasOldRefresh = session.refreshDigest === digest(holder.refreshToken);
  if (hasOldAccess !== hasOldRefresh) return null;
  if (hasOldRefresh) return session.generation === generation ? 'old' : null;
  return holder.isInFlight && session.generation === generation + 1 ? 'new' : null;
}

function digest(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}
