import { SessionAdministration, type StoredUser, UserStore } from 'nestjs-session-auth';
import { hashSync } from 'bcrypt';
import { EndSessions } from '../../libs/auth/src/sessions/end-sessions';
import { describeOnEachDatabase } from '../support/environment';
import { DrivenImpersonationPolicy } from '../support/impersonation';
import { storedUsers } from '../support/mapped-users';
import { startForTest } from '../support/start-for-test';
import { PASSWORD, type TestApplication } from '../support/test-application';

/** Authenticates a token as often as one GraphQL operation with 200 aliases does. */
const authenticateOften = (app: TestApplication, token: string) =>
  Promise.all(Array.from({ length: 200 }, () => app.auth.authenticate(token)));

describeOnEachDatabase('200 parallel calls', { auth: { refreshReuseGraceSeconds: 10 } }, ({ app, tap }) => {
  it('the first use of an access token is stored once or twice, although many calls are its first use', async () => {
    const session = await app.login();
    const { access_token: token } = await app.refreshed(session);
    let stored = 0;
    const isStore = (sql: string): boolean => /^UPDATE .*auth_sessions.* SET .first_used_at. = /s.test(sql);
    tap.hook = { before: ({ kind, sql }) => void (kind === 'statement' && isStore(sql) && stored++) };
    const found = await authenticateOften(app, token);
    expect(new Set(found.map((principal) => principal?.sessionId))).toEqual(new Set([session.session_id]));
    expect((await app.storedSession(session.session_id)).firstUsedAt).toBe(app.clock.now());
    // A call whose lookup ends late may store it again.
    expect(stored).toBeLessThanOrEqual(2);
  });

  it('the sessions of an inactive user end in one or two transactions, although many calls find the user inactive', async () => {
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

it('a user store reads the user, and an administrator who acts as the user, once for the calls that share a lookup', async () => {
  const users = new CountingUsers();
  const { auth, ...others } = storedUsers(users);
  const impersonationPolicy = new DrivenImpersonationPolicy();
  const app = await startForTest('sqlite', { ...others, auth: { ...auth, impersonationPolicy } });
  const { access_token: token } = await app.login();
  users.lookups = 0;
  const found = await authenticateOften(app, token);
  expect(found.every((principal) => principal?.userId === '7')).toBe(true);
  // The first call reads the session alone, and all others together.
  expect(users.lookups).toBe(2);
  const own = await app.principal(token);
  const { accessToken } = await app.nest.get(SessionAdministration).impersonate(own, '8', { reason: 'ticket 7' });
  users.lookups = 0;
  const acting = await authenticateOften(app, accessToken);
  expect(acting.every((principal) => principal?.actor?.userId === '7')).toBe(true);
  // As above, for each of the two users.
  expect(users.lookups).toBeLessThanOrEqual(4);
});
