import { AuthSession, AuthUser } from 'nestjs-session-auth';
import { DataSource } from 'typeorm';
import { describeOn, type TestDatabase } from '../support/databases';
import { INVALID_CREDENTIALS } from '../support/environment';
import { entityOf, mappedUsers, OPTIONAL_TEXT, TEXT_ID } from '../support/mapped-users';
import { databaseForTest, startForTest } from '../support/start-for-test';
import { PASSWORD, TestApplication, type TestApplicationOptions } from '../support/test-application';

const KANJI = '\u65e5\u672c';
const EMOJI = '\u{1f600}';

/** Logins by name, and what they leave in the history, in a database that cannot store every letter. */
async function loginsWith(database: TestDatabase, representable: string, names: readonly string[]): Promise<void> {
  const app = await TestApplication.start({ database, users: ['alice', representable] });
  const login = (username: string) => app.http.post('/auth/login').send({ username, password: PASSWORD });
  await login(representable).expect(200);
  for (const name of names) await login(name).expect(400, INVALID_CREDENTIALS);
  const id = await app.userId();
  const userAgent = `Mozilla/5.0 (Linux; Android 10; \u00ff${EMOJI}${KANJI}) Firefox/1.0`;
  const opened = await app.auth.login({ username: 'alice', password: PASSWORD }, { userAgent });
  await app.auth.refresh(opened.refreshToken, { userAgent });
  const session = await app.auth.openSession(id, { userAgent }, { methods: ['pwd'], data: { name: KANJI } as object });
  expect((await app.auth.authenticate(session.accessToken))!.data).toEqual({ name: KANJI });
  const [event] = await app.auth.history(id);
  expect(event!.userAgent).toMatch(/^Mozilla\/5\.0 \(Linux; .*\) Firefox/);
  for (const username of names) {
    const creation = app.auth.createUser({ username, password: PASSWORD });
    await expect(creation).rejects.toMatchObject({ code: 'database_unavailable' });
  }
  expect(await app.dataSource.query('SELECT username FROM auth_users')).toHaveLength(2);
  await app.close();
}

describeOn('postgres')('settings of %s', (name) => {
  it.each([
    ['LATIN1', 'jos\u00e9', [KANJI, EMOJI, `alice${KANJI}`]],
    ['EUC_JP', KANJI, [EMOJI, `alice${EMOJI}`]],
  ])(
    'in a database with the encoding %s, a name that it cannot store is refused like an unknown name',
    async (encoding, ok, names) => {
      const database = await databaseForTest(name);
      const other = new URL((database.options as { url: string }).url);
      other.pathname += `_${encoding.toLowerCase()}`;
      const target = other.pathname.slice(1);
      const admin = await new DataSource(database.options).initialize();
      await admin.query(
        `CREATE DATABASE ${target} ENCODING '${encoding}' TEMPLATE template0 LOCALE_PROVIDER libc LOCALE 'C'`,
      );
      try {
        await loginsWith({ ...database, options: { type: 'postgres', url: other.href } }, ok, names);
      } finally {
        await admin.query(`DROP DATABASE ${target} WITH (FORCE)`);
        await admin.destroy();
      }
    },
  );

  it.each(['repeatable read', 'serializable'])(
    'all parallel logins and refreshes succeed with the default isolation level %s',
    async (level) => {
      const users = ['alice', 'bob', 'carol'];
      const database = await databaseForTest(name);
      const first = await new DataSource(database.options).initialize();
      await first.query(`ALTER DATABASE ${first.driver.database} SET default_transaction_isolation = '${level}'`);
      await first.destroy();
      const app = await startForTest(database, { users });
      const shown = await app.dataSource.query('SHOW default_transaction_isolation');
      expect(shown).toEqual([{ default_transaction_isolation: level }]);
      for (let round = 0; round < 4; round++) {
        const logins = await Promise.all(
          Array.from({ length: 18 }, (_, i) => app.auth.login({ username: users[i % 3]!, password: PASSWORD })),
        );
        await Promise.all(logins.map(({ refreshToken }) => app.auth.refresh(refreshToken)));
      }
      expect(await app.dataSource.getRepository(AuthSession).count()).toBe(72);
    },
  );
});

const MODE = 'NO_BACKSLASH_ESCAPES';

const NaturalMember = entityOf('NaturalMember', { name: TEXT_ID, hash: OPTIONAL_TEXT });

/** Sets the mode on every connection that is taken from a pool, those that are already open included. */
function configure(nest: { get(type: typeof DataSource): DataSource }): void {
  interface Pool {
    on(event: 'acquire', listener: (connection: { query(sql: string): void }) => void): void;
  }
  type Driver = { createPool(...args: unknown[]): Promise<Pool>; pool: Pool };
  const driver = nest.get(DataSource).driver as unknown as Driver;
  const create = driver.createPool.bind(driver);
  const withMode = (pool: Pool): Pool => {
    pool.on('acquire', (connection) => connection.query(`SET SESSION sql_mode = '${MODE}'`));
    return pool;
  };
  driver.createPool = async (...args) => withMode(await create(...args));
  withMode(driver.pool);
}

/** A name that would end its literal, and insert the hash of alice, if backslashes were taken for escapes. */
const STEALING =
  "x', 0x6b, (SELECT h FROM (SELECT password_hash AS h FROM auth_users WHERE username = 0x616c696365) t), 1, 1) -- ";
const SLEEPING = ["' OR SLEEP(2)#", "\\' OR SLEEP(2)#", "x\\' OR SLEEP(2) -- "];
const NAMES = [...SLEEPING, STEALING];

describeOn('mysql')('settings of %s', (name) => {
  const withoutEscapes = (options: Partial<TestApplicationOptions> = {}): Promise<TestApplication> =>
    startForTest(name, { configure, ...options });

  it('logins and User-Agents run no SQL on a server on which backslashes are not escapes', async () => {
    const app = await withoutEscapes();
    for (const username of NAMES) {
      await app.http.post('/auth/login').send({ username, password: PASSWORD }).expect(400);
    }
    await app.dataSource.query('DELETE FROM auth_events');
    await app.login('alice', PASSWORD, "x\\', '{}', 1), ('evil', 'login_success', NULL, 'y', '{}', 2) #");
    expect(await app.dataSource.query('SELECT event FROM auth_events')).toEqual([{ event: 'login_success' }]);
  });

  it.each(['outside', 'inside'])(
    'createUser %s a transaction of the application stores names unchanged where backslashes are not escapes',
    async (where) => {
      const app = await withoutEscapes();
      for (const username of NAMES) {
        const user = { username, password: PASSWORD };
        if (where === 'outside') await app.auth.createUser(user);
        else await app.dataSource.transaction((manager) => app.auth.inTransaction(manager).createUser(user));
      }
      const users = await app.dataSource.getRepository(AuthUser).find();
      expect(users.map(({ username }) => username).sort()).toEqual(['alice', 'bob', ...NAMES].sort());
      expect(await app.dataSource.query('SELECT @@sql_mode AS mode')).toEqual([{ mode: MODE }]);
    },
  );

  it('loadUser runs no SQL in an id where backslashes are not escapes', async () => {
    const users = { entity: NaturalMember, username: 'name', passwordHash: 'hash' } as const;
    const { auth } = await withoutEscapes(mappedUsers(users, {}, ['alice']));
    const { accessToken } = await auth.login({ username: 'alice', password: PASSWORD });
    const principal = (await auth.authenticate(accessToken))!;
    expect(await auth.loadUser(principal)).toMatchObject({ name: 'alice' });
    for (const userId of SLEEPING) expect(await auth.loadUser({ ...principal, userId })).toBeNull();
  });

  it('createUser() with a name that the latin1 connection of the application cannot send leaves no row', async () => {
    const database = await databaseForTest(name);
    const options = { ...database.options, charset: 'latin1' } as TestDatabase['options'];
    const app = await startForTest({ ...database, options }, { users: ['jos\u00e9'] });
    for (let i = 0; i < 2; i++) {
      const create = app.auth.createUser({ username: KANJI, password: PASSWORD });
      await expect(create).rejects.toMatchObject({ code: 'not_supported' });
    }
    expect(await app.dataSource.query('SELECT username FROM auth_users')).toHaveLength(1);
    await app.login('jos\u00e9');
  });
});
