import {
  AUTH_ENTITIES_WITHOUT_USERS,
  PasswordHasher,
  SessionAdministration,
  UserStore,
  type StoredUser,
} from 'nestjs-session-auth';
import { compare, hashSync } from 'bcrypt';
import { Column, Entity, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';
import { CountingHasher } from '../support/counting-hasher';
import { createDatabase, DATABASES, type DatabaseName, type TestDatabase } from '../support/databases';
import { Tap, type Call } from '../support/tap';
import { TestApplication, PASSWORD } from '../support/test-application';

@Entity('members')
class Member {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ type: 'varchar', unique: true })
  email!: string;

  @Column({ type: 'varchar', select: false })
  password!: string;

  @Column({ type: Boolean, default: true })
  isActive!: boolean;
}

@Entity('people')
class Person {
  @PrimaryColumn('varchar')
  id!: string;

  @Column({ type: 'varchar', unique: true })
  name!: string;

  @Column({ type: 'varchar' })
  hash!: string;
}

/** Ids that the database may pad with spaces. SQLite has no such type. */
@Entity('clerks')
class Clerk {
  @PrimaryColumn({ type: 'char', length: 8 })
  id!: string;

  @Column({ type: 'varchar', unique: true })
  name!: string;

  @Column({ type: 'varchar' })
  hash!: string;
}

/** Users whose name is their primary key. */
@Entity('logins')
class LoginName {
  @PrimaryColumn('varchar')
  name!: string;

  @Column({ type: 'varchar', nullable: true })
  hash!: string | null;
}

const HASH = hashSync(PASSWORD, 4);

describe.each(DATABASES)("users in the application's own table on %s", (name) => {
  const users = { entity: Member, username: 'email', passwordHash: 'password', active: 'isActive' };

  it('a request is refused if the user id stored in its session has a different type than the ids of the users', async () => {
    const database = await createDatabase(name);
    const app = await TestApplication.start({
      database,
      entities: [Member, ...AUTH_ENTITIES_WITHOUT_USERS],
      users: [],
      auth: { users },
    });
    await app.dataSource.getRepository(Member).insert({ email: 'alice', password: HASH });
    const [older, current] = [await app.login('alice'), await app.login('alice')];
    await app.dataSource.query(
      `UPDATE auth_sessions SET user_id = '1f2b8c1e-0000-4000-8000-000000000000' WHERE id = '${older.session_id}'`,
    );
    const answers = await Promise.all([older, current, current].map((one) => app.get('/me', one.access_token)));
    expect(answers.map(({ status }) => status)).toEqual([401, 200, 200]);
    await app.close();
    await database.drop();
  });

  it('the lock of a user changes at each use, so that the other nodes of a cluster detect the conflict', async () => {
    const database = await createDatabase(name);
    const app = await TestApplication.start({ database });
    const countOf = async (): Promise<number> =>
      Number((await app.dataSource.query('SELECT lock_count FROM auth_user_locks'))[0].lock_count);
    await app.login();
    const before = await countOf();
    await app.login();
    expect(await countOf()).toBe(before + 1);
    await app.close();
    await database.drop();
  });

  it('users with numeric ids log in, and lose their sessions when they are disabled or deleted', async () => {
    const database = await createDatabase(name);
    const app = await TestApplication.start({
      database,
      entities: [Member, ...AUTH_ENTITIES_WITHOUT_USERS],
      users: [],
      auth: { users },
    });
    const members = app.dataSource.getRepository(Member);
    await members.insert([
      { email: 'alice', password: HASH },
      { email: 'bob', password: HASH.replace('$2b', '$2y') },
    ]);
    const { access_token: token } = await app.login('alice');
    await app.login('bob');
    expect((await app.get('/me', token)).body).toMatchObject({ id: 1 });
    expect(app.sent('user_logged_in').map(({ userId }) => userId)).toEqual([1, 2]);
    await app.http.post('/auth/login').send({ username: 'Alice', password: PASSWORD }).expect(400);

    const second = await app.login('alice');
    await members.update({ email: 'alice' }, { isActive: false });
    await app.get('/me', token).expect(401);
    await members.update({ email: 'alice' }, { isActive: true });
    await app.get('/me', token).expect(401);
    await app.refresh(second.refresh_token).expect(400);
    expect(app.sent('user_logged_out').map(({ reason }) => reason)).toEqual(['user_disabled', 'user_disabled']);

    const bob = await app.login('bob');
    await members.delete({ email: 'bob' });
    await app.refresh(bob.refresh_token).expect(400);
    expect(
      app
        .sent('user_logged_out')
        .slice(2)
        .map(({ reason, userId }) => [reason, userId]),
    ).toEqual([
      ['user_deleted', 2],
      ['user_deleted', 2],
    ]);
    await app.close();
    await database.drop();
  });

  it('users can have text ids and no column `active`', async () => {
    const database = await createDatabase(name);
    const app = await TestApplication.start({
      database,
      entities: [Person, ...AUTH_ENTITIES_WITHOUT_USERS],
      users: [],
      auth: { users: { entity: Person, username: 'name', passwordHash: 'hash' } },
    });
    await app.dataSource.getRepository(Person).insert({ id: 'p-1', name: 'alice', hash: HASH });
    const { access_token: token } = await app.login('alice');
    expect((await app.get('/me', token)).body).toMatchObject({ id: 'p-1' });
    expect(app.sent('user_logged_in')[0]!.userId).toBe('p-1');
    await app.close();
    await database.drop();
  });

  it('loadUser() returns the entity without the password hash, and saving the entity keeps the hash', async () => {
    const database = await createDatabase(name);
    const app = await TestApplication.start({
      database,
      entities: [Person, ...AUTH_ENTITIES_WITHOUT_USERS],
      users: [],
      auth: { users: { entity: Person, username: 'name', passwordHash: 'hash' } },
    });
    const people = app.dataSource.getRepository(Person);
    await people.insert({ id: 'p-1', name: 'alice', hash: HASH });
    const { access_token: token } = await app.login('alice');
    const person = (await app.auth.loadUser((await app.auth.authenticate(token))!)) as Person;
    expect(person).toBeInstanceOf(Person);
    expect({ ...person }).toEqual({ id: 'p-1', name: 'alice' });
    expect(JSON.stringify(person)).not.toContain('hash');
    await people.save(person);
    await app.login('alice');
    await app.close();
    await database.drop();
  });

  it('a user whose id is the username inherits nothing from a deleted user with the same name', async () => {
    const database = await createDatabase(name);
    const app = await TestApplication.start({
      database,
      entities: [LoginName, ...AUTH_ENTITIES_WITHOUT_USERS],
      auth: { users: { entity: LoginName, username: 'name', passwordHash: 'hash' } },
    });
    const sessions = [await app.login(), await app.login()];
    const bob = await app.login('bob');
    const { token: reset } = await app.auth.createPasswordResetToken('alice');
    // The application deletes the row itself and does not call `forgetUser`.
    await app.dataSource.getRepository(LoginName).delete({ name: 'alice' });
    await expect(app.auth.createUser({ username: 'bob', password: PASSWORD })).rejects.toMatchObject({
      code: 'username_taken',
    });
    expect(await app.auth.createUser({ username: 'alice', password: `new ${PASSWORD}` })).toMatchObject({
      id: 'alice',
    });
    expect(await app.auth.listSessions('alice')).toEqual([]);
    expect(await app.auth.history('alice')).toEqual([]);
    for (const { access_token: access, refresh_token: refresh } of sessions) {
      await app.get('/me', access).expect(401);
      await app.refresh(refresh).expect(400);
    }
    await expect(app.auth.redeemPasswordResetToken(reset, PASSWORD)).rejects.toMatchObject({
      code: 'invalid_reset_token',
    });
    expect(endsOf(app).sort()).toEqual(sessions.map(({ session_id: id }) => [id, 'user_deleted']).sort());
    await app.get('/me', bob.access_token).expect(200);
    await app.login('alice', `new ${PASSWORD}`);
    await app.close();
    await database.drop();
  });

  it.each(['directly', 'with forgetUser'])(
    'a login during which the application deletes the user %s opens no session for a new user with the same id',
    async (deletion) => {
      const database = await createDatabase(name);
      const hasher = new CountingHasher();
      const app = await TestApplication.start({
        database,
        entities: [LoginName, ...AUTH_ENTITIES_WITHOUT_USERS],
        auth: { users: { entity: LoginName, username: 'name', passwordHash: 'hash' } },
        override: (module) => module.overrideProvider(PasswordHasher).useValue(hasher),
      });
      jest.spyOn(hasher, 'verify').mockImplementationOnce(async (password, hash) => {
        await app.dataSource.getRepository(LoginName).delete({ name: 'alice' });
        if (deletion === 'with forgetUser') await app.auth.forgetUser('alice');
        await app.auth.createUser({ username: 'alice', password: `new ${PASSWORD}` });
        return compare(password, hash);
      });
      await app.http.post('/auth/login').send({ username: 'alice', password: PASSWORD }).expect(400);
      expect(await app.auth.listSessions('alice')).toEqual([]);
      await app.login('alice', `new ${PASSWORD}`);
      await app.close();
      await database.drop();
    },
  );

  if (name !== 'sqlite') {
    it('users can have ids of a fixed length', async () => {
      const database = await createDatabase(name);
      const app = await TestApplication.start({
        database,
        entities: [Clerk, ...AUTH_ENTITIES_WITHOUT_USERS],
        users: [],
        auth: { users: { entity: Clerk, username: 'name', passwordHash: 'hash' } },
      });
      await app.dataSource.getRepository(Clerk).insert({ id: 'c-1', name: 'alice', hash: HASH });
      for (let login = 0; login < 2; login++) {
        const session = await app.login('alice');
        await app.get('/me', session.access_token).expect(200);
        await app.refresh(session.refresh_token).expect(200);
      }
      await app.close();
      await database.drop();
    });
  }
});

class MemoryUsers extends UserStore {
  static readonly alice = { id: '7', username: 'alice', passwordHash: HASH, active: true };

  override findByUsername(username: string): Promise<StoredUser | null> {
    return Promise.resolve(username === 'alice' ? MemoryUsers.alice : null);
  }

  override findById(id: string): Promise<StoredUser | null> {
    return Promise.resolve(id === '7' ? { ...MemoryUsers.alice } : null);
  }
}

describe.each(DATABASES)('users in an external store, with sessions on %s', (name) => {
  it('users in an external store log in, lose their sessions when disabled, and cannot change a password that the store cannot set', async () => {
    const database = await createDatabase(name);
    const app = await TestApplication.start({
      database,
      entities: [...AUTH_ENTITIES_WITHOUT_USERS],
      users: [],
      auth: { users: MemoryUsers },
    });
    const { access_token: token, refresh_token: refresh } = await app.login();
    await app.get('/me', token).expect(200);
    const next = (await app.refresh(refresh).expect(200)).body;
    await app.post('/auth/password/change', next.access_token, {}).expect(404);
    MemoryUsers.alice.active = false;
    await app.refresh(next.refresh_token).expect(400);
    expect(app.sent('user_logged_out').map(({ reason }) => reason)).toEqual(['user_disabled']);
    MemoryUsers.alice.active = true;
    await app.get('/me', next.access_token).expect(401);
    await app.close();
    await database.drop();
  });
});

describe('user stores', () => {
  it.each([
    ['a class', MemoryUsers],
    ['an instance', new MemoryUsers()],
  ])('a user store can be %s', async (_, users) => {
    const database = await createDatabase('sqlite');
    const app = await TestApplication.start({
      database,
      entities: [...AUTH_ENTITIES_WITHOUT_USERS],
      users: [],
      auth: { users },
    });
    await app.get('/me', (await app.login()).access_token).expect(200);
    await app.close();
    await database.drop();
  });
});

class ChangingUsers extends MemoryUsers {
  static hash = HASH;
  static failing = false;
  static meanwhile: (() => Promise<void>) | null = null;

  override async findByUsername(username: string): Promise<StoredUser | null> {
    const user = await super.findByUsername(username);
    return user && { ...user, passwordHash: ChangingUsers.hash };
  }

  override async findById(id: string): Promise<StoredUser | null> {
    const user = await super.findById(id);
    return user && { ...user, passwordHash: ChangingUsers.hash };
  }

  override async setPasswordHash(_id: string, passwordHash: string): Promise<boolean> {
    if (ChangingUsers.failing) throw new Error('the directory is away');
    ChangingUsers.hash = passwordHash;
    await ChangingUsers.meanwhile?.();
    return true;
  }
}

describe.each(DATABASES)('passwords in an external store, with sessions on %s', (name) => {
  it('a password in an external store is changed after the sessions have ended, so that no session survives the change', async () => {
    const { app, database } = await startApplication(name);
    const other = await app.login();
    const current = await app.login();
    const change = { current_password: PASSWORD, new_password: 'a password that is new' };
    const changed = (await app.post('/auth/password/change', current.access_token, change).expect(200)).body;
    for (const token of [other.access_token, current.access_token]) await app.get('/me', token).expect(401);
    await app.refresh(current.refresh_token).expect(400);
    await app.get('/me', changed.access_token).expect(200);
    await app.login('alice', change.new_password);
    expect(app.sent('password_changed')).toHaveLength(1);

    ChangingUsers.failing = true;
    const again = { current_password: change.new_password, new_password: PASSWORD };
    const failed = await app.post('/auth/password/change', changed.access_token, again);
    expect([failed.status, failed.body]).toEqual([503, { detail: 'The user store is unavailable.' }]);
    await app.get('/me', changed.access_token).expect(401);
    expect(app.sent('password_changed')).toHaveLength(1);
    await app.close();
    await database.drop();
  });

  it('if the external store fails to set the password, the sessions end, and each end is emitted', async () => {
    const { app, database } = await startApplication(name);
    const other = await app.login();
    const current = await app.login();
    ChangingUsers.failing = true;
    const change = { current_password: PASSWORD, new_password: 'a password that is new' };
    await app.post('/auth/password/change', current.access_token, change).expect(503);
    expect(endsOf(app)).toEqual([
      [other.session_id, 'password_change'],
      [current.session_id, 'password_change'],
    ]);
    expect(await statesOf(app)).toEqual(['revoked', 'revoked']);
    ChangingUsers.failing = false;
    await app.login();
    await app.close();
    await database.drop();
  });

  it('if the database fails after the external store has set the password, the current session ends', async () => {
    const { app, database } = await startApplication(name);
    const current = await app.login();
    const tap = new Tap(app);
    let failures = 0;
    const fail = ({ kind }: Call): void => {
      if (kind === 'statement' && failures++ === 0) throw new Error('out of order');
    };
    ChangingUsers.meanwhile = () => Promise.resolve(void (tap.hook = { before: fail }));
    const change = { current_password: PASSWORD, new_password: 'a password that is new' };
    await app.post('/auth/password/change', current.access_token, change).expect(503);
    expect(app.sent('password_changed')).toEqual([{ userId: '7', session: null }]);
    expect(endsOf(app)).toEqual([[current.session_id, 'password_change']]);
    expect(await statesOf(app)).toEqual(['revoked']);
    await app.login('alice', change.new_password);
    await app.close();
    await database.drop();
  });

  it('a password change is recorded and emitted even if the current session ended in the meantime', async () => {
    const { app, database } = await startApplication(name);
    const other = await app.login();
    const current = await app.login();
    ChangingUsers.meanwhile = async () =>
      void (await app.nest.get(SessionAdministration).end({ userId: '7' }, { actor: 'carol' }));
    const change = { current_password: PASSWORD, new_password: 'a password that is new' };
    await app.post('/auth/password/change', current.access_token, change).expect(401);
    expect(app.sent('password_changed')).toEqual([{ userId: '7', session: null }]);
    expect(endsOf(app)).toEqual([
      [current.session_id, 'admin'],
      [other.session_id, 'password_change'],
    ]);
    const [{ n }] = await app.dataSource.query(`SELECT COUNT(*) AS n FROM auth_events WHERE event = 'password_change'`);
    expect(Number(n)).toBe(1);
    await app.login('alice', change.new_password);
    await app.close();
    await database.drop();
  });
});

async function startApplication(name: DatabaseName): Promise<{ app: TestApplication; database: TestDatabase }> {
  Object.assign(ChangingUsers, { hash: HASH, failing: false, meanwhile: null });
  const database = await createDatabase(name);
  const auth = { users: ChangingUsers };
  const app = await TestApplication.start({ database, entities: [...AUTH_ENTITIES_WITHOUT_USERS], users: [], auth });
  return { app, database };
}

const endsOf = (app: TestApplication): string[][] =>
  app.sent('user_logged_out').map(({ session, reason }) => [session.id, reason]);

async function statesOf(app: TestApplication): Promise<string[]> {
  const rows: { state: string }[] = await app.dataSource.query('SELECT state FROM auth_sessions ORDER BY state');
  return rows.map(({ state }) => state);
}
