import { AuthSession, OpenSockets, SessionAdministration } from 'nestjs-session-auth';
import { randomUUID } from 'node:crypto';
import { EndSessions } from '../../libs/auth/src/sessions/end-sessions';
import { MINUTE, SECOND } from '../support/driven-clock';
import { describeOnEachDatabase } from '../support/environment';
import { actAsBob, DrivenImpersonationPolicy, type Impersonated } from '../support/impersonation';
import { type LoginAnswer, PASSWORD, type TestApplication } from '../support/test-application';

const policy = new DrivenImpersonationPolicy();
const auth = { impersonationPolicy: policy };
const users = ['alice', 'bob', 'carol'];

beforeEach(() => policy.reset());

const administer = (app: TestApplication): SessionAdministration => app.nest.get(SessionAdministration);
const rows = (app: TestApplication): Promise<number> => app.dataSource.getRepository(AuthSession).count();
const isAccepted = async (app: TestApplication, token: string): Promise<boolean> =>
  (await app.auth.authenticate(token)) !== null;

/** Returns the events of a user about impersonations, oldest first, with their address and details. */
async function recorded(app: TestApplication, userId: string): Promise<[string, string | null, object][]> {
  const { items } = await administer(app).history(userId);
  const found = items.filter(({ event }) => event.startsWith('impersonation'));
  return found.reverse().map(({ event, ipAddress, extra }) => [event, ipAddress, extra]);
}

describeOnEachDatabase('an impersonation', { auth, users }, ({ app, start, tap }) => {
  let alice: string;
  let bob: string;
  beforeAll(async () => {
    [alice, bob] = [await app.userId(), await app.userId('bob')];
  });

  it('an administrator acts as the user, in a session whose principal names the administrator', async () => {
    const { principal, administrator, accessToken, accessTokenExpiresAt, sessionId, userId } = await actAsBob(app);
    const actor = { userId: alice, sessionId: administrator.session_id, reason: 'ticket 7' };
    expect(principal).toMatchObject({
      userId: bob,
      sessionId,
      actor,
      authenticatedAt: new Date(0),
      methods: {},
      data: {},
    });
    expect([userId, accessTokenExpiresAt.getTime() - app.clock.now()]).toEqual([bob, 15 * MINUTE]);
    const own = (await app.auth.authenticate(administrator.access_token))!;
    expect(own.actor).toBeNull();
    expect(policy.asked).toEqual([
      [
        { id: alice, username: 'alice' },
        { id: bob, username: 'bob' },
        { reason: 'ticket 7', seconds: 900 },
      ],
    ]);
    const [listed] = (await app.get('/auth/sessions', accessToken).expect(200)).body;
    expect(listed).toMatchObject({
      impersonated: true,
      ip_address: null,
      last_ip_address: null,
      browser_family: 'Other',
    });
    expect((await administer(app).list({ userId: bob })).items).toMatchObject([{ impersonated: true }]);
    expect((await app.auth.exportUserData(bob)).sessions).toMatchObject([{ impersonated: true, ipAddress: null }]);
    expect(app.sent('user_logged_in').map((sent) => sent.userId)).toEqual([alice]);
  });

  it('both histories record the start of an impersonation, each without the address of the other', async () => {
    const { sessionId } = await actAsBob(app);
    const details = { session_id: sessionId, reason: 'ticket 7' };
    expect(await recorded(app, bob)).toEqual([['impersonation_started', null, { ...details, actor: alice }]]);
    expect(await recorded(app, alice)).toEqual([['impersonation_started', '192.0.2.9', { ...details, user_id: bob }]]);
    expect(await app.dataSource.query(`SELECT event FROM auth_events WHERE user_agent = 'console'`)).toHaveLength(1);
  });

  const changePassword = async ({ access_token: token }: LoginAnswer): Promise<unknown> => {
    const own = (await app.auth.authenticate(token))!;
    app.clock.advance(SECOND);
    return app.auth.changePassword(own, { currentPassword: PASSWORD, newPassword: PASSWORD });
  };

  const ENDS: Readonly<Record<string, [end: (opened: Impersonated) => Promise<unknown>, reason: string]>> = {
    'a logout with its token': [({ principal }) => app.auth.logout(principal, { ipAddress: '192.0.2.9' }), 'logout'],
    'the owner': [({ sessionId }) => app.auth.revokeSession(bob, sessionId), 'user'],
    'a logout everywhere': [
      async () => app.post('/auth/logout/all', (await app.login('bob')).access_token).expect(200),
      'logout_all',
    ],
    'a password change': [
      async () => {
        const token = (await app.login('bob')).access_token;
        await app
          .post('/auth/password/change', token, { current_password: PASSWORD, new_password: PASSWORD })
          .expect(200);
      },
      'password_change',
    ],
    'a password reset': [() => app.auth.resetPassword(bob, PASSWORD), 'password_reset'],
    endSessions: [() => app.auth.endSessions(bob), 'application'],
    'another administrator': [() => administer(app).end({ userId: bob }, { actor: 'carol' }), 'admin'],
    'disabling the user': [() => app.auth.disableUser(bob), 'user_disabled'],
    'a user disabled in the table': [
      async ({ accessToken }) => {
        await app.setActive('bob', false);
        expect(await app.auth.authenticate(accessToken, { ipAddress: '192.0.2.9' })).toBeNull();
      },
      'user_disabled',
    ],
    'reuse of a refresh token of the user': [
      async () => {
        const { refresh_token: used } = await app.login('bob');
        await app.refresh(used).expect(200);
        await app.refresh(used).expect(400);
      },
      'token_reuse',
    ],
    'its end, seen by a list': [
      async () => {
        app.clock.advance(15 * MINUTE);
        expect(await app.auth.listSessions(bob)).toEqual([]);
      },
      'expired',
    ],
    'its end, seen by pruning': [
      async () => {
        app.clock.advance(15 * MINUTE);
        await app.pruning.prune();
        await app.pruning.prune();
      },
      'expired',
    ],
    "the end of the administrator's session, seen by a request": [
      async ({ administrator, accessToken }) => {
        await app.post('/auth/logout', administrator.access_token).expect(200);
        await Promise.all([1, 2, 3].map(() => app.get('/me', accessToken).expect(401)));
      },
      'actor_session_ended',
    ],
    "the end of the administrator's session, seen by a list": [
      async ({ administrator }) => {
        await app.auth.revokeSession(alice, administrator.session_id);
        expect(await app.auth.listSessions(bob)).toEqual([]);
      },
      'actor_session_ended',
    ],
    "the administrator's password change": [
      async ({ administrator, accessToken }) => {
        await changePassword(administrator);
        await app.get('/me', accessToken).expect(401);
      },
      'actor_session_ended',
    ],
    'disabling the administrator': [
      async ({ accessToken }) => {
        await app.setActive('alice', false);
        await app.get('/me', accessToken).expect(401);
      },
      'actor_session_ended',
    ],
  };

  it.each(Object.keys(ENDS))('an impersonation ends by %s, and each history records the end once', async (way) => {
    const [end, reason] = ENDS[way]!;
    const opened = await actAsBob(app);
    await end(opened);
    await app.setActive('alice', true);
    await app.setActive('bob', true);
    await app.get('/me', opened.accessToken).expect(401);
    expect((await app.storedEnd(opened.sessionId)).end_reason).toBe(reason);
    const details = { session_id: opened.sessionId, reason, ...(reason === 'admin' ? { ended_by: 'carol' } : {}) };
    const [, ...ofBob] = await recorded(app, bob);
    const [, ...ofAlice] = await recorded(app, alice);
    expect(ofBob.map(([event, , extra]) => [event, extra])).toEqual([
      ['impersonation_ended', { ...details, actor: alice }],
    ]);
    const address = reason === 'logout' ? '192.0.2.9' : null;
    expect(ofAlice).toEqual([['impersonation_ended', address, { ...details, user_id: bob }]]);
    expect(JSON.stringify((await administer(app).history(bob)).items)).not.toContain('192.0.2.9');
    const ends = app.sent('user_logged_out').filter(({ session }) => session.id === opened.sessionId);
    expect(ends).toMatchObject([{ userId: bob, reason, session: { impersonated: true } }]);
  });

  it("forgetting the user leaves the end in the administrator's history, and forgetting the administrator in the user's", async () => {
    await actAsBob(app);
    await app.auth.forgetUser(bob);
    expect((await recorded(app, alice)).map(([event]) => event)).toEqual([
      'impersonation_started',
      'impersonation_ended',
    ]);
    expect((await administer(app).history(bob)).items).toEqual([]);
    const { accessToken } = await actAsBob(app);
    await app.auth.forgetUser(alice);
    expect(await isAccepted(app, accessToken)).toBe(false);
    expect((await app.auth.exportUserData(alice)).events).toEqual([]);
    expect((await recorded(app, bob)).map(([event]) => event)).toEqual([
      'impersonation_started',
      'impersonation_ended',
    ]);
  });

  it("an impersonation ends on another instance with the administrator's session, which closes its sockets there", async () => {
    const other = await start({ auth });
    const { administrator, accessToken, sessionId } = await actAsBob(app);
    const closed: string[] = [];
    other.nest.get(OpenSockets).register((await other.auth.authenticate(accessToken))!, () => void closed.push('bob'));
    await other.nest.get(OpenSockets).check();
    expect(closed).toEqual([]);
    await app.post('/auth/logout', administrator.access_token).expect(200);
    // As if the instance had no right to end sessions.
    jest.spyOn(other.nest.get(EndSessions), 'end').mockRejectedValueOnce(new Error('denied'));
    await other.nest.get(OpenSockets).check();
    expect(closed).toEqual(['bob']);
    await other.get('/me', accessToken).expect(401);
    expect(await app.storedEnd(sessionId)).toEqual({ state: 'revoked', end_reason: 'actor_session_ended' });
    expect([...app.sent('user_logged_out'), ...other.sent('user_logged_out')]).toHaveLength(2);
  });

  it("an impersonation is live while the administrator's access token is expired or replaced", async () => {
    const { administrator, accessToken } = await actAsBob(app, 3_600);
    await app.refresh(administrator.refresh_token).expect(200);
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
    const { administrator } = await actAsBob(app);
    await app.login('bob');
    expect(app.sent('user_logged_in').map(({ newDevice }) => newDevice)).toEqual([false, false]);
    expect(administrator.token_type).toBe('Bearer');
    const [stored] = await app.dataSource.query(
      `SELECT login_network, last_network FROM auth_sessions WHERE actor IS NOT NULL`,
    );
    expect({ ...stored }).toEqual({ login_network: '', last_network: null });
  });

  it.each<[string, () => unknown, object]>([
    ['refuses', () => false, { code: 'impersonation_refused' }],
    ['throws', () => JSON.parse('{'), { code: 'database_unavailable' }],
    ['returns nothing', () => undefined, { code: 'database_unavailable' }],
    ['returns a text', () => 'yes', { code: 'database_unavailable' }],
    ['does not answer', () => new Promise(() => undefined), { code: 'database_unavailable' }],
  ])('no impersonation opens if the policy %s', async (_, answer, error) => {
    policy.answer = answer;
    await expect(actAsBob(app)).rejects.toMatchObject(error);
    expect([await rows(app), await recorded(app, bob)]).toEqual([1, []]);
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
    const own = (await app.auth.authenticate((await app.login()).access_token))!;
    const open = administer(app).impersonate(own, await target(), { reason: 'ticket 7', ...given });
    await expect(open).rejects.toMatchObject({ code });
    await app.setActive('carol', true);
    expect([await rows(app), policy.asked]).toEqual([1, []]);
  });

  describe('an attack', () => {
    const impersonate = (token: string, seconds?: number) =>
      app.auth
        .authenticate(token)
        .then(async (own) =>
          administer(app).impersonate(own!, bob, { reason: 'ticket 7', ...(seconds ? { seconds } : {}) }),
        );

    it("an impersonation does not outlive the administrator's session, whatever its activity", async () => {
      const { access_token: token, session_id: id } = await app.login();
      const end = app.clock.now() + 10 * MINUTE;
      await app.dataSource.getRepository(AuthSession).update({ id }, { absoluteExpiresAt: end });
      const { accessToken, accessTokenExpiresAt } = await impersonate(token, 3_600);
      expect(accessTokenExpiresAt.getTime()).toBe(end);
      for (let minute = 0; minute < 9; minute++) {
        app.clock.advance(MINUTE);
        await app.get('/me', accessToken).expect(200);
      }
      app.clock.advance(MINUTE);
      await app.get('/me', accessToken).expect(401);
    });

    it('an impersonation has no refresh token, and a forged one with its id is refused and is no reuse', async () => {
      const { sessionId, administrator, ...opened } = await actAsBob(app);
      expect(Object.keys(opened)).not.toContain('refreshToken');
      // A token of another session, whose id is replaced, with a valid checksum.
      const { formatRefreshToken } = jest.requireActual<typeof import('../../libs/auth/src/tokens/tokens')>(
        '../../libs/auth/src/tokens/tokens',
      );
      for (const generation of [0, 1]) {
        const claims = { sessionId, familySecret: Buffer.alloc(16), generation };
        await app.refresh(formatRefreshToken(claims, Buffer.alloc(33))).expect(400);
      }
      expect(app.sent('token_reuse_detected')).toEqual([]);
      await app.get('/me', opened.accessToken).expect(200);
      await app.refresh(administrator.refresh_token).expect(200);
    });

    it('an administrator who acts as a user cannot act as another one, even with a principal without the actor', async () => {
      const { principal } = await actAsBob(app);
      const carol = await app.userId('carol');
      const refused = { code: 'not_allowed_while_impersonating' };
      const { userId, sessionId } = principal;
      for (const own of [principal, { ...principal, userId, sessionId, actor: null }])
        await expect(administer(app).impersonate(own, carol, { reason: 'further' })).rejects.toMatchObject(refused);
      expect(policy.asked).toHaveLength(1);
    });

    it('no impersonation opens with the session of another administrator', async () => {
      const own = (await app.auth.authenticate((await app.login()).access_token))!;
      const carol = { ...own, sessionId: (await app.login('carol')).session_id, userId: alice };
      const open = administer(app).impersonate(carol, bob, { reason: 'ticket 7' });
      await expect(open).rejects.toMatchObject({ code: 'access_token_invalid' });
    });

    it.each<[string, (login: LoginAnswer) => Promise<unknown>, string]>([
      [
        'the administrator logs out',
        ({ access_token: token }) => app.post('/auth/logout', token),
        'access_token_invalid',
      ],
      ['the administrator changes the password', changePassword, 'access_token_invalid'],
      ['the administrator is disabled', () => app.setActive('alice', false), 'access_token_invalid'],
      ['the user is disabled', () => app.auth.disableUser(bob), 'unknown_user'],
    ])('no impersonation opens if %s while the policy decides', async (_, change, code) => {
      const login = await app.login();
      const own = (await app.auth.authenticate(login.access_token))!;
      policy.answer = async () => (await change(login), true);
      const open = administer(app).impersonate(own, bob, { reason: 'ticket 7' });
      await expect(open).rejects.toMatchObject({ code });
      await app.setActive('alice', true);
      await app.setActive('bob', true);
      expect([await rows(app), policy.asked.length]).toEqual([1, 1]);
    });

    it('the impersonation policy is asked again if the sessions of the user end while it decides', async () => {
      const own = (await app.auth.authenticate((await app.login()).access_token))!;
      policy.answer = async () => {
        policy.answer = () => false;
        await app.auth.endSessions(bob);
        return true;
      };
      const open = administer(app).impersonate(own, bob, { reason: 'ticket 7' });
      await expect(open).rejects.toMatchObject({ code: 'impersonation_refused' });
      expect(policy.asked).toHaveLength(2);
    });
  });

  it('without the option, impersonate throws, and an impersonation of another instance is refused and not listed, but does not end', async () => {
    const { accessToken, administrator } = await actAsBob(app);
    const other = await start();
    const own = (await other.auth.authenticate(administrator.access_token))!;
    const open = (): Promise<unknown> => administer(other).impersonate(own, bob, { reason: 'ticket 7' });
    await expect(open()).rejects.toThrow('Set the option `impersonationPolicy`.');
    expect(await isAccepted(other, accessToken)).toBe(false);
    expect(await other.auth.listSessions(bob)).toEqual([]);
    expect(await isAccepted(app, accessToken)).toBe(true);
  });

  it('an impersonation counts towards 1,000 sessions, of which the least recently used one ends', async () => {
    const { session_id: id } = await app.login('bob');
    const row = await app.dataSource.getRepository(AuthSession).findOneByOrFail({ id });
    const copies = Array.from({ length: 999 }, () => ({
      ...row,
      id: randomUUID(),
      lastActivity: row.lastActivity + 1,
    }));
    for (let i = 0; i < 999; i += 111) await app.dataSource.getRepository(AuthSession).insert(copies.slice(i, i + 111));
    app.clock.advance(SECOND);
    const { accessToken } = await actAsBob(app);
    expect(await app.storedEnd(id)).toMatchObject({ end_reason: 'session_policy' });
    await app.login('bob');
    await app.get('/me', accessToken).expect(200);
    expect(await app.auth.listSessions(bob)).toHaveLength(1_000);
    const addresses = await app.dataSource.query(
      `SELECT 1 FROM auth_events WHERE event = 'forced_logout' AND ip_address = '192.0.2.9'`,
    );
    expect(addresses).toEqual([]);
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
      await app.get('/me', first.access_token).expect(200);
      await app.post('/auth/logout', first.access_token).expect(200);
      const second: LoginAnswer = await app.login('bob');
      const own = (await app.auth.authenticate(administrator.access_token))!;
      await administer(app).impersonate(own, await app.userId('bob'), { reason: 'ticket 8' });
      for (const token of [accessToken, second.access_token]) await app.get('/me', token).expect(200);
      expect(await app.auth.listSessions(await app.userId('bob'))).toHaveLength(3);
    });
  });
});
