import type { AuthModuleOptions } from 'nestjs-session-auth';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { SQLITE } from './sqlite';

export type DatabaseName = 'sqlite' | 'postgres' | 'mariadb';

/** A separate database for one test file. `drop` removes it. */
export interface TestDatabase {
  readonly name: DatabaseName;
  /**
   * The connection options of the next instance. On a cluster, each instance connects to a different server than
   * the previous instance.
   */
  readonly options: DataSourceOptions;
  drop(): Promise<void>;
}

/** The databases of this test run. `scripts/test.mjs` finds out which ones are available, and prints them. */
export const DATABASES: readonly DatabaseName[] = (process.env['TEST_DATABASES'] ?? 'sqlite')
  .split(',')
  .filter(Boolean) as DatabaseName[];

/** Returns `describe` for tests of one database, or `describe.skip` if the database is not available. */
export function describeOn(name: DatabaseName): jest.Describe {
  return DATABASES.includes(name) ? describe : describe.skip;
}

/** The databases with a connection pool. `describeEachPooled` is reported as skipped if none is available. */
export const POOLED = DATABASES.filter((name) => name !== 'sqlite') as readonly Exclude<DatabaseName, 'sqlite'>[];

export function describeEachPooled(title: string, defineTests: (name: Exclude<DatabaseName, 'sqlite'>) => void): void {
  if (POOLED.length > 0) describe.each(POOLED)(title, defineTests);
  else describe.skip.each(['postgres'] as const)(title, defineTests);
}

/**
 * Options for instances that may connect through a pooler, which can hand out connections on which other clients
 * have prepared statements.
 */
export const WITHOUT_NAMED_STATEMENTS: AuthModuleOptions = process.env['TEST_POOLER'] ? { namedStatements: false } : {};

/** The URLs of one cluster are separated by spaces. */
const ADMIN_URLS: Record<Exclude<DatabaseName, 'sqlite'>, readonly string[]> = {
  postgres: (process.env['TEST_POSTGRES_URL'] ?? 'postgres://postgres@127.0.0.1:5432/postgres').split(' '),
  mariadb: (process.env['TEST_MARIADB_URL'] ?? 'mysql://root@127.0.0.1:3306/mysql').split(' '),
};

/** The code of `ER_BAD_DB_ERROR` on MySQL and MariaDB. */
const UNKNOWN_DATABASE = 1049;

/**
 * Creates an empty database.
 * @param options `isDurable`: whether each commit on PostgreSQL waits for the disk, as in production. Default: false,
 *   because no test crashes the server
 */
export async function createDatabase(name: DatabaseName, { isDurable = false } = {}): Promise<TestDatabase> {
  if (name === 'sqlite') return createSqlite();
  const type = name === 'postgres' ? 'postgres' : 'mariadb';
  const admin = await new DataSource({ type, url: ADMIN_URLS[name][0]! }).initialize();
  const database = `nsa_test_${process.pid}_${randomBytes(4).toString('hex')}`;
  await admin.query(`CREATE DATABASE ${database}`);
  // On a cluster this setting also controls whether a commit waits for other servers.
  if (name === 'postgres' && ADMIN_URLS[name].length === 1 && !isDurable) {
    await admin.query(`ALTER DATABASE ${database} SET synchronous_commit = off`);
  }
  const urls = ADMIN_URLS[name].map((server) => {
    const url = new URL(server);
    url.pathname = `/${database}`;
    return url.href;
  });
  for (const url of urls.slice(1)) await untilThere(type, url);
  let instances = 0;
  return {
    name,
    get options() {
      return { type, url: urls[instances++ % urls.length]! } as const;
    },
    async drop() {
      await admin.query(`DROP DATABASE ${database}${name === 'postgres' ? ' WITH (FORCE)' : ''}`);
      await admin.destroy();
    },
  };
}

/** Waits until the database exists on another server of the cluster. */
async function untilThere(type: 'postgres' | 'mariadb', url: string): Promise<void> {
  for (;;) {
    const dataSource = new DataSource({ type, url });
    try {
      await (await dataSource.initialize()).destroy();
      return;
    } catch (error) {
      if ((error as { errno?: number }).errno !== UNKNOWN_DATABASE) throw error;
    }
  }
}

async function createSqlite(): Promise<TestDatabase> {
  const folder = mkdtempSync(join(tmpdir(), 'nsa-test-'));
  return {
    name: 'sqlite',
    options: { ...SQLITE, database: join(folder, 'test.sqlite'), enableWAL: true },
    drop: async () => rmSync(folder, { recursive: true, force: true }),
  };
}
