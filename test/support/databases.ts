import type { AuthModuleOptions } from 'nestjs-session-auth';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { SQLITE } from './sqlite';

export type DatabaseName = 'sqlite' | 'postgres' | 'mariadb';

/** A database of its own for one test file; `drop` removes it. */
export interface TestDatabase {
  readonly name: DatabaseName;
  /** Of the next instance: on a cluster each goes to another server than the one before. */
  readonly options: DataSourceOptions;
  drop(): Promise<void>;
}

/** The databases that this run tests on: `scripts/test.mjs` finds out which answer and says so. */
export const DATABASES: readonly DatabaseName[] = (process.env['TEST_DATABASES'] ?? 'sqlite')
  .split(',')
  .filter(Boolean) as DatabaseName[];

/** For what is told of one database alone: skipped, and said so, where it does not answer. */
export function describeOn(name: DatabaseName): jest.Describe {
  return DATABASES.includes(name) ? describe : describe.skip;
}

/** Those with a pool of connections; `describeEachPooled` is skipped, and says so, where none answers. */
export const POOLED = DATABASES.filter((name) => name !== 'sqlite') as readonly Exclude<DatabaseName, 'sqlite'>[];

export function describeEachPooled(title: string, tell: (name: Exclude<DatabaseName, 'sqlite'>) => void): void {
  if (POOLED.length > 0) describe.each(POOLED)(title, tell);
  else describe.skip.each(['postgres'] as const)(title, tell);
}

/** For instances that may be connected through a pooler, which hands out connections that others prepared statements on. */
export const WITHOUT_NAMED_STATEMENTS: AuthModuleOptions = process.env['TEST_POOLER'] ? { namedStatements: false } : {};

/** Those of one cluster are separated by spaces. */
const ADMIN_URLS: Record<Exclude<DatabaseName, 'sqlite'>, readonly string[]> = {
  postgres: (process.env['TEST_POSTGRES_URL'] ?? 'postgres://postgres@127.0.0.1:5432/postgres').split(' '),
  mariadb: (process.env['TEST_MARIADB_URL'] ?? 'mysql://root@127.0.0.1:3306/mysql').split(' '),
};

/** MySQL, MariaDB: `ER_BAD_DB_ERROR`. */
const UNKNOWN_DATABASE = 1049;

/** An empty database. */
export async function createDatabase(name: DatabaseName): Promise<TestDatabase> {
  if (name === 'sqlite') return createSqlite();
  const type = name === 'postgres' ? 'postgres' : 'mariadb';
  const admin = await new DataSource({ type, url: ADMIN_URLS[name][0]! }).initialize();
  const database = `nsa_test_${process.pid}_${randomBytes(4).toString('hex')}`;
  await admin.query(`CREATE DATABASE ${database}`);
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

/** Another server of the cluster may learn of the database a moment later. */
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
