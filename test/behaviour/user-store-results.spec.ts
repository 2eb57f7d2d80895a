import { hashSync } from 'bcrypt';
import { AUTH_ENTITIES_WITHOUT_USERS, type StoredUser, UserStore } from 'nestjs-session-auth';
import { createDatabase, DATABASES, type TestDatabase } from '../support/databases';
import { Host, PASSWORD } from '../support/host';

const ALICE = { id: '7', username: 'alice', passwordHash: hashSync(PASSWORD, 4), active: true };
const UNAVAILABLE = { detail: 'The user store does not answer.' };

/** Returns what a test asks it to. */
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

describe.each(DATABASES)('a user store with a mistake, with sessions on %s', (name) => {
  let database: TestDatabase;
  let host: Host;

  beforeAll(async () => {
    database = await createDatabase(name);
    const entities = [...AUTH_ENTITIES_WITHOUT_USERS];
    host = await Host.start({ database, entities, users: [], auth: { users: CarelessUsers } });
  });
  afterAll(async () => {
    await host.close();
    await database.drop();
  });
  beforeEach(async () => {
    Object.assign(CarelessUsers, { found: ALICE, isSet: true });
    await host.reset();
  });

  it('that returns numbers as ids without parseId() cannot log in, and the log says what to add', async () => {
    CarelessUsers.found = { ...ALICE, id: 7 };
    await host.http.post('/auth/login').send({ username: 'alice', password: PASSWORD }).expect(503, UNAVAILABLE);
    expect(host.logs.join('\n')).toContain('override parseId(text: string) { return Number(text); }');
  });

  it.each([
    ['undefined', undefined],
    ['an array', [ALICE]],
    ['a user without `active`', { ...ALICE, active: undefined }],
    ['a user whose id is a number', { ...ALICE, id: 7 }],
  ])('that returns %s answers 503 to requests and refreshes, and ends no session', async (_, found) => {
    const { access_token: token, refresh_token: refresh } = await host.login();
    CarelessUsers.found = found;
    const answer = await host.get('/me', token).expect(503);
    expect(answer.body).toEqual(UNAVAILABLE);
    await host.refresh(refresh).expect(503);
    await host.http.post('/auth/login').send({ username: 'alice', password: PASSWORD }).expect(503, UNAVAILABLE);
    expect(host.sent('user_logged_out')).toEqual([]);
    CarelessUsers.found = ALICE;
    await host.get('/me', token).expect(200);
    await host.refresh(refresh).expect(200);
  });

  it('that does not return whether it has set a password or disabled a user answers 503, which is logged', async () => {
    const { access_token: token } = await host.login();
    CarelessUsers.isSet = undefined;
    const change = { current_password: PASSWORD, new_password: 'a password that is new' };
    const answer = await host.post('/auth/password/change', token, change);
    expect([answer.status, answer.body]).toEqual([503, UNAVAILABLE]);
    await expect(host.auth.disableUser('7')).rejects.toMatchObject({ code: 'database_unavailable' });
    const logged = host.logs.join('\n');
    expect(logged).toContain('The user store returned from setPasswordHash() undefined. Return true, or false');
    expect(logged).toContain('The user store returned from setActive() undefined. Return true, or false');
    expect(logged).not.toContain(ALICE.passwordHash);
  });
});
