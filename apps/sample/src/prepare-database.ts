import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource, type DataSourceOptions, type QueryRunner } from 'typeorm';

const LOCK = 'nestjs_session_auth_sample';
const ATTEMPTS = 50;

/** Runs the migrations. Two instances may start on one empty database at the same moment. */
export async function prepareDatabase(options: DataSourceOptions): Promise<DataSource> {
  const dataSource = await new DataSource(options).initialize();
  if (options.type === 'better-sqlite3') await migrateWithRetries(dataSource);
  else await migrateUnderLock(dataSource);
  return dataSource;
}

/**
 * SQLite has one writer at a time: the instance that loses the race finds the tables at its next
 * attempt.
 */
async function migrateWithRetries(dataSource: DataSource): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await dataSource.runMigrations({ transaction: 'all' });
      return;
    } catch (error) {
      const text = String((error as Error).message);
      if (attempt === ATTEMPTS || !/already exists|locked|busy|UNIQUE/i.test(text)) throw error;
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
