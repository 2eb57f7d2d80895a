import { randomBytes } from 'node:crypto';
import { AuthService } from 'nestjs-session-auth';
import { DataSource } from 'typeorm';
import { createDatabase } from '../../../test/support/databases';
import type { DatabaseName } from '../databases';
import { openLibrary } from '../application/in-process';
import { timesAsync } from '../contenders/contender';
import { digestOf, fillPlainTables, PLAIN_ENTITIES, PlainSession } from '../contenders/plain-tables';
import { openRaw } from '../contenders/raw-query';
import { compareInRounds, type Comparison } from '../measure/compare';
import type { Operation } from '../measure/drive';
import { rounded } from '../measure/statistics';
import { storedBytes } from '../measure/stored-bytes';
import type { Teardown } from '../measure/teardown';
import type { Settings } from '../settings';
import { log, type Part } from './part';

const REFRESHES = 60;
const STORED_SESSIONS = 20;

/** A client with an address and a User-Agent, because a session stores both. */
const CLIENT = {
  ipAddress: '192.0.2.1',
  userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
};

/** The default grace periods of bearer tokens and of cookies, in seconds. */
const GRACE_PERIODS = [0, 10];

export interface RefreshCell {
  readonly database: DatabaseName;
  /** The number of concurrent clients, each with its own session. */
  readonly clients: number;
  readonly update: Comparison;
  readonly refresh: Comparison;
}

/** Stored bytes per session, without the event log and indexes. */
export interface StorageCell {
  readonly database: DatabaseName;
  readonly graceSeconds: number;
  readonly refreshes: number;
  readonly neverRefreshed: number;
  readonly refreshed: number;
}

export interface RefreshResult {
  readonly rounds: number;
  readonly seconds: number;
  readonly cells: readonly RefreshCell[];
  readonly storage: readonly StorageCell[];
}

/** Compares `AuthService.refresh` with one prepared UPDATE of one row and its commit, both without HTTP. */
export const measureRefresh: Part<RefreshResult> = async (settings, teardown) => {
  const { rounds, seconds } = settings;
  const cells: RefreshCell[] = [];
  const storage: StorageCell[] = [];
  for (const database of settings.databases) {
    for (const graceSeconds of GRACE_PERIODS) {
      log(`refresh: ${database}, stored bytes with a grace period of ${graceSeconds} s`);
      storage.push(await measureStorage(database, graceSeconds, settings, teardown));
    }
    const most = Math.max(...settings.connections);
    const update = await prepareUpdate(database, most, teardown);
    const refresh = await prepareRefresh(database, most, settings, teardown);
    for (const clients of settings.connections) {
      log(`refresh: ${database}, ${clients} clients`);
      const compared = await compareInRounds({ update, refresh }, { rounds, seconds, workers: clients });
      cells.push({ database, clients, ...compared });
    }
    await teardown.run();
  }
  return { rounds, seconds, cells, storage };
};

async function prepareUpdate(database: DatabaseName, clients: number, teardown: Teardown): Promise<Operation> {
  const testDatabase = await createDatabase(database, { isDurable: true });
  teardown.add(() => testDatabase.drop());
  await fillPlainTables(testDatabase.options, clients);
  const dataSource = await new DataSource({ ...testDatabase.options, entities: PLAIN_ENTITIES }).initialize();
  const rows = await dataSource.getRepository(PlainSession).find();
  await dataSource.destroy();
  const raw = openRaw(testDatabase.options);
  teardown.add(() => raw.close());
  const sql = 'UPDATE sessions SET digest = ?, expires_at = ? WHERE id = ? AND digest = ?';
  const update = raw.prepare('rotate', sql);
  return async (worker) => {
    const row = rows[worker]!;
    const digest = digestOf(randomBytes(32).toString('base64url'));
    await update([digest, Number(row.expiresAt), row.id, row.digest]);
    row.digest = digest;
  };
}

async function prepareRefresh(
  database: DatabaseName,
  clients: number,
  { options }: Settings,
  teardown: Teardown,
): Promise<Operation> {
  const testDatabase = await createDatabase(database, { isDurable: true });
  teardown.add(() => testDatabase.drop());
  const app = await openLibrary(testDatabase.options, options);
  teardown.add(() => app.close());
  const auth = app.get(AuthService);
  const tokens = await timesAsync(clients, async (index) => {
    const user = await auth.createUser({ username: `user ${index}`, password: null });
    return (await auth.openSession(user)).refreshToken;
  });
  return async (worker) => {
    tokens[worker] = (await auth.refresh(tokens[worker]!)).refreshToken;
  };
}

async function measureStorage(
  database: DatabaseName,
  graceSeconds: number,
  { options }: Settings,
  teardown: Teardown,
): Promise<StorageCell> {
  const testDatabase = await createDatabase(database, { isDurable: true });
  teardown.add(() => testDatabase.drop());
  const app = await openLibrary(testDatabase.options, { ...options, refreshReuseGraceSeconds: graceSeconds });
  teardown.add(() => app.close());
  const auth = app.get(AuthService);
  const stored = (): Promise<number> => storedBytes(app.get(DataSource), database);
  const user = await auth.createUser({ username: 'user', password: null });
  // Creates the rows of the user before the first reading, so that only the rows of sessions are counted.
  await auth.openSession(user, CLIENT);
  const before = await stored();
  const opened = await timesAsync(STORED_SESSIONS, () => auth.openSession(user, CLIENT));
  const neverRefreshed = (await stored()) - before;
  for (let { refreshToken } of opened) {
    for (let done = 0; done < REFRESHES; done++) ({ refreshToken } = await auth.refresh(refreshToken, CLIENT));
  }
  const refreshed = (await stored()) - before;
  await teardown.run();
  const perSession = (bytes: number): number => rounded(bytes / STORED_SESSIONS);
  return {
    database,
    graceSeconds,
    refreshes: REFRESHES,
    neverRefreshed: perSession(neverRefreshed),
    refreshed: perSession(refreshed),
  };
}
