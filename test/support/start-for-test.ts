import { AUTH_ENTITIES } from 'nestjs-session-auth';
import { createDatabase, type DatabaseName, type TestDatabase } from './databases';
import { TestApplication, type TestApplicationOptions } from './test-application';

const cleanups: (() => Promise<unknown>)[] = [];
/** Databases without rows that earlier tests of the file have used. */
const spares: TestDatabase[] = [];

afterEach(async () => {
  for (const cleanUp of cleanups.splice(0).reverse()) await cleanUp();
});
afterAll(async () => {
  for (const database of spares) await database.drop();
});

/**
 * Returns a database without rows, which has either no tables or those of the entities.
 * @param entities Default: none
 */
export async function takeDatabase(name: DatabaseName, entities?: TestDatabase['tables']): Promise<TestDatabase> {
  const usable = spares.filter((one) => one.name === name && (!one.tables || one.tables === entities));
  const spare = usable.find(({ tables }) => tables) ?? usable[0];
  if (!spare) return createDatabase(name);
  spares.splice(spares.indexOf(spare), 1);
  return spare;
}

/** Closes an application, and keeps its database for the next one of the file. */
export async function closeAndKeep(app: TestApplication, database: TestDatabase): Promise<void> {
  if (database.tables === AUTH_ENTITIES) await app.clear();
  await app.close();
  if (database.tables !== AUTH_ENTITIES) await database.empty();
  spares.push(database);
}

/** Returns an empty database, which only this test uses. */
export async function databaseForTest(name: DatabaseName): Promise<TestDatabase> {
  const database = await takeDatabase(name);
  cleanups.push(async () => {
    await database.empty();
    spares.push(database);
  });
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
