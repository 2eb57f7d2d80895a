import { AUTH_ENTITIES, AUTH_MIGRATIONS } from 'nestjs-session-auth';
import { DataSource, DefaultNamingStrategy, type DataSourceOptions } from 'typeorm';
import { createDatabase, DATABASES, type Dialect, DIALECTS, type TestDatabase } from '../support/databases';

class PrefixedNames extends DefaultNamingStrategy {
  override columnName(property: string, custom: string | undefined, prefixes: string[]): string {
    return `c_${super.columnName(property, custom as string, prefixes)}`;
  }
}

const SETTINGS: [string, object][] = [
  ['default settings', {}],
  ['an entity prefix', { entityPrefix: 'app_' }],
  ['a naming strategy', { namingStrategy: new PrefixedNames() }],
];

/** Returns the columns of each index of a table, including the primary key. */
const INDEXES: Record<Dialect, (dataSource: DataSource, table: string) => Promise<string[]>> = {
  async postgres(dataSource, table) {
    const rows = await dataSource.query(`SELECT indexdef FROM pg_indexes WHERE tablename = '${table}'`);
    return (rows as { indexdef: string }[]).map(({ indexdef }) => /\((.*)\)/.exec(indexdef)![1]!).sort();
  },
  async mysql(dataSource, table) {
    const rows = await dataSource.query(
      `SELECT GROUP_CONCAT(column_name ORDER BY seq_in_index SEPARATOR ', ') AS columns FROM information_schema.statistics
       WHERE table_schema = DATABASE() AND table_name = '${table}' GROUP BY index_name`,
    );
    return (rows as { columns: string }[]).map(({ columns }) => columns).sort();
  },
  async sqlite(dataSource, table) {
    const indexes: { name: string }[] = await dataSource.query(`PRAGMA index_list(${table})`);
    const columns = await Promise.all(
      indexes.map((index) => dataSource.query<{ name: string }[]>(`PRAGMA index_info("${index.name}")`)),
    );
    const listed = columns.map((of) => of.map((column) => column.name).join(', '));
    // An integer primary key is the rowid, which has no separate index.
    return (listed.includes('id') ? listed : ['id', ...listed]).sort();
  },
};

describe.each(DATABASES)('the migrations on %s', (name) => {
  let database: TestDatabase;

  beforeEach(async () => {
    database = await createDatabase(name);
  });
  afterEach(() => database.drop());

  it.each(SETTINGS)(
    'the migrations create the same schema as synchronize, with %s, and can drop that schema',
    async (_, settings) => {
      const options = {
        ...database.options,
        ...settings,
        entities: [...AUTH_ENTITIES],
        migrations: [...AUTH_MIGRATIONS],
      } as DataSourceOptions;
      const dataSource = await new DataSource(options).initialize();
      await dataSource.runMigrations({ transaction: 'each' });
      const { upQueries } = await dataSource.driver.createSchemaBuilder().log();
      expect(upQueries.map(({ query }) => query)).toEqual([]);
      for (const migration of AUTH_MIGRATIONS) {
        expect(migration).toBeDefined();
        await dataSource.undoLastMigration();
      }
      const runner = dataSource.createQueryRunner();
      for (const { tablePath } of dataSource.entityMetadatas) expect(await runner.hasTable(tablePath)).toBe(false);
      await runner.release();
      await dataSource.destroy();
    },
  );

  if (DIALECTS[name] === 'postgres') {
    it('the migrations use the schema of the DataSource', async () => {
      const settings = { schema: 'elsewhere', entities: [...AUTH_ENTITIES], migrations: [...AUTH_MIGRATIONS] };
      const options = { ...database.options, ...settings } as DataSourceOptions;
      const dataSource = await new DataSource(options).initialize();
      await dataSource.query('CREATE SCHEMA elsewhere');
      await dataSource.runMigrations();
      expect((await dataSource.driver.createSchemaBuilder().log()).upQueries).toEqual([]);
      expect(await dataSource.query('SELECT * FROM elsewhere.auth_sessions')).toEqual([]);
      await dataSource.destroy();
    });
  }

  it('auth_sessions has four indexes and auth_events has two, as with synchronize', async () => {
    const options = { ...database.options, entities: [...AUTH_ENTITIES], migrations: [...AUTH_MIGRATIONS] };
    const dataSource = await new DataSource(options).initialize();
    const indexesOf = (table: string): Promise<string[]> => INDEXES[DIALECTS[name]](dataSource, table);
    const expectIndexes = async (): Promise<void> => {
      expect(await indexesOf('auth_sessions')).toEqual(['check_at', 'id', 'user_id, login_network', 'user_id, state']);
      expect(await indexesOf('auth_events')).toEqual(['id', 'user_id, id']);
    };
    await dataSource.runMigrations();
    await expectIndexes();
    await dataSource.dropDatabase();
    await dataSource.synchronize();
    await expectIndexes();
    await dataSource.destroy();
  });

  if (DIALECTS[name] === 'postgres') {
    it('auth_sessions is the only table with a fill factor that leaves space in its pages', async () => {
      const options = { ...database.options, entities: [...AUTH_ENTITIES], migrations: [...AUTH_MIGRATIONS] };
      const dataSource = await new DataSource(options).initialize();
      await dataSource.runMigrations();
      const tables = await dataSource.query(
        `SELECT relname, reloptions FROM pg_class WHERE relname LIKE 'auth_%' AND reloptions IS NOT NULL`,
      );
      expect(tables).toEqual([{ relname: 'auth_sessions', reloptions: ['fillfactor=70'] }]);
      await dataSource.destroy();
    });
  }

  it('digests of reset tokens are stored in a column that compares by bytes', async () => {
    const options = { ...database.options, entities: [...AUTH_ENTITIES], migrations: [...AUTH_MIGRATIONS] };
    const dataSource = await new DataSource(options).initialize();
    await dataSource.runMigrations();
    await dataSource.query(`INSERT INTO auth_password_resets (digest, user_id, expires_at) VALUES ('ab', 'u', 0)`);
    const found = async (digest: string): Promise<number> =>
      (await dataSource.query(`SELECT 1 FROM auth_password_resets WHERE digest = '${digest}'`)).length;
    expect([await found('ab'), await found('AB')]).toEqual([1, 0]);
    await dataSource.destroy();
  });
});
