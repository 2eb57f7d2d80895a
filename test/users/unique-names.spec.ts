import { DeleteDateColumn } from 'typeorm';
import { DATABASES, DIALECTS } from '../support/databases';
import { entityOf, GENERATED_ID, mappedUsers, OPTIONAL_TEXT } from '../support/mapped-users';
import { tryLogin } from '../support/spellings';
import { startForTest } from '../support/start-for-test';
import { PASSWORD, type TestApplication } from '../support/test-application';

const Person = entityOf('people', {
  id: GENERATED_ID,
  email: { type: 'varchar', length: 255 },
  tenant: { type: 'varchar', length: 255, nullable: true },
  hash: OPTIONAL_TEXT,
});
DeleteDateColumn({ name: 'deleted_at' })(Person.prototype, 'deletedAt');

const TAKEN = { code: 'username_taken' };

describe.each(DATABASES)('the uniqueness of usernames in a mapped entity on %s', (name) => {
  const dialect = DIALECTS[name];
  let app: TestApplication;

  beforeEach(async () => {
    app = await startForTest(name, mappedUsers({ entity: Person, username: 'email', passwordHash: 'hash' }));
  });

  const create = (username: string) => app.auth.createUser({ username, password: PASSWORD });
  const warnings = (): string[] => app.logs.filter((line) => line.includes('unique index'));
  const stored = (): Promise<object[]> => app.dataSource.query('SELECT email FROM people');

  it('without a unique index, startup warns with the index to create, and createUser() stores nothing until it exists', async () => {
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

  it('a name that another user has in a different case, which the column ignores, is taken, and unknown at a login', async () => {
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
    await app.login('Case@x.de');
    expect(await tryLogin(app, 'case@x.de', PASSWORD)).toBe('invalid_credentials');
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
    await app.dataSource.query(`CREATE ${unique} INDEX names ON people ${index}`);
    if (covers) await create('alice');
    else await expect(create('alice')).rejects.toMatchObject({ code: 'not_supported' });
  });
});
