import { AUTH_ENTITIES_WITHOUT_USERS, AuthUser } from 'nestjs-session-auth';
import { Column, DataSource, Entity, PrimaryColumn } from 'typeorm';
import { createDatabase, describeOn, type TestDatabase } from '../support/databases';
import { PASSWORD, TestApplication } from '../support/test-application';

const MODE = 'NO_BACKSLASH_ESCAPES';

@Entity('natural_members')
class NaturalMember {
  @PrimaryColumn({ type: 'varchar' }) name!: string;
  @Column({ type: 'varchar', nullable: true }) hash!: string | null;
}

interface Pool {
  on(event: 'acquire', listener: (connection: { query(sql: string): void }) => void): void;
}

/** Sets the mode on every connection that is taken from a pool, those that are already open included. */
function setModeOfServer(dataSource: DataSource): void {
  const driver = dataSource.driver as unknown as { createPool(...args: unknown[]): Promise<Pool>; pool: Pool };
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

describeOn('mysql')('a %s server on which backslashes are not escapes', (name) => {
  let database: TestDatabase;
  let app: TestApplication;

  beforeEach(async () => void (database = await createDatabase(name)));
  afterEach(async () => {
    await app.close();
    await database.drop();
  });

  const configure = {
    configure: (nest: { get(type: typeof DataSource): DataSource }) => setModeOfServer(nest.get(DataSource)),
  };

  it('logins and User-Agents run no SQL', async () => {
    app = await TestApplication.start({ database, ...configure });
    for (const username of [...SLEEPING, STEALING]) {
      await app.http.post('/auth/login').send({ username, password: PASSWORD }).expect(400);
    }
    await app.dataSource.query('DELETE FROM auth_events');
    await app.login('alice', PASSWORD, "x\\', '{}', 1), ('evil', 'login_success', NULL, 'y', '{}', 2) #");
    expect(await app.dataSource.query('SELECT event FROM auth_events')).toEqual([{ event: 'login_success' }]);
  });

  it.each(['outside', 'inside'])(
    'createUser %s a transaction of the application stores names unchanged',
    async (where) => {
      app = await TestApplication.start({ database, ...configure });
      const names = [...SLEEPING, STEALING];
      for (const username of names) {
        const user = { username, password: PASSWORD };
        if (where === 'outside') await app.auth.createUser(user);
        else await app.dataSource.transaction((manager) => app.auth.inTransaction(manager).createUser(user));
      }
      const users = await app.dataSource.getRepository(AuthUser).find();
      expect(users.map(({ username }) => username).sort()).toEqual(['alice', 'bob', ...names].sort());
      const [{ mode }] = await app.dataSource.query('SELECT @@sql_mode AS mode');
      expect(mode).toBe(MODE);
    },
  );

  it('loadUser runs no SQL in an id', async () => {
    const users = { entity: NaturalMember, username: 'name', passwordHash: 'hash' };
    const entities = [NaturalMember, ...AUTH_ENTITIES_WITHOUT_USERS];
    app = await TestApplication.start({ database, entities, users: ['alice'], auth: { users }, ...configure });
    const opened = await app.auth.login({ username: 'alice', password: PASSWORD });
    const principal = (await app.auth.authenticate(opened.accessToken))!;
    expect(await app.auth.loadUser(principal)).toMatchObject({ name: 'alice' });
    for (const userId of SLEEPING) expect(await app.auth.loadUser({ ...principal, userId })).toBeNull();
  });
});
