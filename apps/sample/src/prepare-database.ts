import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource, type DataSourceOptions, type QueryRunner } from 'typeorm';

const LOCK = 'nestjs_session_auth_sample';
const TRIES = 50;

/** Brings the tables up to date; safe where two instances start on one empty database at the same moment. */
export async function prepareDatabase(options: DataSourceOptions): Promise<DataSource> {
  const dataSource = await new DataSource(options).initialize();
  if (options.type === 'better-sqlite3') await migrateWithRetries(dataSource);
  else await migrateUnderLock(dataSource);
  return dataSource;
}

/** One writer at a time is all that SQLite has: whoever comes second finds the tables there at the next try. */
async function migrateWithRetries(dataSource: DataSource): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await dataSource.runMigrations({ transaction: 'all' });
      return;
    } catch (error) {
      const text = String((error as Error).message);
      if (attempt === TRIES || !/already exists|locked|busy|UNIQUE/i.test(text)) throw error;
      await sleep(100);
    }
  }
}

async function migrateUnderLock(dataSource: DataSource): Promise<void> {
  const holder = dataSource.createQueryRunner();
  const isPostgres = dataSource.options.type === 'postgres';
  try {
    await holder.connect();
    await holder.query(isPostgres ? `SELECT pg_advisory_lock(hashtext('${LOCK}'))` : `SELECT GET_LOCK('${LOCK}', 60)`);
    await dataSource.runMigrations({ transaction: isPostgres ? 'all' : 'none' });
  } finally {
    await unlock(holder, isPostgres);
  }
}

async function unlock(holder: QueryRunner, isPostgres: boolean): Promise<void> {
  const statement = isPostgres ? `SELECT pg_advisory_unlock(hashtext('${LOCK}'))` : `SELECT RELEASE_LOCK('${LOCK}')`;
  await holder.query(statement).catch(() => undefined);
  await holder.release();
}
