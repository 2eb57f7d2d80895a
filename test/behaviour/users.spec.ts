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
import { Host, PASSWORD } from '../support/host';

@Entity('members')
class Member {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ type: 'varchar' })
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

  @Column({ type: 'varchar' })
  name!: string;

  @Column({ type: 'varchar' })
  hash!: string;
}

/** Ids that the database may pad with blanks. SQLite has none. */
@Entity('clerks')
class Clerk {
  @PrimaryColumn({ type: 'char', length: 8 })
  id!: string;

  @Column({ type: 'varchar' })
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

  it('are not those of a session whose stored id has another type', async () => {
    const database = await createDatabase(name);
    const host = await Host.start({
      database,
      entities: [Member, ...AUTH_ENTITIES_WITHOUT_USERS],
      users: [],
      auth: { users },
    });
    await host.dataSource.getRepository(Member).insert({ email: 'alice', password: HASH });
    const [older, current] = [await host.login('alice'), await host.login('alice')];
    await host.dataSource.query(
      `UPDATE auth_sessions SET user_id = '1f2b8c1e-0000-4000-8000-000000000000' WHERE id = '${older.session_id}'`,
    );
    const answers = await Promise.all([older, current, current].map((one) => host.get('/me', one.access_token)));
    expect(answers.map(({ status }) => status)).toEqual([401, 200, 200]);
    await host.close();
    await database.drop();
  });

  it("have a lock that changes at each use, so that a cluster's other nodes notice it", async () => {
    const database = await createDatabase(name);
    const host = await Host.start({ database });
    const countOf = async (): Promise<number> =>
      Number((await host.dataSource.query('SELECT lock_count FROM auth_user_locks'))[0].lock_count);
    await host.login();
    const before = await countOf();
    await host.login();
    expect(await countOf()).toBe(before + 1);
    await host.close();
    await database.drop();
  });

  it('log in, with ids of their own type', async () => {
    const database = await createDatabase(name);
    const host = await Host.start({
      database,
      entities: [Member, ...AUTH_ENTITIES_WITHOUT_USERS],
      users: [],
      auth: { users },
    });
    const members = host.dataSource.getRepository(Member);
    await members.insert([
      { email: 'alice', password: HASH },
      { email: 'bob', password: HASH.replace('$2b', '$2y') },
    ]);
    const { access_token: token } = await host.login('alice');
    await host.login('bob');
    expect((await host.get('/me', token)).body).toMatchObject({ id: 1 });
    expect(host.sent('user_logged_in').map(({ userId }) => userId)).toEqual([1, 2]);
    await host.http.post('/auth/login').send({ username: 'Alice', password: PASSWORD }).expect(400);

    const second = await host.login('alice');
    await members.update({ email: 'alice' }, { isActive: false });
    await host.get('/me', token).expect(401);
    await members.update({ email: 'alice' }, { isActive: true });
    await host.get('/me', token).expect(401);
    await host.refresh(second.refresh_token).expect(400);
    expect(host.sent('user_logged_out').map(({ reason }) => reason)).toEqual(['user_disabled', 'user_disabled']);

    const bob = await host.login('bob');
    await members.delete({ email: 'bob' });
    await host.refresh(bob.refresh_token).expect(400);
    expect(
      host
        .sent('user_logged_out')
        .slice(2)
        .map(({ reason, userId }) => [reason, userId]),
    ).toEqual([
      ['user_deleted', 2],
      ['user_deleted', 2],
    ]);
    await host.close();
    await database.drop();
  });

  it('may have text for ids and no column for active', async () => {
    const database = await createDatabase(name);
    const host = await Host.start({
      database,
      entities: [Person, ...AUTH_ENTITIES_WITHOUT_USERS],
      users: [],
      auth: { users: { entity: Person, username: 'name', passwordHash: 'hash' } },
    });
    await host.dataSource.getRepository(Person).insert({ id: 'p-1', name: 'alice', hash: HASH });
    const { access_token: token } = await host.login('alice');
    expect((await host.get('/me', token)).body).toMatchObject({ id: 'p-1' });
    expect(host.sent('user_logged_in')[0]!.userId).toBe('p-1');
    await host.close();
    await database.drop();
  });

  it('may have their name as id, and a new user revives nothing of a deleted one of the same name', async () => {
    const database = await createDatabase(name);
    const host = await Host.start({
      database,
      entities: [LoginName, ...AUTH_ENTITIES_WITHOUT_USERS],
      auth: { users: { entity: LoginName, username: 'name', passwordHash: 'hash' } },
    });
    const sessions = [await host.login(), await host.login()];
    const bob = await host.login('bob');
    const { token: reset } = await host.auth.createPasswordResetToken('alice');
    // The application deletes the row itself and does not call `forgetUser`.
    await host.dataSource.getRepository(LoginName).delete({ name: 'alice' });
    await expect(host.auth.createUser({ username: 'bob', password: PASSWORD })).rejects.toMatchObject({
      code: 'username_taken',
    });
    expect(await host.auth.createUser({ username: 'alice', password: `new ${PASSWORD}` })).toMatchObject({
      id: 'alice',
    });
    expect(await host.auth.listSessions('alice')).toEqual([]);
    expect(await host.auth.history('alice')).toEqual([]);
    for (const { access_token: access, refresh_token: refresh } of sessions) {
      await host.get('/me', access).expect(401);
      await host.refresh(refresh).expect(400);
    }
    await expect(host.auth.redeemPasswordResetToken(reset, PASSWORD)).rejects.toMatchObject({
      code: 'invalid_reset_token',
    });
    expect(endsOf(host).sort()).toEqual(sessions.map(({ session_id: id }) => [id, 'user_deleted']).sort());
    await host.get('/me', bob.access_token).expect(200);
    await host.login('alice', `new ${PASSWORD}`);
    await host.close();
    await database.drop();
  });

  it.each(['itself', 'with forgetUser'])(
    'may have their name as id, and a login of one whom the application deletes %s opens no session of a new user',
    async (deletion) => {
      const database = await createDatabase(name);
      const hasher = new CountingHasher();
      const host = await Host.start({
        database,
        entities: [LoginName, ...AUTH_ENTITIES_WITHOUT_USERS],
        auth: { users: { entity: LoginName, username: 'name', passwordHash: 'hash' } },
        override: (module) => module.overrideProvider(PasswordHasher).useValue(hasher),
      });
      jest.spyOn(hasher, 'verify').mockImplementationOnce(async (password, hash) => {
        await host.dataSource.getRepository(LoginName).delete({ name: 'alice' });
        if (deletion === 'with forgetUser') await host.auth.forgetUser('alice');
        await host.auth.createUser({ username: 'alice', password: `new ${PASSWORD}` });
        return compare(password, hash);
      });
      await host.http.post('/auth/login').send({ username: 'alice', password: PASSWORD }).expect(400);
      expect(await host.auth.listSessions('alice')).toEqual([]);
      await host.login('alice', `new ${PASSWORD}`);
      await host.close();
      await database.drop();
    },
  );

  if (name !== 'sqlite') {
    it('may have ids of a fixed length', async () => {
      const database = await createDatabase(name);
      const host = await Host.start({
        database,
        entities: [Clerk, ...AUTH_ENTITIES_WITHOUT_USERS],
        users: [],
        auth: { users: { entity: Clerk, username: 'name', passwordHash: 'hash' } },
      });
      await host.dataSource.getRepository(Clerk).insert({ id: 'c-1', name: 'alice', hash: HASH });
      for (let login = 0; login < 2; login++) {
        const session = await host.login('alice');
        await host.get('/me', session.access_token).expect(200);
        await host.refresh(session.refresh_token).expect(200);
      }
      await host.close();
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
  it('log in, lose their sessions when disabled, and cannot change a password that the store cannot set', async () => {
    const database = await createDatabase(name);
    const host = await Host.start({
      database,
      entities: [...AUTH_ENTITIES_WITHOUT_USERS],
      users: [],
      auth: { users: MemoryUsers },
    });
    const { access_token: token, refresh_token: refresh } = await host.login();
    await host.get('/me', token).expect(200);
    const next = (await host.refresh(refresh).expect(200)).body;
    await host.post('/auth/password/change', next.access_token, {}).expect(404);
    MemoryUsers.alice.active = false;
    await host.refresh(next.refresh_token).expect(400);
    expect(host.sent('user_logged_out').map(({ reason }) => reason)).toEqual(['user_disabled']);
    MemoryUsers.alice.active = true;
    await host.get('/me', next.access_token).expect(401);
    await host.close();
    await database.drop();
  });
});

describe('a user store', () => {
  it.each([
    ['a class', MemoryUsers],
    ['an instance', new MemoryUsers()],
  ])('is given as %s', async (_, users) => {
    const database = await createDatabase('sqlite');
    const host = await Host.start({ database, entities: [...AUTH_ENTITIES_WITHOUT_USERS], users: [], auth: { users } });
    await host.get('/me', (await host.login()).access_token).expect(200);
    await host.close();
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

describe.each(DATABASES)('a password in an external store, with sessions on %s', (name) => {
  it('is changed after the sessions have ended, so that none survives it', async () => {
    const { host, database } = await hostOf(name);
    const other = await host.login();
    const current = await host.login();
    const change = { current_password: PASSWORD, new_password: 'a password that is new' };
    const changed = (await host.post('/auth/password/change', current.access_token, change).expect(200)).body;
    for (const token of [other.access_token, current.access_token]) await host.get('/me', token).expect(401);
    await host.refresh(current.refresh_token).expect(400);
    await host.get('/me', changed.access_token).expect(200);
    await host.login('alice', change.new_password);
    expect(host.sent('password_changed')).toHaveLength(1);

    ChangingUsers.failing = true;
    const again = { current_password: change.new_password, new_password: PASSWORD };
    const failed = await host.post('/auth/password/change', changed.access_token, again);
    expect([failed.status, failed.body]).toEqual([503, { detail: 'The user store does not answer.' }]);
    await host.get('/me', changed.access_token).expect(401);
    expect(host.sent('password_changed')).toHaveLength(1);
    await host.close();
    await database.drop();
  });

  it('that cannot be set ends the sessions all the same, and emits each end', async () => {
    const { host, database } = await hostOf(name);
    const other = await host.login();
    const current = await host.login();
    ChangingUsers.failing = true;
    const change = { current_password: PASSWORD, new_password: 'a password that is new' };
    await host.post('/auth/password/change', current.access_token, change).expect(503);
    expect(endsOf(host)).toEqual([
      [other.session_id, 'password_change'],
      [current.session_id, 'password_change'],
    ]);
    expect(await statesOf(host)).toEqual(['revoked', 'revoked']);
    ChangingUsers.failing = false;
    await host.login();
    await host.close();
    await database.drop();
  });

  it('is reported as changed although the current session ended meanwhile', async () => {
    const { host, database } = await hostOf(name);
    const other = await host.login();
    const current = await host.login();
    ChangingUsers.meanwhile = async () =>
      void (await host.app.get(SessionAdministration).end({ userId: '7' }, { actor: 'carol' }));
    const change = { current_password: PASSWORD, new_password: 'a password that is new' };
    await host.post('/auth/password/change', current.access_token, change).expect(401);
    expect(host.sent('password_changed')).toEqual([{ userId: '7', session: null }]);
    expect(endsOf(host)).toEqual([
      [current.session_id, 'admin'],
      [other.session_id, 'password_change'],
    ]);
    const [{ n }] = await host.dataSource.query(
      `SELECT COUNT(*) AS n FROM auth_events WHERE event = 'password_change'`,
    );
    expect(Number(n)).toBe(1);
    await host.login('alice', change.new_password);
    await host.close();
    await database.drop();
  });
});

async function hostOf(name: DatabaseName): Promise<{ host: Host; database: TestDatabase }> {
  Object.assign(ChangingUsers, { hash: HASH, failing: false, meanwhile: null });
  const database = await createDatabase(name);
  const auth = { users: ChangingUsers };
  const host = await Host.start({ database, entities: [...AUTH_ENTITIES_WITHOUT_USERS], users: [], auth });
  return { host, database };
}

const endsOf = (host: Host): string[][] =>
  host.sent('user_logged_out').map(({ session, reason }) => [session.id, reason]);

async function statesOf(host: Host): Promise<string[]> {
  const rows: { state: string }[] = await host.dataSource.query('SELECT state FROM auth_sessions ORDER BY state');
  return rows.map(({ state }) => state);
}
