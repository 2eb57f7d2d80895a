import { SessionAdministration, UserStore, type StoredUser } from 'nestjs-session-auth';
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
  UNIQUE_TEXT,
} from '../support/mapped-users';
import { describeOnEachDatabase } from '../support/environment';
import { startForTest } from '../support/start-for-test';
import { type LoginAnswer, PASSWORD } from '../support/test-application';

const Member = entityOf('Member', { id: GENERATED_ID, email: UNIQUE_TEXT, password: TEXT });
const MEMBERS = mappedUsers({ entity: Member, username: 'email', passwordHash: 'password' }, {}, ['alice']);

const Person = entityOf('Person', { id: TEXT_ID, name: UNIQUE_TEXT, hash: TEXT });
const PEOPLE = mappedUsers({ entity: Person, username: 'name', passwordHash: 'hash' });

/** Users whose name is their primary key. */
const LoginName = entityOf('LoginName', { name: TEXT_ID, hash: OPTIONAL_TEXT });
const hasher = new CountingHasher();
const LOGIN_NAMES = mappedUsers(
  { entity: LoginName, username: 'name', passwordHash: 'hash' },
  { passwordHasher: hasher },
  ['alice', 'bob'],
);

const HASH = hashSync(PASSWORD, 4);
const NEW = 'a password that is new';
const CHANGE = { current_password: PASSWORD, new_password: NEW };

describe.each(DATABASES)("users in the application's own table on %s", (name) => {
  it('a request is refused if the user id stored in its session has a different type than the ids of the users', async () => {
    const app = await startForTest(name, MEMBERS);
    const [older, current] = [await app.login(), await app.login()];
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
    expect(app.emittedEnds()).toEqual(sessions.map(({ session_id: id }) => [id, 'user_deleted']).sort());
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
      const app = await startForTest(name, LOGIN_NAMES);
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
});

class MemoryUsers extends UserStore {
  static readonly alice = { id: '7', username: 'alice', passwordHash: HASH, active: true };
  static before: (() => unknown) | null = null;
  static meanwhile: (() => unknown) | null = null;

  override findByUsername(username: string): Promise<StoredUser | null> {
    return Promise.resolve(username === 'alice' ? { ...MemoryUsers.alice } : null);
  }

  override findById(id: string): Promise<StoredUser | null> {
    return Promise.resolve(id === '7' ? { ...MemoryUsers.alice } : null);
  }

  override async setPasswordHash(_id: string, passwordHash: string): Promise<boolean> {
    await MemoryUsers.before?.();
    MemoryUsers.alice.passwordHash = passwordHash;
    await MemoryUsers.meanwhile?.();
    return true;
  }
}

const STORE_UNAVAILABLE = { detail: 'The user store is unavailable.' };
const fail = (): Promise<never> => Promise.reject(new Error('the directory is away'));

describeOnEachDatabase('users in an external store', storedUsers(MemoryUsers), ({ app, tap }) => {
  let other: LoginAnswer;
  let current: LoginAnswer;
  beforeEach(async () => {
    Object.assign(MemoryUsers.alice, { passwordHash: HASH, active: true });
    Object.assign(MemoryUsers, { before: null, meanwhile: null });
    [other, current] = [await app.login(), await app.login()];
  });

  const change = () => app.post('/auth/password/change', current.access_token, CHANGE);
  const states = async (): Promise<string[]> => {
    const rows: { state: string }[] = await app.dataSource.query('SELECT state FROM auth_sessions');
    return rows.map(({ state }) => state);
  };
  const passwordEvents = (): Promise<object[]> =>
    app.dataSource.query("SELECT event FROM auth_events WHERE event LIKE 'password%'");
  const endOf = ({ session_id: id }: LoginAnswer, reason = 'password_change'): string[] => [id, reason];

  it('users in an external store log in, and lose their sessions when disabled', async () => {
    const { access_token: token, refresh_token: refresh } = await app.refreshed(current);
    await app.get('/me', token).expect(200);
    MemoryUsers.alice.active = false;
    await app.refresh(refresh).expect(400);
    expect(app.emittedEnds()).toEqual([endOf(other, 'user_disabled'), endOf(current, 'user_disabled')].sort());
    MemoryUsers.alice.active = true;
    await app.get('/me', token).expect(401);
  });

  it('a password in an external store is changed after the sessions have ended, so that no session survives the change', async () => {
    const changed = (await change().expect(200)).body;
    for (const { access_token: token } of [other, current]) await app.get('/me', token).expect(401);
    await app.refresh(current.refresh_token).expect(400);
    await app.get('/me', changed.access_token).expect(200);
    await app.login('alice', NEW);
    expect(app.sent('password_changed')).toHaveLength(1);
  });

  it('a session that keeps its tokens continues, whether the external store sets the password or fails', async () => {
    const principal = (await app.auth.authenticate(current.access_token))!;
    const passwords = { currentPassword: PASSWORD, newPassword: NEW };
    const keep = () => app.auth.changePassword(principal, passwords, {}, { keepTokens: true });
    MemoryUsers.before = fail;
    await expect(keep()).rejects.toMatchObject({ code: 'database_unavailable' });
    expect(await app.auth.authenticate(current.access_token)).toEqual(principal);
    MemoryUsers.before = null;
    expect(await keep()).toBeNull();
    expect(await app.auth.authenticate(current.access_token)).toEqual(principal);
  });

  it.each(['change', 'reset'])(
    'if the external store sets the password but fails, a session that was opened with the old password in between ends: %s',
    async (way) => {
      const sessions = [other, current];
      MemoryUsers.before = async () => sessions.push(await app.login());
      MemoryUsers.meanwhile = fail;
      if (way === 'change') await change().expect(503);
      else await expect(app.auth.resetPassword('7', NEW)).rejects.toThrow(STORE_UNAVAILABLE.detail);
      expect(app.emittedEnds().map(([id]) => id)).toEqual(sessions.map(({ session_id: id }) => id).sort());
      expect(await states()).toEqual(['revoked', 'revoked', 'revoked']);
      expect([app.sent('password_changed'), await passwordEvents()]).toEqual([[], []]);
    },
  );

  it('if the external store fails and then the database, the error of the store is reported', async () => {
    MemoryUsers.before = () => {
      tap.hook.before = () => Promise.reject(new Error('out of order'));
      return fail();
    };
    await change().expect(503, STORE_UNAVAILABLE);
  });

  it('if the database fails after the external store has set the password, the current session ends', async () => {
    let failures = 0;
    MemoryUsers.meanwhile = () => {
      tap.hook.before = ({ kind }) => {
        if (kind === 'statement' && failures++ === 0) throw new Error('out of order');
      };
    };
    await change().expect(503);
    expect(app.sent('password_changed')).toEqual([{ userId: '7', session: null }]);
    expect(app.emittedEnds()).toEqual([endOf(other), endOf(current)].sort());
    expect(await states()).toEqual(['revoked', 'revoked']);
    await app.login('alice', NEW);
  });

  it('a password change is recorded and emitted even if the current session ended in the meantime', async () => {
    const administration = app.nest.get(SessionAdministration);
    MemoryUsers.meanwhile = () => administration.end({ userId: '7' }, { actor: 'carol' });
    await change().expect(401);
    expect(app.sent('password_changed')).toEqual([{ userId: '7', session: null }]);
    expect(app.emittedEnds()).toEqual([endOf(other), endOf(current, 'admin')].sort());
    expect(await passwordEvents()).toEqual([{ event: 'password_change' }]);
    await app.login('alice', NEW);
  });
});
