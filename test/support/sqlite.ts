import { hasNodeSqlite, NodeSqlite } from 'nestjs-session-auth/node-sqlite';

const DRIVERS = ['node:sqlite', 'better-sqlite3'] as const;

/** What the tests on SQLite run on: `TEST_SQLITE`, or Node's own where there is one. */
export const SQLITE_DRIVER: (typeof DRIVERS)[number] = chosen() ?? (hasNodeSqlite() ? 'node:sqlite' : 'better-sqlite3');

/** The options of a DataSource on SQLite, without the file. */
export const SQLITE = {
  type: 'better-sqlite3',
  ...(SQLITE_DRIVER === 'node:sqlite' ? { driver: NodeSqlite } : {}),
} as const;

/** The options of a DataSource on an empty database in memory, whose tables are created at the start. */
export const MEMORY = { ...SQLITE, database: ':memory:', synchronize: true, retryAttempts: 0 } as const;

/** Options of a DataSource, or an object that contains some, as JSON for another process. The driver is written as its name. */
export function writeOptions(value: object): string {
  return JSON.stringify(value, (_, part: unknown) => (part === NodeSqlite ? 'node:sqlite' : part));
}

/** What `writeOptions()` wrote. */
export function readOptions<Value>(text: string): Value {
  return JSON.parse(text, (_, part: unknown) => (part === 'node:sqlite' ? NodeSqlite : part)) as Value;
}

function chosen(): (typeof DRIVERS)[number] | undefined {
  const name = process.env['TEST_SQLITE'];
  const driver = DRIVERS.find((one) => one === name);
  if (name && !driver) throw new Error(`TEST_SQLITE is '${name}'; write one of ${DRIVERS.join(', ')}`);
  return driver;
}
