import { createRequire } from 'node:module';
import { hasNodeSqlite, NodeSqlite } from 'nestjs-session-auth/node-sqlite';

type Driver = new (path: string) => { close(): unknown };

/**
 * The driver of SQLite: Node's own, or on a Node without one better-sqlite3, which `npm ci` builds there.
 * @throws Error where there is neither, with what to do
 */
export function sqliteDriver(): Driver {
  if (hasNodeSqlite()) return NodeSqlite;
  try {
    const BetterSqlite3 = createRequire(__filename)('better-sqlite3') as Driver;
    // Only now its binary is loaded.
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
