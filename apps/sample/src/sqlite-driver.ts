import { createRequire } from 'node:module';
import { hasNodeSqlite, NodeSqlite } from 'nestjs-session-auth/node-sqlite';

type Driver = new (path: string) => { close(): unknown };

/**
 * Returns the SQLite driver: `node:sqlite`, or better-sqlite3 on versions of Node without `node:sqlite`. On those
 * versions, `npm ci` builds better-sqlite3.
 * @throws Error if neither driver is available. The message says what to do
 */
export function sqliteDriver(): Driver {
  if (hasNodeSqlite()) return NodeSqlite;
  try {
    const BetterSqlite3 = createRequire(__filename)('better-sqlite3') as Driver;
    // The constructor loads the native binary.
    new BetterSqlite3(':memory:').close();
    return BetterSqlite3;
  } catch (error) {
    throw new Error(
      `Node ${process.versions.node} has no node:sqlite, and better-sqlite3 cannot be loaded. Use Node 22.13 or later; ` +
        'or install Python, make and a C++ compiler, and run npm ci again; or set DATABASE_URL to a PostgreSQL, ' +
        'MariaDB or MySQL server.',
      { cause: error },
    );
  }
}
