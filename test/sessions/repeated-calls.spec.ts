import { SessionAdministration, type StoredUser, UserStore } from 'nestjs-session-auth';
import { hashSync } from 'bcrypt';
import { EndSessions } from '../../libs/auth/src/sessions/end-sessions';
import { describeOnEachDatabase, type TestEnvironment } from '../support/environment';
import { DrivenImpersonationPolicy } from '../support/impersonation';
import { storedUsers } from '../support/mapped-users';
import { startForTest } from '../support/start-for-test';
import { PASSWORD, type TestApplication } from '../support/test-application';

/** Authenticates a token as often as one GraphQL operation with 200 aliases does. */
const authenticateOften = (app: TestApplication, token: string) =>
  Promise.all(Array.from({ length: 200 }, () => app.auth.authenticate(token)));

describeOnEachDatabase('200 parallel calls', { auth: { refreshReuseGraceSeconds: 10 } }, (env: TestEnvironment) => {
  it('the first use of an access token is stored once or twice, although many calls are its first use', async () => {
    const { app, tap } = env;
    const { refresh_token, session_id: id } = await app.login();
    const { body } = await app.refresh(refresh_token).expect(200);
    let stored = 0;
    const isStore = (sql = ''): boolean => /^UPDATE .*auth_sessions.* SET .first_used_at. = /s.test(sql);
    tap.hook = { before: ({ kind, sql }) => void (kind === 'statement' && isStore(sql) && stored++) };
    const found = await authenticateOften(app, (body as { access_token: string }).access_token);
    expect(new Set(found.map((principal) => principal?.sessionId))).toEqual(new Set([id]));
    expect((await app.storedSession(id)).firstUsedAt).toBe(app.clock.now());
    // A call whose lookup ends late may store it again.
    expect(stored).toBeLessThanOrEqual(2);
  });

  it('the sessions of an inactive user end in one or two transactions, although many calls find the user inactive', async () => {
    const { app } = env;
    const { access_token: token } = await app.login();
    await app.setActive('alice', false);
    const end = jest.spyOn(app.nest.get(EndSessions), 'endForInactiveAccount');
    expect(new Set(await authenticateOften(app, token))).toEqual(new Set([null]));
    expect(end.mock.calls.length).toBeLessThanOrEqual(2);
    end.mockRestore();
    await app.setActive('alice', true);
    expect(app.sent('user_logged_out')).toHaveLength(1);
  });
});

class CountingUsers extends UserStore {
  lookups = 0;
  private readonly alice = { id: '7', username: 'alice', passwordHash: hashSync(PASSWORD, 4), active: true };

  override findByUsername(): Promise<StoredUser> {
    return Promise.resolve(this.alice);
  }

  override findById(id: string): Promise<StoredUser> {
    this.lookups++;
    return Promise.resolve({ ...this.alice, id });
  }
}

it('a user store reads the user once for the calls that share a lookup of the session, and each call has a copy', async () => {
  const users = new CountingUsers();
  const app = await startForTest('sqlite', storedUsers(users));
  const { access_token: token } = await app.login();
  users.lookups = 0;
  const found = await authenticateOften(app, token);
  expect(found.every((principal) => principal?.userId === '7')).toBe(true);
  // The first call reads the session alone, and all others together.
  expect(users.lookups).toBe(2);
});

it('a user store also reads an administrator who acts as a user once for the calls that share a lookup', async () => {
  const users = new CountingUsers();
  const { auth, ...others } = storedUsers(users);
  const impersonationPolicy = new DrivenImpersonationPolicy();
  const app = await startForTest('sqlite', { ...others, auth: { ...auth, impersonationPolicy } });
  const administrator = (await app.auth.authenticate((await app.login()).access_token))!;
  const administration = app.nest.get(SessionAdministration);
  const { accessToken } = await administration.impersonate(administrator, '8', { reason: 'ticket 7' });
  users.lookups = 0;
  const found = await authenticateOften(app, accessToken);
  expect(found.every((principal) => principal?.actor?.userId === '7')).toBe(true);
  // As above, for each of the two users.
  expect(users.lookups).toBeLessThanOrEqual(4);
});
