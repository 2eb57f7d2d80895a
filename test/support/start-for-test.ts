import { createDatabase, type DatabaseName, type TestDatabase } from './databases';
import { TestApplication, type TestApplicationOptions } from './test-application';

const cleanups: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const cleanUp of cleanups.splice(0).reverse()) await cleanUp();
});

/** Creates an empty database, which is removed after the test. */
export async function databaseForTest(name: DatabaseName): Promise<TestDatabase> {
  const database = await createDatabase(name);
  cleanups.push(() => database.drop());
  return database;
}

/** Starts an application, by default on an empty database of its own. Both are removed after the test. */
export async function startForTest(
  where: DatabaseName | TestDatabase,
  options: Omit<TestApplicationOptions, 'database'> = {},
): Promise<TestApplication> {
  const database = typeof where === 'string' ? await databaseForTest(where) : where;
  const app = await TestApplication.start({ database, ...options });
  cleanups.push(() => app.close());
  return app;
}

/** Returns `startForTest` for SQLite, with these options unless the caller sets others. */
export function applicationStarter(defaults: Partial<TestApplicationOptions> = {}) {
  return (options: Partial<TestApplicationOptions> = {}): Promise<TestApplication> =>
    startForTest('sqlite', { ...defaults, ...options });
}
