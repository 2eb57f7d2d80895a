import { createHash } from 'node:crypto';
import type { DataSource } from 'typeorm';

/** What a client knows of its session when its server was killed. */
export interface Holder {
  readonly sessionId: string;
  /** The refresh token of the last answer that arrived. */
  readonly refreshToken: string;
  /** Whether a refresh with it had been sent and not been answered. */
  readonly isInFlight: boolean;
}

interface SessionRow {
  readonly id: string;
  readonly userId: string;
  readonly state: string;
  readonly liveDigest: string;
  readonly generation: number;
  readonly hasSealedAnswer: boolean;
}

interface TokenRow {
  readonly digest: string;
  readonly sessionId: string;
  readonly generation: number;
  readonly state: string;
}

/** The tables as they are at one moment. */
export interface Snapshot {
  readonly sessions: readonly SessionRow[];
  readonly tokens: readonly TokenRow[];
  /** Refreshes in the log, by user. */
  readonly refreshes: ReadonlyMap<string, number>;
}

export async function takeSnapshot(dataSource: DataSource): Promise<Snapshot> {
  const rows = async (sql: string): Promise<Record<string, unknown>[]> => dataSource.query(sql);
  const sessions = await rows(
    'SELECT id, user_id, state, refresh_digest, generation, sealed_answer FROM auth_sessions',
  );
  const tokens = await rows('SELECT digest, session_id, generation, state FROM auth_refresh_tokens');
  const events = await rows(
    "SELECT user_id, COUNT(*) AS n FROM auth_events WHERE event = 'token_refresh' GROUP BY user_id",
  );
  return {
    sessions: sessions.map((row) => ({
      id: String(row['id']),
      userId: String(row['user_id']),
      state: String(row['state']),
      liveDigest: String(row['refresh_digest']),
      generation: Number(row['generation']),
      hasSealedAnswer: row['sealed_answer'] !== null,
    })),
    tokens: tokens.map((row) => ({
      digest: String(row['digest']),
      sessionId: String(row['session_id']),
      generation: Number(row['generation']),
      state: String(row['state']),
    })),
    refreshes: new Map(events.map((row) => [String(row['user_id']), Number(row['n'])])),
  };
}

/** Everything that is not as it should be, whoever was killed and whenever. */
export function violations({ sessions, tokens, refreshes }: Snapshot, holders: readonly Holder[] = []): string[] {
  const found: string[] = [];
  const retired = new Map<string, TokenRow[]>();
  for (const token of tokens) {
    const own = retired.get(token.sessionId);
    if (own) own.push(token);
    else retired.set(token.sessionId, [token]);
  }
  const live = new Set(sessions.map(({ liveDigest }) => liveDigest));
  if (live.size !== sessions.length) found.push('Two sessions have one live token.');
  const used = new Map<string, number>();
  for (const session of sessions) {
    const own = (retired.get(session.id) ?? []).sort((a, b) => a.generation - b.generation);
    // Each refresh leaves one used token behind it, and none is missing.
    if (own.length !== session.generation || own.some(({ generation }, index) => generation !== index)) {
      found.push(`Session ${session.id} is at generation ${session.generation} with ${own.length} retired tokens.`);
    }
    if (own.some(({ digest }) => live.has(digest))) found.push(`A retired token of session ${session.id} is live.`);
    if (session.state !== 'active' && session.hasSealedAnswer)
      found.push(`Ended session ${session.id} keeps an answer.`);
    const count = own.filter(({ state }) => state === 'used').length;
    used.set(session.userId, (used.get(session.userId) ?? 0) + count);
  }
  for (const [userId, count] of used) {
    const logged = refreshes.get(userId) ?? 0;
    if (logged !== count) found.push(`User ${userId} has used ${count} tokens, and the log tells of ${logged}.`);
  }
  for (const holder of holders) {
    const session = sessions.find(({ id }) => id === holder.sessionId);
    if (!session || fateOf(session, retired.get(session.id) ?? [], holder) === null) {
      found.push(
        `Session ${holder.sessionId} has neither all of the old nor all of the new: ${JSON.stringify(session)}`,
      );
    }
  }
  return found;
}

/** What became of a refresh that was in flight: nothing, or all of it; null for anything else. */
export function fateOf(session: SessionRow, retired: readonly TokenRow[], holder: Holder): 'old' | 'new' | null {
  const digest = createHash('sha256').update(holder.refreshToken).digest('hex');
  if (session.state !== 'active') return null;
  if (session.liveDigest === digest) return 'old';
  const token = retired.find((one) => one.digest === digest);
  const isDone = token?.state === 'used' && token.generation === session.generation - 1;
  return holder.isInFlight && isDone ? 'new' : null;
}
