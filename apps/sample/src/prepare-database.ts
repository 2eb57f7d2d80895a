import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource, type DataSourceOptions } from 'typeorm';

const ATTEMPTS = 10;
const MAX_WAIT_MS = 2_000;
const POLL_INTERVAL_MS = 100;

/** Matches the errors, on every supported database, of an instance that lost the race to create a table. */
const LOST_RACE = /already exists|locked|busy|unique|duplicate|deadlock|lock wait|interrupted/i;

/**
 * Connects to the database and runs the migrations. If several instances start at the same time on an
 * empty database, the instance that creates the first table of a migration continues, and the others
 * wait until the migrations have run. A session-level lock would not work across the nodes of a Galera
 * cluster, or behind PgBouncer.
 */
export async function prepareDatabase(options: DataSourceOptions, attempts = ATTEMPTS): Promise<DataSource> {
  const dataSource = await new DataSource(options).initialize();
  // MySQL and MariaDB commit each schema change implicitly.
  const transaction = options.type === 'mysql' ? 'none' : 'all';
  for (let attempt = 1; ; attempt++) {
    try {
      await dataSource.runMigrations({ transaction });
      return dataSource;
    } catch (error) {
      if (attempt >= attempts || !isLostRace(error)) throw error;
      await waitForOthers(dataSource);
    }
  }
}

/**
 * Waits until all migrations have run, for at most 2 seconds, because the instance that runs the migrations may
 * have stopped.
 */
async function waitForOthers(dataSource: DataSource): Promise<void> {
  const endsAt = performance.now() + MAX_WAIT_MS;
  while (performance.now() < endsAt) {
    await sleep(POLL_INTERVAL_MS);
    try {
      if (!(await dataSource.showMigrations())) return;
    } catch (error) {
      if (!isLostRace(error)) throw error;
    }
  }
}

function isLostRace(error: unknown): boolean {
  return LOST_RACE.test(String((error as Error).message));
}
