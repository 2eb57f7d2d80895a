import { PasswordHasher, SessionAdministration, UserStore, type StoredUser } from 'nestjs-session-auth';
import { compare, hashSync } from 'bcrypt';
import { CountingHasher } from '../support/counting-hasher';
import { DATABASES } from '../support/databases';
import {
  entityOf,
  GENERATED_ID,
  mappedUsers,
  OPTIONAL_TEXT,
  storedUsers,
  TEXT,
  TEXT_ID,
  TRUE_BY_DEFAULT,
  UNIQUE_TEXT,
} from '../support/mapped-users';
import { describeOnEachDatabase, emittedEnds } from '../support/environment';
import { startForTest } from '../support/start-for-test';
import type { Call } from '../support/tap';
import { type TestApplication, PASSWORD } from '../support/test-application';

const Member = entityOf('Member', {
  id: GENERATED_ID,
  email: UNIQUE_TEXT,
  password: { type: 'varchar', select: false },
  isActive: TRUE_BY_DEFAULT,
});
const MEMBERS = mappedUsers({ entity: Member, username: 'email', passwordHash: 'password', active: 'isActive' });

const Person = entityOf('Person', { id: TEXT_ID, name: UNIQUE_TEXT, hash: TEXT });
const PEOPLE = mappedUsers({ entity: Person, username: 'name', passwordHash: 'hash' });

/** Ids that the database may pad with spaces. SQLite has no such type. */
const Clerk = entityOf('Clerk', { id: { type: 'char', length: 8, primary: true }, name: UNIQUE_TEXT, hash: TEXT });

/** Users whose name is their primary key. */
const LoginName = entityOf('LoginName', { name: TEXT_ID, hash: OPTIONAL_TEXT });
const LOGIN_NAMES = mappedUsers({ entity: LoginName, username: 'name', passwordHash: 'hash' }, {}, ['alice', 'bob']);

const HASH = hashSync(PASSWORD, 4);
const NEW = 'a password that is new';
const CHANGE = { current_password: PASSWORD, new_password: NEW };

describe.each(DATABASES)("users in the application's own table on %s", (name) => {
  it('a request is refused if the user id stored in its session has a different type than the ids of the users', async () => {
    const app = await startForTest(name, MEMBERS);
    await app.dataSource.getRepository(Member).insert({ email: 'alice', password: HASH });
    const [older, current] = [await app.login('alice'), await app.login('alice')];
    await app.dataSource.query(
      `UPDATE auth_sessions SET user_id = '1f2b8c1e-0000-4000-8000-000000000000' WHERE id = '${older.session_id}'`,
    );
    const answers = await Promise.all([older, current, current].map((one) => app.get('/me', one.access_token)));
    expect(answers.map(({ status }) => status)).toEqual([401, 200, 200]);
  });

  it('the lock of a user changes at each use, so that the other nodes of a cluster detect the conflict', async () => {
    const app = await startForTest(name);
    const countOf = async (): Promise<number> =>
      Number((await app.dataSource.query('SELECT lock_count FROM auth_user_locks'))[0].lock_count);
    await app.login();
    const before = await countOf();
    await app.login();
    expect(await countOf()).toBe(before + 1);
  });

  it('users with numeric ids lose their sessions when they are disabled or deleted', async () => {
    const app = await startForTest(name, MEMBERS);
    const members = app.dataSource.getRepository(Member);
    await members.insert(['alice', 'bob'].map((email) => ({ email, password: HASH })));
    const { access_token: token, refresh_token: refresh } = await app.login('alice');
    expect((await app.get('/me', token)).body).toMatchObject({ id: 1 });
    await members.update({ email: 'alice' }, { isActive: false });
    await app.get('/me', token).expect(401);
    await members.update({ email: 'alice' }, { isActive: true });
    await app.get('/me', token).expect(401);
    await app.refresh(refresh).expect(400);
    const bob = await app.login('bob');
    await members.delete({ email: 'bob' });
    await app.refresh(bob.refresh_token).expect(400);
    expect(app.sent('user_logged_out')).toMatchObject([
      { reason: 'user_disabled', userId: 1 },
      { reason: 'user_deleted', userId: 2 },
    ]);
  });

  it('users can have text ids and no column `active`, and an entity of loadUser() can be saved, but contains no hash', async () => {
    const app = await startForTest(name, PEOPLE);
    const people = app.dataSource.getRepository(Person);
    await people.insert({ id: 'p-1', name: 'alice', hash: HASH });
    const { access_token: token } = await app.login('alice');
    expect((await app.get('/me', token)).body).toMatchObject({ id: 'p-1' });
    expect(app.sent('user_logged_in')[0]!.userId).toBe('p-1');
    const person = (await app.auth.loadUser((await app.auth.authenticate(token))!)) as InstanceType<typeof Person>;
    expect(person).toBeInstanceOf(Person);
    expect({ ...person }).toEqual({ id: 'p-1', name: 'alice' });
    expect(JSON.stringify(person)).not.toContain('hash');
    await people.save(person);
    await app.login('alice');
  });

  it('a user whose id is the username inherits nothing from a deleted user with the same name', async () => {
    const app = await startForTest(name, LOGIN_NAMES);
    const sessions = [await app.login(), await app.login()];
    const bob = await app.login('bob');
    const { token: reset } = await app.auth.createPasswordResetToken('alice');
    // The application deletes the row itself and does not call `forgetUser`.
    await app.dataSource.getRepository(LoginName).delete({ name: 'alice' });
    const taken = app.auth.createUser({ username: 'bob', password: PASSWORD });
    await expect(taken).rejects.toMatchObject({ code: 'username_taken' });
    expect(await app.auth.createUser({ username: 'alice', password: NEW })).toMatchObject({ id: 'alice' });
    expect(await app.auth.listSessions('alice')).toEqual([]);
    expect(await app.auth.history('alice')).toEqual([]);
    for (const { access_token: access, refresh_token: refresh } of sessions) {
      await app.get('/me', access).expect(401);
      await app.refresh(refresh).expect(400);
    }
    const redeemed = app.auth.redeemPasswordResetToken(reset, PASSWORD);
    await expect(redeemed).rejects.toMatchObject({ code: 'invalid_reset_token' });
    expect(emittedEnds(app)).toEqual(sessions.map(({ session_id: id }) => [id, 'user_deleted']).sort());
    await app.get('/me', bob.access_token).expect(200);
    await app.login('alice', NEW);
  });

  it('a user who is created with the id of a deleted user inherits neither sessions nor history', async () => {
    const app = await startForTest(name, PEOPLE);
    const create = (username: string) =>
      app.auth.createUser({ username, password: PASSWORD, properties: { id: 'p-1' } });
    await create('alice');
    const { access_token: token } = await app.login('alice');
    await app.dataSource.getRepository(Person).delete({ id: 'p-1' });
    await create('bob');
    await app.get('/me', token).expect(401);
    expect(await app.auth.history('p-1')).toEqual([]);
  });

  it.each(['directly', 'with forgetUser'])(
    'a login during which the application deletes the user %s opens no session for a new user with the same id',
    async (deletion) => {
      const hasher = new CountingHasher();
      const app = await startForTest(name, {
        ...LOGIN_NAMES,
        override: (module) => module.overrideProvider(PasswordHasher).useValue(hasher),
      });
      jest.spyOn(hasher, 'verify').mockImplementationOnce(async (password, hash) => {
        await app.dataSource.getRepository(LoginName).delete({ name: 'alice' });
        if (deletion === 'with forgetUser') await app.auth.forgetUser('alice');
        await app.auth.createUser({ username: 'alice', password: NEW });
        return compare(password, hash);
      });
      await app.http.post('/auth/login').send({ username: 'alice', password: PASSWORD }).expect(400);
      expect(await app.auth.listSessions('alice')).toEqual([]);
      await app.login('alice', NEW);
    },
  );

  if (name !== 'sqlite') {
    it('users can have ids of a fixed length', async () => {
      const app = await startForTest(name, mappedUsers({ entity: Clerk, username: 'name', passwordHash: 'hash' }));
      await app.dataSource.getRepository(Clerk).insert({ id: 'c-1', name: 'alice', hash: HASH });
      for (let login = 0; login < 2; login++) {
        const session = await app.login('alice');
        await app.get('/me', session.access_token).expect(200);
        await app.refresh(session.refresh_token).expect(200);
      }
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
  it.each([
    ['a class', MemoryUsers],
    ['an instance', new MemoryUsers()],
  ])(
    'users of %s log in, lose their sessions when disabled, and cannot change a password that the store cannot set',
    async (_, store) => {
      const app = await startForTest(name, storedUsers(store));
      const { access_token: token, refresh_token: refresh } = await app.login();
      await app.get('/me', token).expect(200);
      const next = (await app.refresh(refresh).expect(200)).body;
      await app.post('/auth/password/change', next.access_token, {}).expect(404);
      MemoryUsers.alice.active = false;
      await app.refresh(next.refresh_token).expect(400);
      expect(app.sent('user_logged_out').map(({ reason }) => reason)).toEqual(['user_disabled']);
      MemoryUsers.alice.active = true;
      await app.get('/me', next.access_token).expect(401);
    },
  );
});

class ChangingUsers extends MemoryUsers {
  static hash = HASH;
  static failing = false;
  static before: (() => Promise<unknown>) | null = null;
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
    await ChangingUsers.before?.();
    ChangingUsers.hash = passwordHash;
    await ChangingUsers.meanwhile?.();
    return true;
  }
}

describeOnEachDatabase('passwords in an external store', storedUsers(ChangingUsers), ({ app, tap }) => {
  beforeEach(() => void Object.assign(ChangingUsers, { hash: HASH, failing: false, before: null, meanwhile: null }));

  it('a password in an external store is changed after the sessions have ended, so that no session survives the change', async () => {
    const other = await app.login();
    const current = await app.login();
    const changed = (await app.post('/auth/password/change', current.access_token, CHANGE).expect(200)).body;
    for (const token of [other.access_token, current.access_token]) await app.get('/me', token).expect(401);
    await app.refresh(current.refresh_token).expect(400);
    await app.get('/me', changed.access_token).expect(200);
    await app.login('alice', NEW);
    expect(app.sent('password_changed')).toHaveLength(1);
  });

  it('if the external store fails to set the password, the sessions end, and each end is emitted', async () => {
    const other = await app.login();
    const current = await app.login();
    ChangingUsers.failing = true;
    const failed = await app.post('/auth/password/change', current.access_token, CHANGE);
    expect([failed.status, failed.body]).toEqual([503, { detail: 'The user store is unavailable.' }]);
    await app.get('/me', current.access_token).expect(401);
    expect(app.sent('password_changed')).toEqual([]);
    expect(emittedEnds(app)).toEqual(
      [
        [other.session_id, 'password_change'],
        [current.session_id, 'password_change'],
      ].sort(),
    );
    expect(await statesOf(app)).toEqual(['revoked', 'revoked']);
    ChangingUsers.failing = false;
    await app.login();
  });

  it('a session that keeps its tokens continues, whether the external store sets the password or fails', async () => {
    const { access_token: token } = await app.login();
    const principal = (await app.auth.authenticate(token))!;
    const change = { currentPassword: CHANGE.current_password, newPassword: CHANGE.new_password };
    const keep = () => app.auth.changePassword(principal, change, {}, { keepTokens: true });
    ChangingUsers.failing = true;
    await expect(keep()).rejects.toMatchObject({ code: 'database_unavailable' });
    expect(await app.auth.authenticate(token)).toEqual(principal);
    ChangingUsers.failing = false;
    expect(await keep()).toBeNull();
    expect(await app.auth.authenticate(token)).toEqual(principal);
  });

  it.each(['change', 'reset'])(
    'if the external store sets the password but fails, a session that was opened with the old password in between ends: %s',
    async (way) => {
      const current = await app.login();
      const opened: string[] = [];
      ChangingUsers.before = async () => void opened.push((await app.login()).session_id);
      ChangingUsers.meanwhile = () => Promise.reject(new Error('the answer was lost'));
      if (way === 'change') await app.post('/auth/password/change', current.access_token, CHANGE).expect(503);
      else await expect(app.auth.resetPassword('7', NEW)).rejects.toThrow('The user store is unavailable.');
      expect(emittedEnds(app).map(([id]) => id)).toEqual([current.session_id, ...opened].sort());
      expect(await statesOf(app)).toEqual(['revoked', 'revoked']);
      const [{ n }] = await app.dataSource.query(`SELECT COUNT(*) AS n FROM auth_events WHERE event LIKE 'password%'`);
      expect(Number(n)).toBe(0);
    },
  );

  it('if the external store fails and then the database, the error of the store is reported', async () => {
    const current = await app.login();
    ChangingUsers.before = () => {
      tap.hook = { before: () => Promise.reject(new Error('out of order')) };
      return Promise.reject(new Error('the directory is away'));
    };
    const { body } = await app.post('/auth/password/change', current.access_token, CHANGE).expect(503);
    expect(body).toEqual({ detail: 'The user store is unavailable.' });
  });

  it('if the database fails after the external store has set the password, the current session ends', async () => {
    const current = await app.login();
    let failures = 0;
    const fail = ({ kind }: Call): void => {
      if (kind === 'statement' && failures++ === 0) throw new Error('out of order');
    };
    ChangingUsers.meanwhile = () => Promise.resolve(void (tap.hook = { before: fail }));
    await app.post('/auth/password/change', current.access_token, CHANGE).expect(503);
    expect(app.sent('password_changed')).toEqual([{ userId: '7', session: null }]);
    expect(emittedEnds(app)).toEqual([[current.session_id, 'password_change']]);
    expect(await statesOf(app)).toEqual(['revoked']);
    await app.login('alice', NEW);
  });

  it('a password change is recorded and emitted even if the current session ended in the meantime', async () => {
    const other = await app.login();
    const current = await app.login();
    ChangingUsers.meanwhile = async () =>
      void (await app.nest.get(SessionAdministration).end({ userId: '7' }, { actor: 'carol' }));
    await app.post('/auth/password/change', current.access_token, CHANGE).expect(401);
    expect(app.sent('password_changed')).toEqual([{ userId: '7', session: null }]);
    expect(emittedEnds(app)).toEqual(
      [
        [current.session_id, 'admin'],
        [other.session_id, 'password_change'],
      ].sort(),
    );
    const [{ n }] = await app.dataSource.query(`SELECT COUNT(*) AS n FROM auth_events WHERE event = 'password_change'`);
    expect(Number(n)).toBe(1);
    await app.login('alice', NEW);
  });
});

async function statesOf(app: TestApplication): Promise<string[]> {
  const rows: { state: string }[] = await app.dataSource.query('SELECT state FROM auth_sessions ORDER BY state');
  return rows.map(({ state }) => state);
}
