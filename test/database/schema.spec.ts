import { AUTH_ENTITIES, AUTH_ENTITIES_WITHOUT_USERS, AUTH_MIGRATIONS, AuthUser } from 'nestjs-session-auth';
import { DataSource, DefaultNamingStrategy, type DataSourceOptions } from 'typeorm';
import { DATABASES, describeEachPooled, type Dialect, DIALECTS, type TestDatabase } from '../support/databases';
import { databaseForTest, startForTest } from '../support/start-for-test';
import { TestApplication } from '../support/test-application';
import { useEverything } from '../support/use-everything';

const auth = { refreshReuseGraceSeconds: 10 };

class PrefixedNames extends DefaultNamingStrategy {
  override columnName(property: string, custom: string | undefined, prefixes: string[]): string {
    return `c_${super.columnName(property, custom as string, prefixes)}`;
  }
}

/** The SQL that reads the columns of each index of a table, including the primary key. */
const INDEXES: Record<Dialect, (table: string) => string> = {
  postgres: (table) =>
    `SELECT substring(indexdef FROM '[(](.*)[)]') AS columns FROM pg_indexes WHERE tablename = '${table}'`,
  mysql: (table) =>
    `SELECT GROUP_CONCAT(column_name ORDER BY seq_in_index SEPARATOR ', ') AS columns FROM information_schema.statistics
     WHERE table_schema = DATABASE() AND table_name = '${table}' GROUP BY index_name`,
  sqlite: (table) =>
    `SELECT (SELECT group_concat(name, ', ') FROM pragma_index_info(one.name)) AS columns
     FROM pragma_index_list('${table}') one`,
};

const migratable = (database: TestDatabase, settings: object = {}): DataSourceOptions => ({
  ...database.options,
  ...settings,
  entities: [...AUTH_ENTITIES],
  migrations: [...AUTH_MIGRATIONS],
});

describe.each(DATABASES)('the schema on %s', (name) => {
  const settings: [string, object][] = [
    ['default settings', {}],
    ['an entity prefix', { entityPrefix: 'app_' }],
    ['a naming strategy', { namingStrategy: new PrefixedNames() }],
  ];
  if (DIALECTS[name] === 'postgres') settings.push(['a schema', { schema: 'elsewhere' }]);

  it.each(settings)(
    'the migrations create the same schema as synchronize, the library works with it, and it can be dropped, with %s',
    async (_, setting) => {
      const database = await databaseForTest(name);
      const dataSource = await new DataSource(migratable(database, setting)).initialize();
      if ('schema' in setting) await dataSource.query('CREATE SCHEMA elsewhere');
      await dataSource.runMigrations({ transaction: 'each' });
      const { upQueries } = await dataSource.driver.createSchemaBuilder().log();
      expect(upQueries.map(({ query }) => query)).toEqual([]);
      const options = { ...database.options, ...setting };
      const app = await TestApplication.start({ database: { ...database, options }, users: [], auth });
      await useEverything(app);
      await app.close();
      for (let undone = 0; undone < AUTH_MIGRATIONS.length; undone++) await dataSource.undoLastMigration();
      const runner = dataSource.createQueryRunner();
      for (const { tablePath } of dataSource.entityMetadatas) expect(await runner.hasTable(tablePath)).toBe(false);
      await runner.release();
      await dataSource.destroy();
    },
  );

  /**
   * A distributed database checks a secondary unique key across all nodes, or does not support it if the
   * table is distributed by another column. The only such key is the user name in the library's own users table.
   */
  it('the migrations create the documented indexes, no further unique keys, and digests that are compared by bytes, and synchronize creates the same indexes', async () => {
    const dataSource = await new DataSource(migratable(await databaseForTest(name))).initialize();
    await dataSource.runMigrations();
    const runner = dataSource.createQueryRunner();
    const indexesOf = async (table: string): Promise<string[]> => {
      const rows = await dataSource.query<{ columns: string }[]>(INDEXES[DIALECTS[name]](table));
      const listed = rows.map(({ columns }) => columns);
      // An integer primary key of SQLite is the rowid, which has no separate index.
      if (DIALECTS[name] === 'sqlite' && !listed.includes('id')) listed.push('id');
      return listed.sort();
    };
    const expectIndexes = async (): Promise<void> => {
      expect(await indexesOf('auth_sessions')).toEqual(['check_at', 'id', 'user_id, login_network', 'user_id, state']);
      expect(await indexesOf('auth_events')).toEqual(['id', 'user_id, id']);
    };
    await expectIndexes();

    const uniqueKeys: Record<string, string[][]> = {};
    for (const entity of AUTH_ENTITIES) {
      const { primaryColumns, tablePath } = dataSource.getMetadata(entity);
      expect(primaryColumns).toHaveLength(1);
      const table = (await runner.getTable(tablePath))!;
      const unique = [...table.indices.filter(({ isUnique }) => isUnique), ...table.uniques];
      uniqueKeys[entity.name] = unique.map(({ columnNames }) => columnNames);
    }
    const none = Object.fromEntries(AUTH_ENTITIES_WITHOUT_USERS.map((entity) => [entity.name, []]));
    expect(uniqueKeys).toEqual({ ...none, [AuthUser.name]: [['username_key']] });

    // Digests are compared by bytes.
    await dataSource.query(`INSERT INTO auth_password_resets (digest, user_id, expires_at) VALUES ('ab', 'u', 0)`);
    const found = async (digest: string): Promise<number> =>
      (await dataSource.query(`SELECT 1 FROM auth_password_resets WHERE digest = '${digest}'`)).length;
    expect([await found('ab'), await found('AB')]).toEqual([1, 0]);

    if (DIALECTS[name] === 'postgres') {
      const filled = `SELECT relname, reloptions FROM pg_class WHERE relname LIKE 'auth_%' AND reloptions IS NOT NULL`;
      const tables = await dataSource.query(filled);
      expect(tables).toEqual([{ relname: 'auth_sessions', reloptions: ['fillfactor=70'] }]);
    }
    await dataSource.dropDatabase();
    await dataSource.synchronize();
    await expectIndexes();
    await runner.release();
    await dataSource.destroy();
  });
});

describeEachPooled('a DataSource with read replicas on %s', (name) => {
  it('all reads go to the primary, because a replica may lag behind a revocation', async () => {
    const [primary, replica] = [await databaseForTest(name), await databaseForTest(name)];
    const urlOf = ({ options }: typeof primary): string => (options as { url: string }).url;
    // This replica lags behind: it contains the tables, but no rows.
    const lagging = await new DataSource(migratable(replica)).initialize();
    await lagging.runMigrations();
    const { type } = primary.options;
    const replication = { master: { url: urlOf(primary) }, slaves: [{ url: urlOf(replica) }] };
    const app = await startForTest(
      { ...primary, options: { type, replication } as DataSourceOptions },
      { users: [], auth },
    );
    expect(await app.dataSource.getRepository(AuthUser).count()).toBe(0);
    await useEverything(app);
    expect(await lagging.query('SELECT * FROM auth_sessions')).toEqual([]);
    await lagging.destroy();
  });
});
