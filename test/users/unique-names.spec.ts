import { DeleteDateColumn, Entity, Index } from 'typeorm';
import { DATABASES, describeOn, DIALECTS } from '../support/databases';
import { entityOf, GENERATED_ID, mappedUsers, OPTIONAL_TEXT, TEXT } from '../support/mapped-users';
import { startForTest } from '../support/start-for-test';
import { PASSWORD, TestApplication } from '../support/test-application';

class Person extends entityOf('Columns', {
  id: GENERATED_ID,
  email: { type: 'varchar', length: 255 },
  tenant: { type: 'varchar', length: 255, nullable: true },
  hash: OPTIONAL_TEXT,
}) {
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

const TAKEN = { code: 'username_taken' };

describe.each(DATABASES)('the uniqueness of usernames in a mapped entity on %s', (name) => {
  const dialect = DIALECTS[name];
  let app: TestApplication;

  async function start(entity: new () => object): Promise<void> {
    app = await startForTest(name, mappedUsers({ entity, username: 'email', passwordHash: 'hash' }));
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
    await app.dataSource.transaction(async (manager) => {
      const joined = app.auth.inTransaction(manager).createUser({ username: 'alice', password: PASSWORD });
      await expect(joined).rejects.toMatchObject(refused);
    });
    expect(await stored()).toEqual([]);
    expect(warnings()).toHaveLength(1);
    await app.dataSource.query(/CREATE UNIQUE INDEX .*\)/.exec(warnings()[0]!)![0]);
    await create('alice');
    await expect(create('alice')).rejects.toMatchObject(TAKEN);
    await app.login('alice');
  });

  it('createUser() refuses a name that the column ignores the case of, if another user has it', async () => {
    await start(Unindexed);
    const { dataSource } = app;
    if (dialect === 'postgres') await dataSource.query('CREATE EXTENSION citext');
    await dataSource.query('DROP TABLE people');
    const [id, email] = {
      sqlite: ['integer PRIMARY KEY', 'varchar COLLATE NOCASE'],
      postgres: ['serial PRIMARY KEY', 'citext'],
      mysql: ['int AUTO_INCREMENT PRIMARY KEY', 'varchar(255)'],
    }[dialect];
    await dataSource.query(
      `CREATE TABLE people (id ${id}, email ${email} NOT NULL, tenant varchar(9), hash varchar(255),
         deleted_at timestamp NULL)`,
    );
    await expect(create('Case@x.de')).rejects.toMatchObject({ code: 'not_supported' });
    await dataSource.query('CREATE UNIQUE INDEX names ON people (email)');
    await create('Case@x.de');
    await expect(create('case@x.de')).rejects.toMatchObject(TAKEN);
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

describeOn('postgres')('usernames in a column of type citext', (name) => {
  const entity = entityOf('Person', {
    id: GENERATED_ID,
    email: { type: 'citext', unique: true },
    password: TEXT,
  });
  const users = { entity, username: 'email', passwordHash: 'password' };

  it('with nameMatching `exact`, a login compares names exactly although the column ignores case', async () => {
    const app = await startForTest(name, mappedUsers(users, {}, ['alice']));
    await app.login('alice');
    await expect(app.login('ALICE')).rejects.toThrow('login: 400');
  });

  it('with nameMatching `insensitive`, a column of type citext can contain the folded names', async () => {
    const folding = mappedUsers({ ...users, foldedUsername: 'email' }, { nameMatching: 'insensitive' }, ['bob']);
    const app = await startForTest(name, folding);
    await app.login('BOB');
    await expect(app.auth.createUser({ username: 'Bob', password: PASSWORD })).rejects.toMatchObject(TAKEN);
  });
});
