import type { AuthModuleOptions } from 'nestjs-session-auth';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, sep } from 'node:path';
import { DataSource, type DataSourceOptions } from 'typeorm';
import type { Dialect } from '../../libs/auth/src/database/dialect';
import { SQLITE } from './sqlite';

export type { Dialect };

/** The SQL dialect of each database of the tests. */
export const DIALECTS = {
  sqlite: 'sqlite',
  postgres: 'postgres',
  postgres18: 'postgres',
  mariadb: 'mysql',
  mysql9: 'mysql',
} as const satisfies Record<string, Dialect>;

export type DatabaseName = keyof typeof DIALECTS;
type PooledName = Exclude<DatabaseName, 'sqlite'>;
/** The names of the databases with a dialect. */
type NameOf<D extends Dialect> = {
  [Name in DatabaseName]: (typeof DIALECTS)[Name] extends D ? Name : never;
}[DatabaseName];

/** A separate database for one test file. `drop` removes it. */
export interface TestDatabase {
  readonly name: DatabaseName;
  /**
   * The connection options of the next instance. On a cluster, each instance connects to a different server than
   * the previous instance.
   */
  readonly options: DataSourceOptions;
  /** The entities whose tables the database has. The first application creates them. */
  tables?: readonly (new () => object)[] | undefined;
  /** Removes everything from the database, which takes less time than to create another one. */
  empty(): Promise<void>;
  drop(): Promise<void>;
}

/**
 * The databases of this test file. `scripts/test.mjs` finds out which ones are available. In its short run, only the
 * folders of `TEST_SERVER_FOLDERS` are tested on servers.
 */
export const DATABASES: readonly DatabaseName[] = (process.env['TEST_DATABASES'] ?? 'sqlite')
  .split(',')
  .filter((name) => name === 'sqlite' || (name !== '' && runsOnServers())) as DatabaseName[];

function runsOnServers(): boolean {
  const folders = process.env['TEST_SERVER_FOLDERS'];
  if (folders === undefined) return true;
  const [folder] = relative(join(__dirname, '..'), expect.getState().testPath!).split(sep);
  return folders.split(',').includes(folder!);
}

type DescribeOn<Name> = (title: string, defineTests: (name: Name) => void) => void;

/** Returns `describe.each` with those databases that this run has. The tests are reported as skipped if there is none. */
export function describeOnAny<Name extends DatabaseName>(names: readonly Name[]): DescribeOn<Name> {
  const available = names.filter((name) => DATABASES.includes(name));
  return available.length > 0 ? describe.each(available) : describe.skip.each(names.slice(0, 1));
}

export function describeOn<D extends Dialect>(dialect: D): DescribeOn<NameOf<D>> {
  const hasDialect = (name: DatabaseName): name is NameOf<D> => DIALECTS[name] === dialect;
  return describeOnAny((Object.keys(DIALECTS) as DatabaseName[]).filter(hasDialect));
}

/** Runs the same tests on each database with a connection pool. */
export const describeEachPooled: DescribeOn<PooledName> = (title, defineTests) =>
  describeOnAny<PooledName>(['postgres', 'postgres18', 'mariadb', 'mysql9'])(title, defineTests);

/**
 * Options for instances that may connect through a pooler, which can hand out connections on which other clients
 * have prepared statements.
 */
export const WITHOUT_NAMED_STATEMENTS: AuthModuleOptions = process.env['TEST_POOLER'] ? { namedStatements: false } : {};

/** The TypeORM driver of each server and its URLs. The URLs of one cluster are separated by spaces. */
const SERVERS = {
  postgres: serverAt('postgres', 'TEST_POSTGRES_URL', 'postgres://postgres@127.0.0.1:5432/postgres'),
  postgres18: serverAt('postgres', 'TEST_POSTGRES18_URL', 'postgres://postgres@127.0.0.1:5418/postgres'),
  mariadb: serverAt('mariadb', 'TEST_MARIADB_URL', 'mysql://root@127.0.0.1:3306/mysql'),
  mysql9: serverAt('mysql', 'TEST_MYSQL9_URL', 'mysql://root@127.0.0.1:3309/mysql'),
};

type Driver = 'postgres' | 'mariadb' | 'mysql';

function serverAt(type: Driver, variable: string, url: string): { type: Driver; serverUrls: string[] } {
  return { type, serverUrls: (process.env[variable] ?? url).split(' ') };
}

/** The code of `ER_BAD_DB_ERROR` on MySQL and MariaDB. */
const UNKNOWN_DATABASE = 1049;

/**
 * Creates an empty database.
 * @param options `isDurable`: whether each commit on PostgreSQL and SQLite waits for the disk, as in production. Default:
 *   false, because no test crashes the server or the machine
 */
export async function createDatabase(name: DatabaseName, { isDurable = false } = {}): Promise<TestDatabase> {
  if (name === 'sqlite') return createSqlite(isDurable);
  const { type, serverUrls } = SERVERS[name];
  const admin = await new DataSource({ type, url: serverUrls[0]! }).initialize();
  const database = `nsa_test_${process.pid}_${randomBytes(4).toString('hex')}`;
  await admin.query(`CREATE DATABASE ${database}`);
  // On a cluster this setting also controls whether a commit waits for other servers.
  if (type === 'postgres' && serverUrls.length === 1 && !isDurable) {
    await admin.query(`ALTER DATABASE ${database} SET synchronous_commit = off`);
  }
  const urls = serverUrls.map((server) => {
    const url = new URL(server);
    url.pathname = `/${database}`;
    return url.href;
  });
  for (const url of urls.slice(1)) await untilThere(type, url);
  let instances = 0;
  let inside: DataSource | undefined;
  return {
    name,
    get options() {
      return { type, url: urls[instances++ % urls.length]! } as const;
    },
    async empty(this: TestDatabase) {
      this.tables = undefined;
      if (type !== 'postgres') {
        await admin.query(`DROP DATABASE ${database}`);
        await admin.query(`CREATE DATABASE ${database}`);
        return;
      }
      inside ??= await new DataSource({ type, url: urls[0]! }).initialize();
      await inside.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()`);
      await inside.query('DROP SCHEMA public CASCADE');
      await inside.query('CREATE SCHEMA public');
      await inside.query('GRANT USAGE ON SCHEMA public TO PUBLIC');
    },
    async drop() {
      await inside?.destroy();
      await admin.query(`DROP DATABASE ${database}${type === 'postgres' ? ' WITH (FORCE)' : ''}`);
      await admin.destroy();
    },
  };
}

/** Waits until the database exists on another server of the cluster. */
async function untilThere(type: Driver, url: string): Promise<void> {
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

async function createSqlite(isDurable: boolean): Promise<TestDatabase> {
  const folder = mkdtempSync(join(tmpdir(), 'nsa-test-'));
  const remove = async (): Promise<void> => rmSync(folder, { recursive: true, force: true });
  const prepareDatabase = (connection: { pragma(sql: string): unknown }): void =>
    void (isDurable || connection.pragma('synchronous = OFF'));
  return {
    name: 'sqlite',
    options: { ...SQLITE, database: join(folder, 'test.sqlite'), enableWAL: true, prepareDatabase },
    async empty(this: TestDatabase) {
      this.tables = undefined;
      await remove();
      mkdirSync(folder);
    },
    drop: remove,
  };
}
