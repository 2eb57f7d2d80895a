import { randomBytes } from 'node:crypto';
import { AuthService } from 'nestjs-session-auth';
import { DataSource } from 'typeorm';
import { createDatabase } from '../../../test/support/databases';
import { openLibrary } from '../application/in-process';
import { timesAsync } from '../contenders/contender';
import { digestOf, fillPlainTables, PLAIN_ENTITIES, PlainSession } from '../contenders/plain-tables';
import { openRaw } from '../contenders/raw-query';
import { measureInTurn, type Operation } from '../measure/drive';
import { counted, figure, log, ratio, type Figure, type Part } from '../measure/part';
import type { Teardown } from '../measure/teardown';
import type { DatabaseName } from '../settings';

/** Compares `AuthService.refresh` with one prepared UPDATE of one row and its commit, both without HTTP. */
export const measureRefresh: Part = async (settings, teardown) => {
  const figures: Figure[] = [];
  for (const database of settings.databases) {
    const most = Math.max(...settings.clients);
    const UPDATE = await prepareUpdate(database, most, teardown);
    const refresh = await prepareRefresh(database, most, teardown);
    for (const workers of settings.clients) {
      const clients = counted(workers, 'client');
      log(`refresh: ${database}, ${clients}`);
      const rates = await measureInTurn({ UPDATE, refresh }, workers, settings);
      figures.push(
        figure(`UPDATE, ${clients}`, database, 'requests per second', rates.UPDATE),
        figure(`refresh, ${clients}`, database, 'requests per second', rates.refresh),
        ratio(`refresh / UPDATE, ${clients}`, database, rates.refresh, rates.UPDATE),
      );
    }
    await teardown.run();
  }
  return figures;
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

async function prepareRefresh(database: DatabaseName, clients: number, teardown: Teardown): Promise<Operation> {
  const auth = await openLibrary(database, {}, teardown).then((app) => app.get(AuthService));
  const tokens = await timesAsync(clients, async (index) => {
    const user = await auth.createUser({ username: `user ${index}`, password: null });
    return (await auth.openSession(user)).refreshToken;
  });
  return async (worker) => {
    tokens[worker] = (await auth.refresh(tokens[worker]!)).refreshToken;
  };
}
