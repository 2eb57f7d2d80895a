import { randomInt } from 'node:crypto';
import { AuthService, PruningService } from 'nestjs-session-auth';
import { createDatabase, type DatabaseName } from '../../../test/support/databases';
import { timesAsync } from '../contenders/contender';
import { fillDeadRows } from '../growth/dead-rows';
import { fillSessions, roomFor } from '../growth/live-rows';
import { openLibrary } from '../host/in-process';
import { beside, type Compared } from '../measure/beside';
import type { CleanUp } from '../measure/clean-up';
import { timed, type Deed } from '../measure/drive';
import { rounded, spread, type Spread } from '../measure/statistics';
import type { Settings } from '../settings';
import { tell, type Part } from './part';

/** The sessions of the user who has many. */
export const MANY = 1000;

const ROUNDS_OF_MANY = 3;

export interface GrowthCell {
  readonly database: DatabaseName;
  /** Sessions, each with ten used refresh tokens. */
  readonly sessions: number;
  /** What a session takes with its used tokens, indexes included. */
  readonly bytesOfOne: number;
  /** `AuthService.authenticate` by one client after the other; `ofLimit`: its rate by that at the smallest size. */
  readonly lookUp: Compared;
  /** Listing the 1,000 sessions of one user, and ending them all, in milliseconds. */
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
  /** What the machine had no room for. */
  readonly skipped: readonly string[];
}

/** What a request, a listing, an end of many sessions and the clean-up cost as the tables grow. */
export const measureGrowth: Part<GrowthResult> = async (settings, cleanUp) => {
  const { rounds, seconds } = settings;
  const cells: GrowthCell[] = [];
  const prunes: PruneCell[] = [];
  const skipped: string[] = [];
  for (const database of settings.databases) {
    const sizes = settings.sizes.filter((sessions) => {
      if (roomFor(sessions)) return true;
      skipped.push(`${sessions} sessions on ${database}`);
      return false;
    });
    const grown = new Map<number, Grown>();
    for (const sessions of sizes) grown.set(sessions, await grow(database, sessions, settings, cleanUp));
    tell(`growth: ${database}, look-ups`);
    const deeds = Object.fromEntries([...grown].map(([sessions, { lookUp }]) => [String(sessions), lookUp]));
    const found = sizes.length > 0 ? await beside(deeds, { rounds, seconds, workers: 1 }) : {};
    for (const [sessions, { auth, bytesOfOne }] of grown) {
      tell(`growth: ${database}, ${MANY} sessions of one user among ${sessions}`);
      const lookUp = found[String(sessions)]!;
      cells.push({ database, sessions, bytesOfOne, lookUp, ...(await measureMany(auth)) });
    }
    await cleanUp.run();
    prunes.push(await measurePrune(database, settings, cleanUp));
    await cleanUp.run();
  }
  return { rounds, seconds, cells, prunes, skipped };
};

interface Grown {
  readonly auth: AuthService;
  readonly lookUp: Deed;
  readonly bytesOfOne: number;
}

async function grow(database: DatabaseName, sessions: number, { options }: Settings, cleanUp: CleanUp): Promise<Grown> {
  tell(`growth: ${database}, filling in ${sessions} sessions with ten used refresh tokens each`);
  const own = await createDatabase(database);
  cleanUp.add(() => own.drop());
  const app = await openLibrary(own.options, options);
  cleanUp.add(() => app.close());
  const { tokens, bytesOfOne } = await fillSessions(own, sessions);
  const auth = app.get(AuthService);
  const lookUp = async (): Promise<void> => {
    const found = await auth.authenticate(tokens[randomInt(tokens.length)]!);
    if (!found) throw new Error('A session was not found.');
  };
  return { auth, lookUp, bytesOfOne };
}

async function measureMany(auth: AuthService): Promise<Pick<GrowthCell, 'listMs' | 'logoutAllMs'>> {
  const user = await auth.createUser({ username: 'a user with many sessions', password: null });
  const list: number[] = [];
  const logoutAll: number[] = [];
  for (let round = 0; round < ROUNDS_OF_MANY; round++) {
    const [opened] = await timesAsync(MANY, () => auth.openSession(user));
    const principal = (await auth.authenticate(opened!.accessToken))!;
    for (let listing = 0; listing < 5; listing++) list.push(await timed(() => auth.listSessions(principal.userId)));
    logoutAll.push(await timed(() => auth.logoutAll(principal)));
  }
  return { listMs: spread(list), logoutAllMs: spread(logoutAll) };
}

async function measurePrune(
  database: DatabaseName,
  { prune, options }: Settings,
  cleanUp: CleanUp,
): Promise<PruneCell> {
  tell(`growth: ${database}, cleaning up ${prune} rows`);
  const own = await createDatabase(database);
  cleanUp.add(() => own.drop());
  const app = await openLibrary(own.options, options);
  cleanUp.add(() => app.close());
  await fillDeadRows(own, prune);
  let rows = 0;
  const ms = await timed(async () => {
    const report = await app.get(PruningService).prune();
    rows = report.refreshTokens + report.sessions + report.events;
  });
  return { database, rows, seconds: rounded(ms / 1000) };
}
