import { hashSync } from 'bcrypt';
import { AUTH_ENTITIES_WITHOUT_USERS, type StoredUser, UserStore } from 'nestjs-session-auth';
import { createDatabase, DATABASES, type TestDatabase } from '../support/databases';
import { TestApplication, PASSWORD } from '../support/test-application';

const ALICE = { id: '7', username: 'alice', passwordHash: hashSync(PASSWORD, 4), active: true };
const UNAVAILABLE = { detail: 'The user store is unavailable.' };

/** A user store that returns the value that a test sets. */
class CarelessUsers extends UserStore {
  static found: unknown;
  static isSet: unknown;

  override findByUsername(): Promise<StoredUser | null> {
    return Promise.resolve(CarelessUsers.found as StoredUser);
  }

  override findById(): Promise<StoredUser | null> {
    return Promise.resolve(CarelessUsers.found as StoredUser);
  }

  override setPasswordHash(): Promise<boolean> {
    return Promise.resolve(CarelessUsers.isSet as boolean);
  }

  override setActive(): Promise<boolean> {
    return Promise.resolve(CarelessUsers.isSet as boolean);
  }
}

describe.each(DATABASES)('a user store with wrong results, with sessions on %s', (name) => {
  let database: TestDatabase;
  let app: TestApplication;

  beforeAll(async () => {
    database = await createDatabase(name);
    const entities = [...AUTH_ENTITIES_WITHOUT_USERS];
    app = await TestApplication.start({ database, entities, users: [], auth: { users: CarelessUsers } });
  });
  afterAll(async () => {
    await app.close();
    await database.drop();
  });
  beforeEach(async () => {
    Object.assign(CarelessUsers, { found: ALICE, isSet: true });
    await app.reset();
  });

  it('a login fails if the user store returns numbers as ids without parseId(), and the log says what to add', async () => {
    CarelessUsers.found = { ...ALICE, id: 7 };
    await app.http.post('/auth/login').send({ username: 'alice', password: PASSWORD }).expect(503, UNAVAILABLE);
    expect(app.logs.join('\n')).toContain('override parseId(text: string) { return Number(text); }');
  });

  it.each([
    ['undefined', undefined],
    ['an array', [ALICE]],
    ['a user without `active`', { ...ALICE, active: undefined }],
    ['a user whose id is a number', { ...ALICE, id: 7 }],
  ])(
    'a user store that returns %s causes requests and refreshes to fail with 503, and ends no session',
    async (_, found) => {
      const { access_token: token, refresh_token: refresh } = await app.login();
      CarelessUsers.found = found;
      const answer = await app.get('/me', token).expect(503);
      expect(answer.body).toEqual(UNAVAILABLE);
      await app.refresh(refresh).expect(503);
      await app.http.post('/auth/login').send({ username: 'alice', password: PASSWORD }).expect(503, UNAVAILABLE);
      expect(app.sent('user_logged_out')).toEqual([]);
      CarelessUsers.found = ALICE;
      await app.get('/me', token).expect(200);
      await app.refresh(refresh).expect(200);
    },
  );

  it('a call fails with 503 and is logged if the user store does not return whether it stored the change', async () => {
    const { access_token: token } = await app.login();
    CarelessUsers.isSet = undefined;
    const change = { current_password: PASSWORD, new_password: 'a password that is new' };
    const answer = await app.post('/auth/password/change', token, change);
    expect([answer.status, answer.body]).toEqual([503, UNAVAILABLE]);
    await expect(app.auth.disableUser('7')).rejects.toMatchObject({ code: 'database_unavailable' });
    const logged = app.logs.join('\n');
    expect(logged).toContain('setPasswordHash() of the user store returned undefined. Return true, or false');
    expect(logged).toContain('setActive() of the user store returned undefined. Return true, or false');
    expect(logged).not.toContain(ALICE.passwordHash);
  });
});
