import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource, type DataSourceOptions } from 'typeorm';

const ATTEMPTS = 10;
const ATTEMPT_EVERY_MS = 2_000;
const LOOK_EVERY_MS = 100;

/** What an instance finds that loses the race for a table, on any of the databases. */
const LOST_RACE = /already exists|locked|busy|unique|duplicate|deadlock|lock wait|interrupted/i;

/**
 * Runs the migrations. Several instances may start on one empty database at the same moment: one of them creates the first
 * table of a migration and goes on, and the others wait until it is done. No lock of a session is needed, which would not
 * hold on another node of Galera, or behind PgBouncer.
 */
export async function prepareDatabase(options: DataSourceOptions, attempts = ATTEMPTS): Promise<DataSource> {
  const dataSource = await new DataSource(options).initialize();
  // MySQL and MariaDB commit each change of the schema by itself.
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

/** Until all migrations have run, or the instance that runs them may have ended. */
async function waitForOthers(dataSource: DataSource): Promise<void> {
  const endsAt = performance.now() + ATTEMPT_EVERY_MS;
  while (performance.now() < endsAt) {
    await sleep(LOOK_EVERY_MS);
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
