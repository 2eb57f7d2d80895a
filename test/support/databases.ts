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

const ADMIN_URL: Record<Exclude<DatabaseName, 'sqlite'>, string> = {
  postgres: process.env['TEST_POSTGRES_URL'] ?? 'postgres://postgres@127.0.0.1:5432/postgres',
  mariadb: process.env['TEST_MARIADB_URL'] ?? 'mysql://root@127.0.0.1:3306/mysql',
};

/** An empty database. */
export async function createDatabase(name: DatabaseName): Promise<TestDatabase> {
  if (name === 'sqlite') return createSqlite();
  const type = name === 'postgres' ? 'postgres' : 'mariadb';
  const admin = await new DataSource({ type, url: ADMIN_URL[name] }).initialize();
  const database = `nsa_test_${process.pid}_${randomBytes(4).toString('hex')}`;
  await admin.query(`CREATE DATABASE ${database}`);
  const url = new URL(ADMIN_URL[name]);
  url.pathname = `/${database}`;
  return {
    name,
    options: { type, url: url.href },
    async drop() {
      await admin.query(`DROP DATABASE ${database}${name === 'postgres' ? ' WITH (FORCE)' : ''}`);
      await admin.destroy();
    },
  };
}

async function createSqlite(): Promise<TestDatabase> {
  const folder = mkdtempSync(join(tmpdir(), 'nsa-test-'));
  return {
    name: 'sqlite',
    options: { ...SQLITE, database: join(folder, 'test.sqlite'), enableWAL: true },
    drop: async () => rmSync(folder, { recursive: true, force: true }),
  };
}
