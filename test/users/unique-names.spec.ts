import { AUTH_ENTITIES_WITHOUT_USERS } from 'nestjs-session-auth';
import { Column, DeleteDateColumn, Entity, Index, PrimaryGeneratedColumn } from 'typeorm';
import { createDatabase, DATABASES, DIALECTS, type TestDatabase } from '../support/databases';
import { PASSWORD, TestApplication } from '../support/test-application';

class Person {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ type: 'varchar', length: 255 })
  email!: string;

  @Column({ type: 'varchar', length: 255, nullable: true })
  tenant!: string | null;

  @Column({ type: 'varchar', nullable: true })
  hash!: string | null;

  @DeleteDateColumn({ name: 'deleted_at' })
  deletedAt!: Date | null;
}

@Entity('people')
class Unindexed extends Person {}

@Entity('people')
@Index(['email'], { unique: true, where: 'deleted_at IS NULL' })
class UniqueUnlessDeleted extends Person {}

@Entity('people')
@Index(['email', 'tenant'], { unique: true })
class UniqueWithTenant extends Person {}

@Entity('people')
@Index(['email'], { unique: true, where: 'tenant IS NULL' })
class UniqueWithoutTenant extends Person {}

describe.each(DATABASES)('the uniqueness of usernames in a mapped entity on %s', (name) => {
  const dialect = DIALECTS[name];
  let database: TestDatabase;
  let app: TestApplication;

  beforeEach(async () => {
    database = await createDatabase(name);
  });
  afterEach(async () => {
    await app.close();
    await database.drop();
  });

  async function start(entity: new () => object): Promise<void> {
    app = await TestApplication.start({
      database,
      entities: [entity, ...AUTH_ENTITIES_WITHOUT_USERS],
      users: [],
      auth: { users: { entity, username: 'email', passwordHash: 'hash' } },
    });
  }

  const create = (username: string) => app.auth.createUser({ username, password: PASSWORD });
  const warnings = (): string[] => app.logs.filter((line) => line.includes('unique index'));
  const stored = (): Promise<object[]> => app.dataSource.query('SELECT email FROM people');

  it('without a unique index, startup warns with the index to create, and createUser() stores nothing until it exists', async () => {
    await start(Unindexed);
    expect(warnings()).toEqual([
      expect.stringMatching(
        /^users\.username is 'email', .*no unique index.* createUser\(\) creates no users.* CREATE UNIQUE INDEX /,
      ),
    ]);
    const refused = {
      code: 'not_supported',
      message: 'The column of the usernames has no unique index. The log names the index to create.',
    };
    await expect(create('alice')).rejects.toMatchObject(refused);
    await app.dataSource.transaction((manager) =>
      expect(
        app.auth.inTransaction(manager).createUser({ username: 'alice', password: PASSWORD }),
      ).rejects.toMatchObject(refused),
    );
    expect(await stored()).toEqual([]);
    expect(warnings()).toHaveLength(1);
    await app.dataSource.query(/CREATE UNIQUE INDEX .*\)/.exec(warnings()[0]!)![0]);
    await create('alice');
    await expect(create('alice')).rejects.toMatchObject({ code: 'username_taken' });
    await app.login('alice');
  });

  it('createUser() refuses a name that the column ignores the case of, if another user has it', async () => {
    await start(Unindexed);
    const { dataSource } = app;
    if (dialect === 'postgres') await dataSource.query('CREATE EXTENSION citext');
    await dataSource.query('DROP TABLE people');
    const id = {
      sqlite: 'integer PRIMARY KEY',
      postgres: 'serial PRIMARY KEY',
      mysql: 'int AUTO_INCREMENT PRIMARY KEY',
    };
    const email = { sqlite: 'varchar COLLATE NOCASE', postgres: 'citext', mysql: 'varchar(255)' };
    await dataSource.query(
      `CREATE TABLE people (id ${id[dialect]}, email ${email[dialect]} NOT NULL, tenant varchar(9), hash varchar(255),
         deleted_at timestamp NULL)`,
    );
    await expect(create('Case@x.de')).rejects.toMatchObject({ code: 'not_supported' });
    await dataSource.query('CREATE UNIQUE INDEX names ON people (email)');
    await create('Case@x.de');
    await expect(create('case@x.de')).rejects.toMatchObject({ code: 'username_taken' });
    expect(await stored()).toEqual([{ email: 'Case@x.de' }]);
  });

  it.each([
    [UniqueUnlessDeleted, true],
    [UniqueWithTenant, false],
    // MySQL and MariaDB have no indexes with a condition, so that the index covers all rows.
    [UniqueWithoutTenant, dialect === 'mysql'],
  ] as const)('startup accepts the unique indexes of the entity %p: %p', async (entity, covers) => {
    await start(entity);
    expect(warnings()).toHaveLength(covers ? 0 : 1);
  });

  const hasConditions = dialect !== 'mysql';
  it.each([
    ['UNIQUE', '(email)', true],
    ['', '(email)', false],
    ['UNIQUE', '(email, tenant)', false],
    ['UNIQUE', '(tenant)', false],
    ...(hasConditions ? [['UNIQUE', '(email) WHERE deleted_at IS NULL', true] as const] : []),
    ...(hasConditions ? [['UNIQUE', '(email) WHERE tenant IS NULL', false] as const] : []),
    ...(dialect === 'postgres' ? [['UNIQUE', '(lower(email)) WHERE (deleted_at IS NULL)', true] as const] : []),
    ...(dialect === 'postgres' ? [['UNIQUE', '(lower(email || tenant))', false] as const] : []),
  ] as const)('createUser() accepts the %s INDEX %s of the database: %p', async (unique, index, covers) => {
    await start(Unindexed);
    await app.dataSource.query(`CREATE ${unique} INDEX names ON people ${index}`);
    if (covers) await create('alice');
    else await expect(create('alice')).rejects.toMatchObject({ code: 'not_supported' });
  });
});
