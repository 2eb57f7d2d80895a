import { hashSync } from 'bcrypt';
import { AUTH_ENTITIES_WITHOUT_USERS, BcryptPasswordHasher, UserStore, type StoredUser } from 'nestjs-session-auth';
import { Database } from '../../libs/auth/src/database/database';
import { DIALECTS } from '../support/databases';
import { describeApplication, describeOnEachDatabase } from '../support/environment';
import { PASSWORD } from '../support/test-application';

const SECRET = 'secret-value';

describeOnEachDatabase('the log of a failed statement', {}, ({ app, name }) => {
  beforeAll(async () => {
    await app.dataSource.query('CREATE TABLE shelves (id integer PRIMARY KEY, name varchar(40) NOT NULL UNIQUE)');
    await app.dataSource.query(`INSERT INTO shelves (id, name) VALUES (1, '${SECRET}')`);
  });

  it.each([
    ['a missing table', 'SELECT * FROM cupboards WHERE name = ?', /, table .*cupboards. A table .* withAuthTables/],
    ['a missing column', 'SELECT color FROM shelves WHERE name = ?', /column color. A column is missing. Run/],
    ['a wrong type', "INSERT INTO shelves (name, id) VALUES ('x', ?)", /A value does not match the type of its/],
    [
      'a missing value',
      `INSERT INTO shelves (id, name) SELECT 2, NULLIF(?, '${SECRET}')`,
      /name\. A required column has no value/,
    ],
    ['a duplicate value', 'INSERT INTO shelves (id, name) VALUES (3, ?)', /(constraint|column) .*name/],
  ])('the log of a statement that failed because of %s contains the cause and no value', async (_, sql, line) => {
    const text = DIALECTS[name] === 'postgres' ? sql.replace('?', '$1') : sql;
    const failing = app.nest.get(Database).run(null, { sql: text, params: [SECRET], isPrepared: false });
    await expect(failing).rejects.toMatchObject({ code: 'database_unavailable' });
    const logged = app.logs.join('\n');
    expect(logged).toMatch(line);
    expect(logged).not.toMatch(/secret|SELECT|INSERT/);
  });
});

class FailingUsers extends UserStore {
  private readonly alice = { id: '7', username: 'alice', passwordHash: hashSync(PASSWORD, 4), active: true };

  override async findByUsername(username: string): Promise<StoredUser | null> {
    if (username === 'bob') throw new RangeError('no shelf for bob', { cause: new TypeError('the index is away') });
    return this.alice;
  }

  override findById = async (): Promise<StoredUser | null> => this.alice;
  override setPasswordHash = async (): Promise<boolean> => true;
}

class FailingHasher extends BcryptPasswordHasher {
  static isFailing = false;

  override verify(password: string, hash: string): Promise<boolean> {
    if (FailingHasher.isFailing) throw new RangeError('no memory for Argon2', { cause: new TypeError('the pool') });
    return super.verify(password, hash);
  }
}

const check = (): never => {
  throw new RangeError('the list of breached passwords is away', { cause: new TypeError('no network') });
};

const OPTIONS = {
  entities: [...AUTH_ENTITIES_WITHOUT_USERS],
  users: [],
  auth: { users: FailingUsers, passwordHasher: new FailingHasher(4), passwordPolicy: { check } },
};

describeApplication("the log of a failure in the application's code", OPTIONS, ({ app }) => {
  const login = (username: string) => app.http.post('/auth/login').send({ username, password: PASSWORD });
  afterEach(() => void (FailingHasher.isFailing = false));

  it.each<[string, fail: () => PromiseLike<unknown>, line: RegExp]>([
    [
      'user store',
      () => login('bob').expect(503),
      /The user store failed in findByUsername\(\): RangeError: no shelf for bob[^]* at FailingUsers\.findByUsername [^]*Caused by: TypeError: the index is away\n +at /,
    ],
    [
      'hasher',
      () => {
        FailingHasher.isFailing = true;
        return login('alice').expect(500, { detail: 'Internal server error.' });
      },
      /Unexpected RangeError: no memory for Argon2[^]* at FailingHasher\.verify [^]*Caused by: TypeError: the pool\n +at /,
    ],
    [
      'password check',
      async () => app.changePassword((await app.login()).access_token, 'a password that is new').expect(500),
      /Unexpected RangeError: the list of breached passwords is away[^]* at .*check [^]*Caused by: TypeError: no network\n +at /,
    ],
  ])('the log of a failing %s contains name, message, stack and cause', async (_, fail, line) => {
    await fail();
    expect(app.logs.join('\n')).toMatch(line);
    expect(app.logs.join('\n')).not.toContain('a password that is new');
  });
});
