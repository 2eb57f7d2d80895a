import { createParamDecorator } from '@nestjs/common';
import { type AuthPrincipal, CurrentPrincipal, CurrentSession, CurrentUser, OptionalAuth } from 'nestjs-session-auth';
import { type FormerToken, FormerTokens, OpenSockets, RequireRecentLogin } from 'nestjs-session-auth';
import { SessionAdministration } from 'nestjs-session-auth';
import { DAY, MINUTE } from '../support/driven-clock';
import { describeHttp, describeOnEachDatabase } from '../support/environment';
import { INVALID_ACCESS as INVALID } from '../support/environment';
import { controllerOf, GUARD, OfRequest, returning } from '../support/handlers';
import { PASSWORD, type TestApplication } from '../support/test-application';

const SESSION_REQUIRED = { detail: 'This call requires a session.', code: 'session_required' };
const CHANGE = { currentPassword: PASSWORD, newPassword: 'a new and better password' };

/** Accepts `former.<user id>.<milliseconds>`, and fails on `former.error`. */
class SignedTokens extends FormerTokens {
  readonly asked: string[] = [];

  verify(token: string): FormerToken | null {
    this.asked.push(token);
    if (token === 'former.error') throw new Error('The key is missing.');
    if (token === 'former.wrong') return { userId: '1' } as FormerToken;
    const [, userId, issuedAt] = /^former\.(.+)\.(\d+)$/.exec(token) ?? [];
    return userId === undefined ? null : { userId, issuedAt: new Date(Number(issuedAt)) };
  }
}

const principals: AuthPrincipal[] = [];
const KeptPrincipal = createParamDecorator((_, context) => principals.push(context.switchToHttp().getRequest().auth));

const Orders = controllerOf('', [GUARD], {
  orders: [returning(CurrentPrincipal(), OfRequest('auth'), OfRequest('user'))],
  user: [returning(CurrentUser())],
  optional: [OptionalAuth(), returning(CurrentPrincipal())],
  session: [returning(CurrentSession())],
  kept: [returning(KeptPrincipal())],
  recent: [RequireRecentLogin({ withinSeconds: 600 })],
});

const formerTokens = new SignedTokens();
const options = { auth: { formerTokens, endpoints: { reauthenticate: true } }, controllers: [Orders] };

/** Returns a former token of a user, issued now. */
async function tokenOf(app: TestApplication, username = 'alice'): Promise<string> {
  return `former.${await app.userId(username)}.${app.clock.now()}`;
}

describeHttp('former tokens', options, ({ app }) => {
  it('guarded and optional routes accept a former token, whose principal has no session', async () => {
    const token = await tokenOf(app);
    const userId = await app.userId();
    const formerToken = { issuedAt: new Date(app.clock.now()).toISOString() };
    const principal = { userId, roles: [], realm: null, formerToken };
    await app.get('/orders', token).expect(200, [principal, principal, { id: userId, username: 'alice' }]);
    expect((await app.get('/user', token).expect(200)).body).toMatchObject([{ username: 'alice' }]);
    await app.get('/optional', token).expect(200, [principal]);
    const { access_token } = await app.login();
    expect((await app.get('/orders', access_token).expect(200)).body[0]).toMatchObject({ userId, actor: null });
  });

  it('a former token that is refused, and that of an unknown user, gets the response of an invalid access token', async () => {
    const unknown = `former.00000000-0000-4000-8000-000000000000.${app.clock.now()}`;
    for (const token of ['other', unknown, 'former.x.1', 'former.error', 'former.wrong'])
      for (const path of ['/orders', '/optional']) await app.get(path, token).expect(401, INVALID);
  });

  it('a failure of the application is logged once a minute', async () => {
    app.clock.advance(MINUTE);
    for (let i = 0; i < 3; i++) await app.get('/orders', 'former.error').expect(401, INVALID);
    app.clock.advance(MINUTE);
    await app.get('/orders', 'former.wrong').expect(401, INVALID);
    expect(app.logs.filter((line) => line.includes('formerTokens failed'))).toEqual([
      expect.stringContaining('The key is missing.'),
      expect.stringContaining('verify() must return null or { userId: string, number or bigint, issuedAt: Date }'),
    ]);
  });

  it('the application is not asked about tokens with the form of the library', async () => {
    const { access_token: token, refresh_token: refresh } = await app.login();
    await app.post('/auth/logout', token).expect(200);
    formerTokens.asked.length = 0;
    for (const ended of [token, refresh, `${token}x`, 'nsaa_former'])
      await app.get('/orders', ended).expect(401, INVALID);
    expect(formerTokens.asked).toEqual([]);
  });

  it("everything that needs a session refuses a former token, and so do the library's routes", async () => {
    const token = await tokenOf(app);
    for (const path of ['/session', '/auth/sessions', '/auth/history'])
      await app.get(path, token).expect(403, SESSION_REQUIRED);
    const body = { current_password: PASSWORD, new_password: CHANGE.newPassword, password: PASSWORD };
    for (const path of ['logout', 'logout/all', 'password/change', 'reauthenticate'])
      await app.post(`/auth/${path}`, token, body).expect(403, SESSION_REQUIRED);
    const detail = 'A recent login is required.';
    await app.get('/recent', token).expect(403, { detail, code: 'recent_login_required' });
    await app.login();
  });

  it('the methods of AuthService that need a session refuse its principal', async () => {
    const { auth } = app;
    const principal = { userId: await app.userId(), roles: [], realm: null } as unknown as AuthPrincipal;
    for (const call of [
      () => auth.logout(principal),
      () => auth.logoutAll(principal),
      () => auth.currentSession(principal),
      () => auth.reauthenticate(principal, PASSWORD),
      () => auth.confirmIdentity(principal, { methods: ['otp'] }),
      () => auth.changePassword(principal, CHANGE),
      () => auth.attempt({ principal, method: 'otp' }, {}, () => true),
    ]) {
      await expect(call()).rejects.toMatchObject({ code: 'session_required' });
    }
  });
});

describeOnEachDatabase('the user of a former token', options, ({ app }) => {
  it.each<[string, (userId: string) => Promise<unknown>]>([
    [
      'a password change',
      async (id) => {
        await app.auth.changePassword(await app.principal((await app.login()).access_token), CHANGE);
        await app.auth.resetPassword(id, PASSWORD);
      },
    ],
    ['a password reset', (id) => app.auth.resetPassword(id, PASSWORD)],
    ['endSessions', (id) => app.auth.endSessions(id)],
    ['an administrator', (userId) => app.nest.get(SessionAdministration).end({ userId }, { actor: 'carol' })],
    ['logout/all', async () => app.post('/auth/logout/all', (await app.login()).access_token).expect(200)],
    ['reuse of a refresh token', () => app.reuseToken()],
    ['disabling and enabling the user', async (id) => [await app.auth.disableUser(id), await app.auth.enableUser(id)]],
  ])('%s refuses the tokens from before, and not those from after or those of other users', async (_, end) => {
    const [before, bob] = [await tokenOf(app), await tokenOf(app, 'bob')];
    await app.get('/orders', before).expect(200);
    app.clock.advance(1000);
    await end(await app.userId());
    await app.get('/orders', before).expect(401, INVALID);
    await app.get('/orders', bob).expect(200);
    app.clock.advance(1000);
    await app.get('/orders', await tokenOf(app)).expect(200);
  });

  it('the end of one session does not refuse former tokens, and a disabled user is refused', async () => {
    const token = await tokenOf(app);
    app.clock.advance(1000);
    await app.post('/auth/logout', (await app.login()).access_token).expect(200);
    await app.get('/orders', token).expect(200);
    await app.setActive('alice', false);
    await app.get('/orders', token).expect(401, INVALID);
    await app.setActive('alice', true);
  });

  it('sockets that were opened with a former token close at the next check after it is refused', async () => {
    const sockets = app.nest.get(OpenSockets);
    const [alice, bob] = [jest.fn(), jest.fn()];
    principals.length = 0;
    for (const username of ['alice', 'bob']) await app.get('/kept', await tokenOf(app, username)).expect(200);
    sockets.register(principals[0]!, alice);
    const unregister = sockets.register(principals[1]!, bob);
    expect(await sockets.check()).toBe(0);
    app.clock.advance(DAY);
    await app.auth.endSessions(await app.userId());
    expect(await sockets.check()).toBe(1);
    expect([alice, bob].map(({ mock }) => mock.calls.length)).toEqual([1, 0]);
    unregister();
  });
});
