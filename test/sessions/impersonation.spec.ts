import { type AuthPrincipal, AuthSession, OpenSockets, SessionAdministration } from 'nestjs-session-auth';
import { randomUUID } from 'node:crypto';
import { EndSessions } from '../../libs/auth/src/sessions/end-sessions';
import { formatRefreshToken } from '../../libs/auth/src/tokens/tokens';
import { MINUTE, SECOND } from '../support/driven-clock';
import { describeOnEachDatabase } from '../support/environment';
import { actAsBob, DrivenImpersonationPolicy, type Impersonated } from '../support/impersonation';
import { type LoginAnswer, PASSWORD } from '../support/test-application';

const policy = new DrivenImpersonationPolicy();
const auth = { impersonationPolicy: policy };
const users = ['alice', 'bob', 'carol'];

beforeEach(() => policy.reset());

describeOnEachDatabase('an impersonation', { auth, users }, ({ app, start, tap }) => {
  let administration: SessionAdministration;
  let alice: string;
  let bob: string;
  beforeAll(async () => {
    administration = app.nest.get(SessionAdministration);
    [alice, bob] = [await app.userId(), await app.userId('bob')];
  });
  afterEach(async () => {
    for (const username of users) await app.setActive(username, true);
  });

  const rows = (): Promise<number> => app.dataSource.getRepository(AuthSession).count();
  /** Opens a session of alice, and returns its principal. */
  const openAlice = async () => app.principal((await app.login()).access_token);
  const impersonate = (own: AuthPrincipal, userId = bob, given: object = {}) =>
    administration.impersonate(own, userId, { reason: 'ticket 7', ...given });

  /** Returns the events of a user about impersonations, oldest first, with their address and details. */
  async function recorded(userId: string): Promise<[string, string | null, object][]> {
    const { items } = await administration.history(userId);
    const found = items.filter(({ event }) => event.startsWith('impersonation'));
    return found.reverse().map(({ event, ipAddress, extra }) => [event, ipAddress, extra]);
  }

  it('an administrator acts as the user, in a session whose principal names the administrator', async () => {
    const { principal, administrator, accessToken, accessTokenExpiresAt, sessionId, userId } = await actAsBob(app);
    const actor = { userId: alice, sessionId: administrator.session_id, reason: 'ticket 7' };
    const proofs = { authenticatedAt: new Date(0), methods: {}, data: {} };
    expect(principal).toMatchObject({ userId: bob, sessionId, actor, ...proofs });
    expect([userId, accessTokenExpiresAt.getTime() - app.clock.now()]).toEqual([bob, 15 * MINUTE]);
    expect((await app.principal(administrator.access_token)).actor).toBeNull();
    const asked = [
      { id: alice, username: 'alice' },
      { id: bob, username: 'bob' },
      { reason: 'ticket 7', seconds: 900 },
    ];
    expect(policy.asked).toEqual([asked]);
    const [listed] = (await app.get('/auth/sessions', accessToken).expect(200)).body;
    const client = { ip_address: null, last_ip_address: null, browser_family: 'Other' };
    expect(listed).toMatchObject({ impersonated: true, ...client });
    expect((await administration.list({ userId: bob })).items).toMatchObject([{ impersonated: true }]);
    expect((await app.auth.exportUserData(bob)).sessions).toMatchObject([{ impersonated: true, ipAddress: null }]);
    expect(app.sent('user_logged_in').map((sent) => sent.userId)).toEqual([alice]);
  });

  it('both histories record the start of an impersonation, each without the address of the other', async () => {
    const { sessionId } = await actAsBob(app);
    const details = { session_id: sessionId, reason: 'ticket 7' };
    expect(await recorded(bob)).toEqual([['impersonation_started', null, { ...details, actor: alice }]]);
    expect(await recorded(alice)).toEqual([['impersonation_started', '192.0.2.9', { ...details, user_id: bob }]]);
    expect(await app.dataSource.query(`SELECT event FROM auth_events WHERE user_agent = 'console'`)).toHaveLength(1);
  });

  const changePassword = async (login: LoginAnswer): Promise<unknown> => {
    app.clock.advance(SECOND);
    return app.changePassword(login.access_token).expect(200);
  };
  const expireAndList = async (): Promise<void> => {
    app.clock.advance(15 * MINUTE);
    expect(await app.auth.listSessions(bob)).toEqual([]);
  };
  const expireAndPrune = async (): Promise<void> => {
    app.clock.advance(15 * MINUTE);
    for (let time = 0; time < 2; time++) await app.pruning.prune();
  };
  const expectRefused = ({ accessToken: token }: Impersonated) => app.get('/me', token).expect(401);

  const ENDS: Readonly<Record<string, [reason: string, end: (opened: Impersonated) => Promise<unknown>]>> = {
    'a logout with its token': ['logout', ({ principal }) => app.auth.logout(principal, { ipAddress: '192.0.2.9' })],
    'the owner': ['user', ({ sessionId }) => app.auth.revokeSession(bob, sessionId)],
    'a logout everywhere': [
      'logout_all',
      async () => app.post('/auth/logout/all', (await app.login('bob')).access_token).expect(200),
    ],
    'a password change': ['password_change', async () => changePassword(await app.login('bob'))],
    'a password reset': ['password_reset', () => app.auth.resetPassword(bob, PASSWORD)],
    endSessions: ['application', () => app.auth.endSessions(bob)],
    'another administrator': ['admin', () => administration.end({ userId: bob }, { actor: 'carol' })],
    'disabling the user': ['user_disabled', () => app.auth.disableUser(bob)],
    'a user disabled in the table': [
      'user_disabled',
      async ({ accessToken }) => {
        await app.setActive('bob', false);
        expect(await app.auth.authenticate(accessToken, { ipAddress: '192.0.2.9' })).toBeNull();
      },
    ],
    'reuse of a refresh token of the user': ['token_reuse', () => app.reuseToken('bob')],
    'its end, seen by a list': ['expired', () => expireAndList()],
    'its end, seen by pruning': ['expired', () => expireAndPrune()],
    "the end of the administrator's session, seen by a request": [
      'actor_session_ended',
      async ({ administrator }) => app.post('/auth/logout', administrator.access_token).expect(200),
    ],
    "the end of the administrator's session, seen by a list": [
      'actor_session_ended',
      async ({ administrator }) => {
        await app.auth.revokeSession(alice, administrator.session_id);
        expect(await app.auth.listSessions(bob)).toEqual([]);
      },
    ],
    "the administrator's password change": [
      'actor_session_ended',
      ({ administrator }) => changePassword(administrator),
    ],
    'disabling the administrator': ['actor_session_ended', () => app.setActive('alice', false)],
  };

  it.each(Object.keys(ENDS))('an impersonation ends by %s, and each history records the end once', async (way) => {
    const [reason, end] = ENDS[way]!;
    const opened = await actAsBob(app);
    await end(opened);
    await Promise.all([1, 2, 3].map(() => expectRefused(opened)));
    for (const username of users) await app.setActive(username, true);
    await expectRefused(opened);
    expect((await app.storedEnd(opened.sessionId)).end_reason).toBe(reason);
    const details = { session_id: opened.sessionId, reason, ...(reason === 'admin' ? { ended_by: 'carol' } : {}) };
    const [, ...ofBob] = await recorded(bob);
    const [, ...ofAlice] = await recorded(alice);
    expect(ofBob.map(([event, , extra]) => [event, extra])).toEqual([
      ['impersonation_ended', { ...details, actor: alice }],
    ]);
    const address = reason === 'logout' ? '192.0.2.9' : null;
    expect(ofAlice).toEqual([['impersonation_ended', address, { ...details, user_id: bob }]]);
    expect(JSON.stringify((await administration.history(bob)).items)).not.toContain('192.0.2.9');
    const ends = app.sent('user_logged_out').filter(({ session }) => session.id === opened.sessionId);
    expect(ends).toMatchObject([{ userId: bob, reason, session: { impersonated: true } }]);
  });

  it("forgetting the user leaves the end in the administrator's history, and forgetting the administrator in the user's", async () => {
    const eventsOf = async (userId: string) => (await recorded(userId)).map(([event]) => event);
    const both = ['impersonation_started', 'impersonation_ended'];
    await actAsBob(app);
    await app.auth.forgetUser(bob);
    expect(await eventsOf(alice)).toEqual(both);
    expect((await administration.history(bob)).items).toEqual([]);
    const opened = await actAsBob(app);
    await app.auth.forgetUser(alice);
    await expectRefused(opened);
    expect((await app.auth.exportUserData(alice)).events).toEqual([]);
    expect(await eventsOf(bob)).toEqual(both);
  });

  it("an impersonation ends on another instance with the administrator's session, which closes its sockets there", async () => {
    const other = await start({ auth });
    const { administrator, accessToken, sessionId } = await actAsBob(app);
    const closed: string[] = [];
    const sockets = other.nest.get(OpenSockets);
    sockets.register(await other.principal(accessToken), () => void closed.push('bob'));
    await sockets.check();
    expect(closed).toEqual([]);
    await app.post('/auth/logout', administrator.access_token).expect(200);
    // As if the instance had no right to end sessions.
    jest.spyOn(other.nest.get(EndSessions), 'end').mockRejectedValueOnce(new Error('denied'));
    await sockets.check();
    expect(closed).toEqual(['bob']);
    await other.get('/me', accessToken).expect(401);
    expect(await app.storedEnd(sessionId)).toEqual({ state: 'revoked', end_reason: 'actor_session_ended' });
    expect([...app.sent('user_logged_out'), ...other.sent('user_logged_out')]).toHaveLength(2);
  });

  it("an impersonation is live while the administrator's access token is expired or replaced", async () => {
    const { administrator, accessToken } = await actAsBob(app, 3_600);
    await app.refreshed(administrator);
    app.clock.advance(59 * MINUTE);
    await app.get('/me', accessToken).expect(200);
    app.clock.advance(MINUTE);
    await app.get('/me', accessToken).expect(401);
  });

  it('the option costs the guard one column, and an impersonation costs one more read', async () => {
    const { administrator, accessToken } = await actAsBob(app);
    const reads: string[] = [];
    tap.hook = {
      before: ({ kind, sql, only }) => {
        if ((kind === 'transaction') === tap.isSqlite) reads.push(only?.sql ?? sql);
      },
    };
    await app.auth.authenticate(administrator.access_token);
    expect([reads.length, reads[0]!.replace(/\sFROM .*/s, '').match(/ AS (?!user_\d)\w+/g)!.length]).toEqual([1, 11]);
    await Promise.all(Array.from({ length: 20 }, () => app.auth.authenticate(accessToken)));
    expect(reads.length).toBeLessThan(12);
  });

  it('an impersonation is no new device, makes no network familiar, and does not make a later login one from a new device', async () => {
    const { sessionId } = await actAsBob(app);
    await app.login('bob');
    expect(app.sent('user_logged_in').map(({ newDevice }) => newDevice)).toEqual([false, false]);
    expect(await app.storedSession(sessionId)).toMatchObject({ loginNetwork: '', lastNetwork: null });
  });

  it.each<[string, () => unknown, string]>([
    ['refuses', () => false, 'impersonation_refused'],
    ['throws', () => JSON.parse('{'), 'database_unavailable'],
    ['returns nothing', () => undefined, 'database_unavailable'],
    ['returns a text', () => 'yes', 'database_unavailable'],
    ['does not answer', () => new Promise(() => undefined), 'database_unavailable'],
  ])('no impersonation opens if the policy %s', async (_, answer, code) => {
    policy.answer = answer;
    await expect(actAsBob(app)).rejects.toMatchObject({ code });
    expect([await rows(), await recorded(bob)]).toEqual([1, []]);
  });

  it.each<[string, () => Promise<string>, object, string]>([
    ['an unknown user', async () => randomUUID(), {}, 'unknown_user'],
    ['the administrator', async () => alice, {}, 'invalid_field'],
    ['a user without a reason', async () => bob, { reason: '' }, 'invalid_field'],
    ['a user for more than an hour', async () => bob, { seconds: 3_601 }, 'invalid_field'],
    ['a user for no time', async () => bob, { seconds: 0 }, 'invalid_field'],
    ['a user for a time as text', async () => bob, { seconds: '60' }, 'invalid_field'],
    ['a disabled user', async () => (await app.setActive('carol', false), app.userId('carol')), {}, 'unknown_user'],
  ])('no impersonation opens for %s', async (_, target, given, code) => {
    await expect(impersonate(await openAlice(), await target(), given)).rejects.toMatchObject({ code });
    expect([await rows(), policy.asked]).toEqual([1, []]);
  });

  it("an impersonation does not outlive the administrator's session, whatever its activity", async () => {
    const own = await openAlice();
    const absoluteExpiresAt = app.clock.now() + 10 * MINUTE;
    await app.dataSource.getRepository(AuthSession).update({ id: own.sessionId }, { absoluteExpiresAt });
    const { accessToken, accessTokenExpiresAt } = await impersonate(own, bob, { seconds: 3_600 });
    expect(accessTokenExpiresAt.getTime()).toBe(absoluteExpiresAt);
    for (let minute = 1; minute <= 10; minute++) {
      app.clock.advance(MINUTE);
      await app.get('/me', accessToken).expect(minute < 10 ? 200 : 401);
    }
  });

  it('an impersonation has no refresh token, and a forged one with its id is refused and is no reuse', async () => {
    const { sessionId, administrator, ...opened } = await actAsBob(app);
    expect(Object.keys(opened)).not.toContain('refreshToken');
    for (const generation of [0, 1]) {
      const claims = { sessionId, familySecret: Buffer.alloc(16), generation };
      await app.refresh(formatRefreshToken(claims, Buffer.alloc(33))).expect(400);
    }
    expect(app.sent('token_reuse_detected')).toEqual([]);
    await app.get('/me', opened.accessToken).expect(200);
    await app.refreshed(administrator);
  });

  it('an administrator who acts as a user cannot act as another one, even with a principal without the actor', async () => {
    const { principal } = await actAsBob(app);
    const { userId, sessionId } = principal;
    for (const own of [principal, { ...principal, userId, sessionId, actor: null }]) {
      const opening = impersonate(own, await app.userId('carol'));
      await expect(opening).rejects.toMatchObject({ code: 'not_allowed_while_impersonating' });
    }
    expect(policy.asked).toHaveLength(1);
  });

  it('no impersonation opens with the session of another administrator', async () => {
    const own = { ...(await openAlice()), sessionId: (await app.login('carol')).session_id, userId: alice };
    await expect(impersonate(own)).rejects.toMatchObject({ code: 'access_token_invalid' });
  });

  it.each<[string, string, (login: LoginAnswer) => Promise<unknown>]>([
    [
      'the administrator logs out',
      'access_token_invalid',
      async (login) => app.post('/auth/logout', login.access_token),
    ],
    ['the administrator changes the password', 'access_token_invalid', changePassword],
    ['the administrator is disabled', 'access_token_invalid', () => app.setActive('alice', false)],
    ['the user is disabled', 'unknown_user', () => app.auth.disableUser(bob)],
  ])('no impersonation opens if %s while the policy decides', async (_, code, change) => {
    const login = await app.login();
    const own = await app.principal(login.access_token);
    policy.answer = async () => (await change(login), true);
    await expect(impersonate(own)).rejects.toMatchObject({ code });
    expect([await rows(), policy.asked.length]).toEqual([1, 1]);
  });

  it('the impersonation policy is asked again if the sessions of the user end while it decides', async () => {
    const own = await openAlice();
    policy.answer = async () => {
      policy.answer = () => false;
      await app.auth.endSessions(bob);
      return true;
    };
    await expect(impersonate(own)).rejects.toMatchObject({ code: 'impersonation_refused' });
    expect(policy.asked).toHaveLength(2);
  });

  it('without the option, impersonate throws, and an impersonation of another instance is refused and not listed, but does not end', async () => {
    const { accessToken, administrator } = await actAsBob(app);
    const other = await start();
    const own = await other.principal(administrator.access_token);
    const opening = other.nest.get(SessionAdministration).impersonate(own, bob, { reason: 'ticket 7' });
    await expect(opening).rejects.toThrow('Set the option `impersonationPolicy`.');
    expect(await other.auth.authenticate(accessToken)).toBeNull();
    expect(await other.auth.listSessions(bob)).toEqual([]);
    await app.get('/me', accessToken).expect(200);
  });

  it('an impersonation counts towards 1,000 sessions, of which the least recently used one ends', async () => {
    const { session_id: id } = await app.login('bob');
    const row = await app.storedSession(id);
    const lastActivity = row.lastActivity + 1;
    const copies = Array.from({ length: 999 }, () => ({ ...row, id: randomUUID(), lastActivity }));
    for (let i = 0; i < 999; i += 111) await app.dataSource.getRepository(AuthSession).insert(copies.slice(i, i + 111));
    app.clock.advance(SECOND);
    const { accessToken } = await actAsBob(app);
    expect(await app.storedEnd(id)).toMatchObject({ end_reason: 'session_policy' });
    await app.login('bob');
    await app.get('/me', accessToken).expect(200);
    expect(await app.auth.listSessions(bob)).toHaveLength(1_000);
    const ended = await app.auth.history(bob, { event: ['forced_logout'] });
    expect(ended.map(({ ipAddress }) => ipAddress)).toEqual(['127.0.0.1', null]);
  });
});

describe.each<[string, object]>([
  ['single', { sessionPolicy: 'single' }],
  ['max_count', { sessionPolicy: 'max_count', maxSessions: 1, onSessionLimit: 'reject' }],
])('the policy %s', (_, limited) => {
  describeOnEachDatabase('and impersonations', { auth: { ...auth, ...limited } }, ({ app }) => {
    it('a session policy neither counts nor ends impersonations, which end no session of the user', async () => {
      const first = await app.login('bob');
      const { accessToken, administrator } = await actAsBob(app);
      await app.expectLive(first);
      await app.post('/auth/logout', first.access_token).expect(200);
      const second = await app.login('bob');
      const own = await app.principal(administrator.access_token);
      const bob = await app.userId('bob');
      await app.nest.get(SessionAdministration).impersonate(own, bob, { reason: 'ticket 8' });
      await app.expectLive({ access_token: accessToken }, second);
      expect(await app.auth.listSessions(bob)).toHaveLength(3);
    });
  });
});
