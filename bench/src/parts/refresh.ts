import { randomBytes } from 'node:crypto';
import { AuthService } from 'nestjs-session-auth';
import { DataSource } from 'typeorm';
import { createDatabase, type DatabaseName } from '../../../test/support/databases';
import { timesAsync } from '../contenders/contender';
import { digestOf, fillPlainTables, PLAIN_ENTITIES, PlainSession } from '../contenders/plain-tables';
import { openRaw } from '../contenders/raw-query';
import { openLibrary } from '../host/in-process';
import { beside, type Compared } from '../measure/beside';
import type { CleanUp } from '../measure/clean-up';
import type { Deed } from '../measure/drive';
import type { Settings } from '../settings';
import { tell, type Part } from './part';

export interface RefreshCell {
  readonly database: DatabaseName;
  /** Clients that refresh side by side, each its own session. */
  readonly clients: number;
  readonly update: Compared;
  readonly refresh: Compared;
}

export interface RefreshResult {
  readonly rounds: number;
  readonly seconds: number;
  readonly cells: readonly RefreshCell[];
}

/** `AuthService.refresh` beside one prepared UPDATE of one row with its commit, both without HTTP. */
export const measureRefresh: Part<RefreshResult> = async (settings, cleanUp) => {
  const { rounds, seconds } = settings;
  const cells: RefreshCell[] = [];
  for (const database of settings.databases) {
    const most = Math.max(...settings.connections);
    const update = await prepareUpdate(database, most, cleanUp);
    const refresh = await prepareRefresh(database, most, settings, cleanUp);
    for (const clients of settings.connections) {
      tell(`refresh: ${database}, ${clients} clients`);
      const found = await beside({ update, refresh }, { rounds, seconds, workers: clients });
      cells.push({ database, clients, ...found });
    }
    await cleanUp.run();
  }
  return { rounds, seconds, cells };
};

async function prepareUpdate(database: DatabaseName, clients: number, cleanUp: CleanUp): Promise<Deed> {
  const own = await createDatabase(database);
  cleanUp.add(() => own.drop());
  await fillPlainTables(own.options, clients);
  const dataSource = await new DataSource({ ...own.options, entities: PLAIN_ENTITIES }).initialize();
  const rows = await dataSource.getRepository(PlainSession).find();
  await dataSource.destroy();
  const raw = openRaw(own.options);
  cleanUp.add(() => raw.close());
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
  cleanUp: CleanUp,
): Promise<Deed> {
  const own = await createDatabase(database);
  cleanUp.add(() => own.drop());
  const app = await openLibrary(own.options, options);
  cleanUp.add(() => app.close());
  const auth = app.get(AuthService);
  const tokens = await timesAsync(clients, async (index) => {
    const user = await auth.createUser({ username: `user ${index}`, password: null });
    return (await auth.openSession(user)).refreshToken;
  });
  return async (worker) => {
    tokens[worker] = (await auth.refresh(tokens[worker]!)).refreshToken;
  };
}
