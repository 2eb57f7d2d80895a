import { AUTH_ENTITIES, AUTH_MIGRATIONS } from 'nestjs-session-auth';
import { DataSource, DefaultNamingStrategy, type DataSourceOptions } from 'typeorm';
import { createDatabase, DATABASES, type TestDatabase } from '../support/databases';

class LoudNames extends DefaultNamingStrategy {
  override columnName(property: string, custom: string | undefined, prefixes: string[]): string {
    return `c_${super.columnName(property, custom as string, prefixes)}`;
  }
}

const SETTINGS: [string, object][] = [
  ['nothing set', {}],
  ['an entity prefix', { entityPrefix: 'app_' }],
  ['a naming strategy', { namingStrategy: new LoudNames() }],
];

describe.each(DATABASES)('the migrations on %s', (name) => {
  let database: TestDatabase;

  beforeEach(async () => {
    database = await createDatabase(name);
  });
  afterEach(() => database.drop());

  it.each(SETTINGS)('give the schema that synchronize gives, with %s, and take it away again', async (_, settings) => {
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
  });

  if (name === 'postgres') {
    it('respect the schema of the DataSource', async () => {
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

  it('keep digests in columns that compare by bytes', async () => {
    const options = { ...database.options, entities: [...AUTH_ENTITIES], migrations: [...AUTH_MIGRATIONS] };
    const dataSource = await new DataSource(options).initialize();
    await dataSource.runMigrations();
    await dataSource.query(
      `INSERT INTO auth_refresh_tokens (digest, session_id, generation, state, retired_at, expires_at)
       VALUES ('ab', 's', 0, 'used', 0, 0)`,
    );
    const found = async (digest: string): Promise<number> =>
      (await dataSource.query(`SELECT 1 FROM auth_refresh_tokens WHERE digest = '${digest}'`)).length;
    expect([await found('ab'), await found('AB')]).toEqual([1, 0]);
    await dataSource.destroy();
  });
});
