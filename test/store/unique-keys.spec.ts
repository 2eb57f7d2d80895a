import { AUTH_ENTITIES, AUTH_ENTITIES_WITHOUT_USERS, AUTH_MIGRATIONS, AuthUser } from 'nestjs-session-auth';
import { DataSource } from 'typeorm';
import { createDatabase, DATABASES, type TestDatabase } from '../support/databases';

/**
 * A unique key besides the primary key is checked across all nodes, or, where a table is distributed by another column, not
 * possible at all. The one exception is the name of a user, in a table that stands for the application's own.
 */
describe.each(DATABASES)('the unique keys on %s', (name) => {
  let database: TestDatabase;
  let dataSource: DataSource;

  beforeAll(async () => {
    database = await createDatabase(name);
    const options = { ...database.options, entities: [...AUTH_ENTITIES], migrations: [...AUTH_MIGRATIONS] };
    dataSource = await new DataSource(options).initialize();
    await dataSource.runMigrations();
  });
  afterAll(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  /** The columns of each unique key of an entity's table besides its primary key, as the database has them. */
  async function uniqueKeys(entity: new () => object): Promise<string[][]> {
    const runner = dataSource.createQueryRunner();
    const table = await runner.getTable(dataSource.getMetadata(entity).tablePath);
    await runner.release();
    const unique = [...table!.indices.filter(({ isUnique }) => isUnique), ...table!.uniques];
    return unique.map(({ columnNames }) => columnNames);
  }

  it.each(AUTH_ENTITIES_WITHOUT_USERS.map((entity) => ({ entity })))(
    'of $entity.name are its primary key, of one column',
    async ({ entity }) => {
      const { primaryColumns, indices, uniques } = dataSource.getMetadata(entity);
      expect(primaryColumns).toHaveLength(1);
      expect([...indices.filter(({ isUnique }) => isUnique), ...uniques]).toEqual([]);
      expect(await uniqueKeys(entity)).toEqual([]);
    },
  );

  it('of AuthUser are its primary key and the name', async () => {
    expect(await uniqueKeys(AuthUser)).toEqual([['username_key']]);
  });
});
