import { hashSync } from 'bcrypt';
import { UserStore } from 'nestjs-session-auth';
import { requestUserOf } from '../../libs/auth/src/sessions/authenticate';
import { storedUsers } from '../support/mapped-users';
import { describeApplication } from '../support/environment';
import { tryLogin } from '../support/spellings';
import { startForTest } from '../support/start-for-test';
import { PASSWORD } from '../support/test-application';

const ALICE = { id: '7', username: 'alice', passwordHash: hashSync(PASSWORD, 4), active: true };
const UNAVAILABLE = { detail: 'The user store is unavailable.' };

/** A user store that returns the values that a test sets. */
class CarelessUsers extends UserStore {
  found: unknown = ALICE;
  created: unknown = ALICE;
  isSet: unknown = true;

  override findByUsername = (): Promise<never> => Promise.resolve(this.found as never);
  override findById = (): Promise<never> => Promise.resolve(this.found as never);
  override create = (): Promise<never> => Promise.resolve(this.created as never);
  override setPasswordHash = (): Promise<never> => Promise.resolve(this.isSet as never);
  override setActive = (): Promise<never> => Promise.resolve(this.isSet as never);
}

const users = new CarelessUsers();
beforeEach(() => void Object.assign(users, { found: ALICE, created: ALICE, isSet: true }));

describeApplication('a user store with wrong results', storedUsers(users), ({ app }) => {
  it.each<[string, unknown, RegExp]>([
    ['undefined', undefined, /returned undefined\. Return \{ id: .* or null if there is no such user/],
    ['an array', [ALICE], /returned an array\. Return/],
    ['a string', 'alice', /returned a string\. Return/],
    ['a user without username', { ...ALICE, username: undefined }, /username is undefined\. Return/],
    ['a user without passwordHash', { ...ALICE, passwordHash: undefined }, /passwordHash is undefined\. Return/],
    ['a user whose active is a number', { ...ALICE, active: 1 }, /active is a number\. Return/],
    ['a user whose usernames are no list', { ...ALICE, usernames: 'ally' }, /usernames is a string\. Return/],
    ['a user whose id is an object', { ...ALICE, id: { hex: '7' } }, /id is an object\. Return/],
    ['a numeric id without parseId()', { ...ALICE, id: 7 }, /parseId\(text: string\) \{ return Number\(text\); \}/],
    ['a bigint id without parseId()', { ...ALICE, id: 7n }, /parseId\(text: string\) \{ return BigInt\(text\); \}/],
    ['a user whose id ends with a space', { ...ALICE, id: '7 ' }, /id ends with a space\..*Return ids without them/],
  ])(
    'a user store that returns %s causes requests, refreshes and logins to fail with 503, ends no session, and the log contains no values',
    async (_, found, message) => {
      const { access_token: token, refresh_token: refresh } = await app.login();
      users.found = found;
      await app.get('/me', token).expect(503, UNAVAILABLE);
      await app.refresh(refresh).expect(503);
      expect(app.logs.join('\n')).toContain('findById() of the user store returned ');
      await app.http.post('/auth/login').send({ username: 'alice', password: PASSWORD }).expect(503, UNAVAILABLE);
      expect(app.logs.join('\n')).toContain('findByUsername() of the user store returned ');
      expect(app.logs.join('\n')).toMatch(message);
      expect(app.logs.filter((line) => line.includes(ALICE.passwordHash) || line.includes('alice'))).toEqual([]);
      expect(app.sent('user_logged_out')).toEqual([]);
      users.found = ALICE;
      await app.get('/me', token).expect(200);
      await app.refresh(refresh).expect(200);
    },
  );

  it('a user of a user store logs in with each of `usernames` and no other name, and no new password contains one', async () => {
    users.found = { ...ALICE, usernames: ['Alice', 'ally'] };
    for (const name of ['alice', 'Alice', 'ally']) expect(await tryLogin(app, name, PASSWORD)).toBe('ok');
    for (const name of ['ALICE', 'bob']) expect(await tryLogin(app, name, PASSWORD)).toBe('invalid_credentials');
    const reset = app.auth.resetPassword('7', 'so ally calls me now');
    await expect(reset).rejects.toMatchObject({ code: 'invalid_field' });
  });

  it.each([undefined, null, 1, { affected: 1 }])(
    'a change of a password or an account fails with 503 and is logged if the user store returns %p',
    async (result) => {
      const { access_token: token } = await app.login();
      users.isSet = result;
      const change = { current_password: PASSWORD, new_password: 'a password that is new' };
      await app.post('/auth/password/change', token, change).expect(503, UNAVAILABLE);
      await expect(app.auth.disableUser('7')).rejects.toMatchObject({ code: 'database_unavailable' });
      const logged = app.logs.join('\n');
      expect(logged).toMatch(
        /setPasswordHash\(\) of the user store returned .*Return true, or false if the user is unknown or the stored hash/,
      );
      expect(logged).toMatch(/setActive\(\) of the user store returned .*true, or false if the user is unknown\./);
      expect(logged).not.toContain(ALICE.passwordHash);
    },
  );

  it('createUser() passes the name, the hash and the additional properties to the user store', async () => {
    users.found = null;
    const create = jest.spyOn(users, 'create');
    const user = { username: 'alice', password: null };
    await app.auth.createUser({ ...user, properties: { fullName: 'Alice' } });
    await app.auth.createUser(user);
    const stored = { username: 'alice', passwordHash: null };
    expect(create.mock.calls).toEqual([[{ ...stored, properties: { fullName: 'Alice' } }], [stored]]);
    create.mockRestore();
  });

  it('createUser() fails with database_unavailable if the user store returns undefined', async () => {
    Object.assign(users, { found: null, created: undefined });
    const create = app.auth.createUser({ username: 'alice', password: null });
    await expect(create).rejects.toMatchObject({ code: 'database_unavailable' });
    expect(app.logs.join('\n')).toContain('create() of the user store returned undefined.');
  });
});

it('loadUser() returns a user with a numeric id and further properties, without the password hash', async () => {
  const users = Object.assign(new CarelessUsers(), { found: { ...ALICE, id: 7, role: 'admin' }, parseId: Number });
  const { auth } = await startForTest('sqlite', storedUsers(users));
  const principal = (await auth.authenticate((await auth.openSession(7)).accessToken))!;
  expect(await auth.loadUser(principal)).toEqual({ id: 7, username: 'alice', active: true, role: 'admin' });
  Object.assign(users, { found: null });
  expect(await auth.loadUser(principal)).toBeNull();
});

it('loadUser() and request.user contain only id, username and active of an instance of a class', async () => {
  /** A document of an ORM, which contains the stored values in another property. */
  class Document {
    readonly $stored: Readonly<Record<string, unknown>> = ALICE;
  }
  for (const key of Object.keys(ALICE)) {
    const get = function (this: Document): unknown {
      return this.$stored[key];
    };
    Object.defineProperty(Document.prototype, key, { get });
  }
  const users = Object.assign(new CarelessUsers(), { found: new Document() });
  const { auth } = await startForTest('sqlite', storedUsers(users));
  const principal = (await auth.authenticate((await auth.openSession('7')).accessToken))!;
  const expected = { id: '7', username: 'alice', active: true };
  expect(await auth.loadUser(principal)).toEqual(expected);
  expect(requestUserOf(principal)).toEqual(expected);
});
