import { AuthSession } from 'nestjs-session-auth';
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

/** The numbers of refreshes of a user. */
interface Refreshes {
  exchanges: number;
  replays: number;
}

/** The contents of the tables at one instant. */
export interface Snapshot {
  readonly sessions: readonly AuthSession[];
  readonly logged: ReadonlyMap<string, Refreshes>;
}

export async function takeSnapshot(dataSource: DataSource): Promise<Snapshot> {
  const sessions = await dataSource.getRepository(AuthSession).find();
  const events: Record<string, unknown>[] = await dataSource.query(
    `SELECT user_id, COUNT(*) AS total, SUM(CASE WHEN extra LIKE '%"replayed":true%' THEN 1 ELSE 0 END) AS replays
     FROM auth_events WHERE event = 'token_refresh' GROUP BY user_id`,
  );
  const logged = events.map(({ user_id: userId, total, replays }): [string, Refreshes] => [
    String(userId),
    { exchanges: Number(total) - Number(replays), replays: Number(replays) },
  ]);
  return { sessions, logged: new Map(logged) };
}

/** Returns all inconsistencies. The result must be empty, regardless of which server was killed and when. */
export function violations({ sessions, logged }: Snapshot, holders: readonly Holder[] = []): string[] {
  const found: string[] = [];
  for (const column of ['accessDigest', 'refreshDigest', 'familyDigest'] as const) {
    if (new Set(sessions.map((session) => session[column])).size !== sessions.length) {
      found.push(`Two sessions have the same ${column}.`);
    }
  }
  const stored = new Map<string, Refreshes>();
  for (const session of sessions) {
    found.push(...violationsOf(session));
    const sum = stored.get(session.userId) ?? { exchanges: 0, replays: 0 };
    sum.exchanges += session.generation;
    sum.replays += session.replayCount;
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
      found.push(`Session ${holder.sessionId} has neither the old nor the new tokens: ${JSON.stringify(session)}`);
    }
  }
  return found;
}

function violationsOf({ id, state, generation, refreshedAt, ...row }: AuthSession): string[] {
  const found: string[] = [];
  // The columns from which the live pair can be replayed.
  const replay = [row.replaySeed, row.replayUntil, row.replayTransport, row.replayNetworkDigest];
  const stored = replay.filter((column) => column !== null).length;
  if (state !== 'active' && row.replaySeed !== null) found.push(`The ended session ${id} can issue its pair again.`);
  if (state === 'active' && stored !== 0 && stored !== replay.length) {
    found.push(`Session ${id} has ${stored} of the ${replay.length} columns that issue its pair again.`);
  }
  if ((generation === 0) !== (refreshedAt === null)) {
    found.push(`Session ${id} of generation ${generation} was last refreshed at ${refreshedAt}.`);
  }
  return found;
}

/** Returns whether a refresh in flight did nothing (`old`) or completed (`new`), and null for any other state. */
export function outcomeOf(session: AuthSession, holder: Holder): 'old' | 'new' | null {
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
