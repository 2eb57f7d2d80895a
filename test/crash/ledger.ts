import { createHash } from 'node:crypto';
import type { DataSource } from 'typeorm';

/** What one client knows of its session, from nothing but the answers that reached it. */
export interface KnownClient {
  readonly sessionId: string;
  /** The refresh token of the last pair that it was given. */
  readonly refreshToken: string;
  /** Whether it sent a refresh with that token and never heard what came of it. */
  readonly isInFlight: boolean;
}

/** What all clients together know. */
export interface Ledger {
  readonly clients: readonly KnownClient[];
  /** Sessions whose end was confirmed to a client. */
  readonly ended: readonly string[];
}

/** What became of the refresh that was in flight: nothing of it, all of it, or something that may not be. */
export type Fate = 'nothing' | 'all' | 'impossible';

interface Session {
  readonly id: string;
  readonly userId: string;
  readonly state: string;
  readonly endedAt: unknown;
  readonly accessDigest: string;
  readonly refreshDigest: string;
  readonly generation: number;
}

interface Retired {
  readonly digest: string;
  readonly sessionId: string;
  readonly generation: number;
  readonly state: string;
}

interface Tables {
  readonly sessions: readonly Session[];
  readonly retired: readonly Retired[];
  readonly refreshesByUser: ReadonlyMap<string, number>;
}

export interface Finding {
  /** Empty where all is well. */
  readonly violations: string[];
  /** By session, for each client of the ledger. */
  readonly fates: ReadonlyMap<string, Fate>;
}

const NOBODY: Ledger = { clients: [], ended: [] };

/**
 * Everything in the database that contradicts itself or the ledger. It holds for databases whose passwords nobody
 * changed and whose rows nobody pruned: then each retired token was used.
 */
export async function checkDatabase(dataSource: DataSource, ledger: Ledger = NOBODY): Promise<string[]> {
  return (await readFindings(dataSource, ledger)).violations;
}

/** The same, with what became of each client's last refresh. */
export async function readFindings(dataSource: DataSource, ledger: Ledger = NOBODY): Promise<Finding> {
  const tables = await readTables(dataSource);
  const retiredOf = groupBy(tables.retired, ({ sessionId }) => sessionId);
  const byId = new Map(tables.sessions.map((session) => [session.id, session]));
  const fates = new Map(
    ledger.clients.map((client) => [
      client.sessionId,
      fateOf(client, byId.get(client.sessionId), retiredOf.get(client.sessionId) ?? []),
    ]),
  );
  return {
    fates,
    violations: [
      ...brokenFamilies(tables, retiredOf),
      ...wrongLogs(tables),
      ...repeatedDigests(tables),
      ...revivedSessions(tables.sessions, ledger.ended),
      ...brokenPromises(ledger.clients, fates, byId),
    ],
  };
}

/** One statement, so that all of it is of one moment even while refreshes go on. */
async function readTables(dataSource: DataSource): Promise<Tables> {
  const rows: Record<string, unknown>[] = await dataSource.query(
    `SELECT 'session' AS kind, id, user_id AS owner, state, ended_at, access_digest, refresh_digest AS digest, generation
       FROM auth_sessions
     UNION ALL SELECT 'retired', NULL, session_id, state, NULL, NULL, digest, generation FROM auth_refresh_tokens
     UNION ALL SELECT 'refreshes', NULL, user_id, NULL, NULL, NULL, NULL, COUNT(*)
       FROM auth_events WHERE event = 'token_refresh' GROUP BY user_id`,
  );
  const of = (kind: string): Record<string, unknown>[] => rows.filter((row) => row['kind'] === kind);
  return {
    sessions: of('session').map((row) => ({
      id: String(row['id']),
      userId: String(row['owner']),
      state: String(row['state']),
      endedAt: row['ended_at'],
      accessDigest: String(row['access_digest']),
      refreshDigest: String(row['digest']),
      generation: Number(row['generation']),
    })),
    retired: of('retired').map((row) => ({
      digest: String(row['digest']),
      sessionId: String(row['owner']),
      generation: Number(row['generation']),
      state: String(row['state']),
    })),
    refreshesByUser: new Map(of('refreshes').map((row) => [String(row['owner']), Number(row['generation'])])),
  };
}

/** Each refresh raises the generation by one and leaves one used token behind. */
function brokenFamilies({ sessions }: Tables, retiredOf: ReadonlyMap<string, readonly Retired[]>): string[] {
  const found: string[] = [];
  for (const { id, generation } of sessions) {
    const own = retiredOf.get(id) ?? [];
    const generations = own.map((token) => token.generation).sort((a, b) => a - b);
    if (generations.length !== generation || generations.some((one, index) => one !== index)) {
      found.push(
        `Session ${id} is at generation ${generation}, and its retired tokens are of [${generations.join()}].`,
      );
    }
    const used = own.filter(({ state }) => state === 'used').length;
    if (used !== generation) found.push(`Session ${id} is at generation ${generation} with ${used} used tokens.`);
  }
  const known = new Set(sessions.map(({ id }) => id));
  for (const id of retiredOf.keys()) if (!known.has(id)) found.push(`Retired tokens of ${id}, which is no session.`);
  return found;
}

function wrongLogs({ sessions, refreshesByUser }: Tables): string[] {
  const sessionsOf = groupBy(sessions, ({ userId }) => userId);
  const users = new Set([...sessionsOf.keys(), ...refreshesByUser.keys()]);
  return [...users].flatMap((userId) => {
    const done = (sessionsOf.get(userId) ?? []).reduce((sum, { generation }) => sum + generation, 0);
    const logged = refreshesByUser.get(userId) ?? 0;
    return done === logged ? [] : [`User ${userId} has refreshed ${done} times, and the log tells of ${logged}.`];
  });
}

/** Live or retired, no token is there twice. */
function repeatedDigests({ sessions, retired }: Tables): string[] {
  const access = sessions.map(({ accessDigest }) => accessDigest);
  const refresh = [...sessions.map(({ refreshDigest }) => refreshDigest), ...retired.map(({ digest }) => digest)];
  return [
    ...repeated(access).map((digest) => `Access digest ${digest} is there twice.`),
    ...repeated(refresh).map((digest) => `Refresh digest ${digest} is there twice.`),
  ];
}

function repeated(values: readonly string[]): string[] {
  return [...groupBy(values, (value) => value)].filter(([, same]) => same.length > 1).map(([value]) => value);
}

function revivedSessions(sessions: readonly Session[], ended: readonly string[]): string[] {
  const told = new Set(ended);
  return sessions.flatMap(({ id, state, endedAt }) => {
    const isActive = state === 'active';
    if (isActive && told.has(id)) return [`Session ${id} is active after a client was told of its end.`];
    if (isActive !== (endedAt === null)) return [`Session ${id} is ${state} and ended at ${String(endedAt)}.`];
    return [];
  });
}

function brokenPromises(
  clients: readonly KnownClient[],
  fates: ReadonlyMap<string, Fate>,
  byId: ReadonlyMap<string, Session>,
): string[] {
  return clients
    .filter(({ sessionId }) => fates.get(sessionId) === 'impossible')
    .map(({ sessionId, isInFlight }) => {
      const { state, generation } = byId.get(sessionId) ?? { state: 'missing', generation: 'no' };
      const knows = isInFlight ? 'one refresh in flight' : 'its last answer';
      return `Session ${sessionId} (${state}, generation ${generation}) does not fit a client with ${knows}.`;
    });
}

/** Only a refresh in flight may have moved the session on, and only by all of one generation. */
function fateOf(client: KnownClient, session: Session | undefined, retired: readonly Retired[]): Fate {
  if (session?.state !== 'active') return 'impossible';
  const digest = createHash('sha256').update(client.refreshToken).digest('hex');
  if (session.refreshDigest === digest) return 'nothing';
  const left = retired.find((token) => token.digest === digest);
  const isOneOn = left?.state === 'used' && session.generation === left.generation + 1;
  return client.isInFlight && isOneOn ? 'all' : 'impossible';
}

function groupBy<T>(values: readonly T[], keyOf: (value: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const value of values) {
    const group = groups.get(keyOf(value));
    if (group) group.push(value);
    else groups.set(keyOf(value), [value]);
  }
  return groups;
}
