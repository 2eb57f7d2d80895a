import { hasNodeSqlite, NodeSqlite } from 'nestjs-session-auth/node-sqlite';
import { sqliteDriver } from '../../apps/sample/src/sqlite-driver';

describe('the driver of SQLite in the sample application', () => {
  it("is Node's own where there is one, and better-sqlite3 elsewhere", () => {
    const driver = sqliteDriver();
    if (hasNodeSqlite()) expect(driver).toBe(NodeSqlite);
    else expect(driver.name).toBe('Database');
    new driver(':memory:').close();
  });

  it.each([
    ['not installed', 'module-that-is-missing'],
    ['not built for this Node', 'node:fs'],
  ])('is missing with an error that says what to install where better-sqlite3 is %s', async (_, name) => {
    jest.doMock('nestjs-session-auth/node-sqlite', () => ({ hasNodeSqlite: () => false }));
    jest.doMock('better-sqlite3', () => jest.requireActual<object>(name), { virtual: true });
    await jest.isolateModulesAsync(async () => {
      const sample = await import('../../apps/sample/src/sqlite-driver.js');
      expect(() => sample.sqliteDriver()).toThrow(
        /^Node [\d.]+ has no node:sqlite, .* Use Node 22\.13 or later; or install .* a C\+\+ compiler, .* DATABASE_URL/,
      );
    });
    jest.dontMock('nestjs-session-auth/node-sqlite');
    jest.dontMock('better-sqlite3');
  });
});
