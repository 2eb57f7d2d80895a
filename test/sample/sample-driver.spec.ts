import { hasNodeSqlite, NodeSqlite } from 'nestjs-session-auth/node-sqlite';
import { sqliteDriver } from '../../apps/sample/src/sqlite-driver';

describe('the SQLite driver of the sample application', () => {
  it('the sample application uses node:sqlite if Node has it, and otherwise better-sqlite3', () => {
    const driver = sqliteDriver();
    if (hasNodeSqlite()) expect(driver).toBe(NodeSqlite);
    else expect(driver.name).toBe('Database');
    new driver(':memory:').close();
  });

  it.each([
    ['not installed', 'module-that-is-missing'],
    ['not built for this Node', 'node:fs'],
  ])('the error says what to install if better-sqlite3 is %s', async (_, name) => {
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
