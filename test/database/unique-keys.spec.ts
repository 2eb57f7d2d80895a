import { AUTH_ENTITIES, AUTH_ENTITIES_WITHOUT_USERS, AUTH_MIGRATIONS, AuthUser } from 'nestjs-session-auth';
import { DataSource } from 'typeorm';
import { createDatabase, DATABASES, type TestDatabase } from '../support/databases';

/**
 * A distributed database checks a secondary unique key across all nodes, or does not support it if the
 * table is distributed by another column. The only such key is the user name in the library's own users table.
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

  /** Returns the columns of each unique key in the database, except the primary key, of an entity's table. */
  async function uniqueKeys(entity: new () => object): Promise<string[][]> {
    const runner = dataSource.createQueryRunner();
    const table = await runner.getTable(dataSource.getMetadata(entity).tablePath);
    await runner.release();
    const unique = [...table!.indices.filter(({ isUnique }) => isUnique), ...table!.uniques];
    return unique.map(({ columnNames }) => columnNames);
  }

  it.each(AUTH_ENTITIES_WITHOUT_USERS.map((entity) => ({ entity })))(
    'the only unique key of $entity.name is its primary key of one column',
    async ({ entity }) => {
      const { primaryColumns, indices, uniques } = dataSource.getMetadata(entity);
      expect(primaryColumns).toHaveLength(1);
      expect([...indices.filter(({ isUnique }) => isUnique), ...uniques]).toEqual([]);
      expect(await uniqueKeys(entity)).toEqual([]);
    },
  );

  it('the unique keys of AuthUser are its primary key and the name', async () => {
    expect(await uniqueKeys(AuthUser)).toEqual([['username_key']]);
  });
});
