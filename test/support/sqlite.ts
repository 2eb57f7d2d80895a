import { hasNodeSqlite, NodeSqlite } from 'nestjs-session-auth/node-sqlite';

const DRIVERS = ['node:sqlite', 'better-sqlite3'] as const;

/** The SQLite driver of the tests: `TEST_SQLITE`, or else `node:sqlite` if this Node has it. */
export const SQLITE_DRIVER: (typeof DRIVERS)[number] = chosen() ?? (hasNodeSqlite() ? 'node:sqlite' : 'better-sqlite3');

/** The options of a DataSource on SQLite, without the file. */
export const SQLITE = {
  type: 'better-sqlite3',
  ...(SQLITE_DRIVER === 'node:sqlite' ? { driver: NodeSqlite } : {}),
} as const;

/** The options of a DataSource on an empty in-memory database whose tables are created at startup. */
export const MEMORY = { ...SQLITE, database: ':memory:', synchronize: true, retryAttempts: 0 } as const;

/**
 * Serializes the options of a DataSource, or an object that contains such options, for another process. The
 * driver is written as its name.
 */
export function writeOptions(value: object): string {
  return JSON.stringify(value, (_, part: unknown) => (part === NodeSqlite ? 'node:sqlite' : part));
}

/** Parses the result of `writeOptions()`. */
export function readOptions<Value>(text: string): Value {
  return JSON.parse(text, (_, part: unknown) => (part === 'node:sqlite' ? NodeSqlite : part)) as Value;
}

function chosen(): (typeof DRIVERS)[number] | undefined {
  const name = process.env['TEST_SQLITE'];
  const driver = DRIVERS.find((one) => one === name);
  if (name && !driver) throw new Error(`TEST_SQLITE is '${name}'; use one of ${DRIVERS.join(', ')}`);
  return driver;
}
