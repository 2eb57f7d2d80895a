import { createDatabase, type DatabaseName, type TestDatabase } from './databases';
import { TestApplication, type TestApplicationOptions } from './test-application';

const cleanups: (() => Promise<unknown>)[] = [];
/** Empty databases that earlier tests of the file have used. */
const spares: TestDatabase[] = [];

afterEach(async () => {
  for (const cleanUp of cleanups.splice(0).reverse()) await cleanUp();
});
afterAll(async () => {
  for (const database of spares) await database.drop();
});

/** Returns an empty database, which only this test uses. */
export async function databaseForTest(name: DatabaseName): Promise<TestDatabase> {
  const spare = spares.findIndex((one) => one.name === name);
  const database = spare < 0 ? await createDatabase(name) : spares.splice(spare, 1)[0]!;
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
