import type { INestApplicationContext } from '@nestjs/common';
import { AuthEvent, AuthService, AuthSession } from 'nestjs-session-auth';
import { DataSource } from 'typeorm';
import type { DatabaseName } from '../databases';
import { DAY_MS } from '../contenders/contender';
import { copyRow } from './copy-rows';
import { openAndLogOut } from './ended-session';
import { SQL } from './sql';

/** The age of the rows, more than the default retention of sessions and events. */
const AGE_MS = 400 * DAY_MS;

/** Fills an empty database with rows to prune. Half of the rows are ended sessions, and half are events. */
export async function fillExpiredRows(
  app: INestApplicationContext,
  database: DatabaseName,
  rows: number,
): Promise<void> {
  const dataSource = app.get(DataSource);
  const auth = app.get(AuthService);
  const user = await auth.createUser({ username: 'a user with a long history', password: null });
  const sessionId = await openAndLogOut(auth, user);
  const count = Math.floor(rows / 2);
  await copyRow(dataSource, database, AuthSession, sessionId, { count, ageMs: AGE_MS });
  const event = await dataSource.getRepository(AuthEvent).findOneByOrFail({ event: 'logout' });
  await copyRow(dataSource, database, AuthEvent, event.id, { count, ageMs: AGE_MS, values: { id: 'i' } });
  for (const statement of SQL[database].analyze(dataSource.entityMetadatas.map(({ tableName }) => tableName))) {
    await dataSource.query(statement);
  }
}
