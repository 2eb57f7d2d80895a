import { randomInt } from 'node:crypto';
import { AuthService, PruningService } from 'nestjs-session-auth';
import { createDatabase } from '../../../test/support/databases';
import type { DatabaseName } from '../databases';
import { openLibrary } from '../application/in-process';
import { timesAsync } from '../contenders/contender';
import { fillExpiredRows } from '../fill/expired-rows';
import { fillSessions, hasDiskSpaceFor } from '../fill/live-sessions';
import { compareInRounds, type Comparison } from '../measure/compare';
import { durationOf, type Operation } from '../measure/drive';
import { rounded, spread, type Spread } from '../measure/statistics';
import type { Teardown } from '../measure/teardown';
import type { Settings } from '../settings';
import { log, type Part } from './part';

/** The maximum number of active sessions of a user. */
const SESSIONS_OF_ONE_USER = 1_000;

/** An interval longer than the measurement, so that lookups write no activity. */
const ACTIVITY_INTERVAL = { activityIntervalSeconds: 3_600 };

export interface GrowthCell {
  readonly database: DatabaseName;
  readonly sessions: number;
  /** The average stored bytes per session, including indexes. */
  readonly bytesPerSession: number;
  /** `AuthService.authenticate`, one call at a time. The baseline is the smallest number of sessions. */
  readonly lookUp: Comparison;
  /** The durations of listing the 1,000 sessions of one user and of ending all of them, in milliseconds. */
  readonly listMs: Spread;
  readonly logoutAllMs: Spread;
}

export interface PruneCell {
  readonly database: DatabaseName;
  readonly rows: number;
  readonly seconds: number;
}

export interface GrowthResult {
  readonly rounds: number;
  readonly seconds: number;
  readonly cells: readonly GrowthCell[];
  readonly prunes: readonly PruneCell[];
  /** The sizes for which the disk was too small. */
  readonly skipped: readonly string[];
}

/** Measures lookups, the session list, logout/all and pruning as the tables grow. */
export const measureGrowth: Part<GrowthResult> = async (settings, teardown) => {
  const { rounds, seconds } = settings;
  const cells: GrowthCell[] = [];
  const prunes: PruneCell[] = [];
  const skipped: string[] = [];
  for (const database of settings.databases) {
    const sizes = settings.sizes.filter((sessions) => {
      if (hasDiskSpaceFor(sessions)) return true;
      skipped.push(`${sessions} sessions on ${database}`);
      return false;
    });
    const grown = new Map<number, Grown>();
    for (const sessions of sizes) grown.set(sessions, await grow(database, sessions, settings, teardown));
    log(`growth: ${database}, lookups`);
    const operations = Object.fromEntries([...grown].map(([sessions, { lookUp }]) => [String(sessions), lookUp]));
    const compared = sizes.length > 0 ? await compareInRounds(operations, { rounds, seconds, workers: 1 }) : {};
    for (const [sessions, { auth, bytesPerSession }] of grown) {
      log(`growth: ${database}, ${SESSIONS_OF_ONE_USER} sessions of one user among ${sessions}`);
      const lookUp = compared[String(sessions)]!;
      cells.push({ database, sessions, bytesPerSession, lookUp, ...(await measureOneUser(auth, rounds)) });
    }
    await teardown.run();
    prunes.push(await measurePruning(database, settings, teardown));
    await teardown.run();
  }
  return { rounds, seconds, cells, prunes, skipped };
};

interface Grown {
  readonly auth: AuthService;
  readonly lookUp: Operation;
  readonly bytesPerSession: number;
}

async function grow(
  database: DatabaseName,
  sessions: number,
  { options }: Settings,
  teardown: Teardown,
): Promise<Grown> {
  log(`growth: ${database}, filling in ${sessions} sessions`);
  const testDatabase = await createDatabase(database, { isDurable: true });
  teardown.add(() => testDatabase.drop());
  const app = await openLibrary(testDatabase.options, { ...ACTIVITY_INTERVAL, ...options });
  teardown.add(() => app.close());
  const { tokens, bytesPerSession } = await fillSessions(app, database, sessions);
  const auth = app.get(AuthService);
  const lookUp = async (): Promise<void> => {
    const principal = await auth.authenticate(tokens[randomInt(tokens.length)]!);
    if (!principal) throw new Error('A session was not found.');
  };
  return { auth, lookUp, bytesPerSession };
}

async function measureOneUser(auth: AuthService, rounds: number): Promise<Pick<GrowthCell, 'listMs' | 'logoutAllMs'>> {
  const user = await auth.createUser({ username: 'a user with many sessions', password: null });
  const list: number[] = [];
  const logoutAll: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const [opened] = await timesAsync(SESSIONS_OF_ONE_USER, () => auth.openSession(user));
    const principal = (await auth.authenticate(opened!.accessToken))!;
    list.push(await durationOf(() => auth.listSessions(principal.userId)));
    logoutAll.push(await durationOf(() => auth.logoutAll(principal)));
  }
  return { listMs: spread(list), logoutAllMs: spread(logoutAll) };
}

async function measurePruning(
  database: DatabaseName,
  { prune, options }: Settings,
  teardown: Teardown,
): Promise<PruneCell> {
  log(`growth: ${database}, pruning ${prune} rows`);
  const testDatabase = await createDatabase(database, { isDurable: true });
  teardown.add(() => testDatabase.drop());
  const app = await openLibrary(testDatabase.options, options);
  teardown.add(() => app.close());
  await fillExpiredRows(app, database, prune);
  let rows = 0;
  const ms = await durationOf(async () => {
    const { sessions, events } = await app.get(PruningService).prune();
    rows = sessions + events;
  });
  return { database, rows, seconds: rounded(ms / 1000) };
}
