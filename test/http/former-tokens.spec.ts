import { Controller, Get, Req, UseGuards } from '@nestjs/common';
import { Query, Resolver } from '@nestjs/graphql';
import {
  type AuthPrincipal,
  type AuthRequest,
  BearerAuthGuard,
  CurrentPrincipal,
  CurrentSession,
  CurrentUser,
  type ExternalPrincipal,
  type FormerToken,
  FormerTokens,
  OpenSockets,
  OptionalAuth,
  RequireRecentLogin,
  SessionAdministration,
} from 'nestjs-session-auth';
import { DAY, MINUTE } from '../support/driven-clock';
import { describeApplication, describeHttp, describeOnEachDatabase, setActive, userIdOf } from '../support/environment';
import { mercurius } from '../support/graphql-connection';
import { PASSWORD, type TestApplication } from '../support/test-application';

const INVALID = { detail: 'Invalid or expired access token.', code: 'access_token_invalid' };
const SESSION_REQUIRED = { detail: 'This call requires a session.', code: 'session_required' };

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

type Principal = AuthPrincipal | ExternalPrincipal;
const principals: Principal[] = [];

@Controller()
@UseGuards(BearerAuthGuard)
class OrdersController {
  @Get('orders')
  orders(@CurrentPrincipal() principal: Principal, @Req() { user }: { user?: { username: string } }): object {
    principals.push(principal);
    return { principal, user: user?.username };
  }

  @Get('user')
  user(@CurrentUser() { username }: { username: string }): object {
    return { username };
  }

  @Get('optional')
  @OptionalAuth()
  optional(@CurrentPrincipal() principal: Principal | null, @Req() { auth }: AuthRequest): object {
    return { userId: principal?.userId ?? null, isSame: auth === principal };
  }

  @Get('session')
  session(@CurrentSession() session: object): object {
    return session;
  }

  @Get('recent')
  @RequireRecentLogin({ withinSeconds: 600 })
  recent(): void {}
}

@Resolver()
class OrdersResolver {
  @Query(() => String)
  @UseGuards(BearerAuthGuard)
  owner(@CurrentUser() { username }: { username: string }): string {
    return username;
  }
}

const formerTokens = new SignedTokens();
const options = { auth: { formerTokens, endpoints: { reauthenticate: true } }, controllers: [OrdersController] };

/** Returns a former token of a user, issued now. */
async function tokenOf(app: TestApplication, username = 'alice'): Promise<string> {
  return `former.${await userIdOf(app, username)}.${app.clock.now()}`;
}

describeHttp('former tokens', options, (env) => {
  it('guarded and optional routes accept a former token, whose principal has no session', async () => {
    const { app } = env;
    const token = await tokenOf(app);
    const userId = await userIdOf(app);
    const formerToken = { issuedAt: new Date(app.clock.now()).toISOString() };
    const principal = { userId, roles: [], realm: null, formerToken };
    await app.get('/orders', token).expect(200, { principal, user: 'alice' });
    await app.get('/user', token).expect(200, { username: 'alice' });
    await app.get('/optional', token).expect(200, { userId, isSame: true });
    const { access_token } = await app.login();
    expect((await app.get('/orders', access_token).expect(200)).body.principal).toMatchObject({ userId, actor: null });
  });

  it('a former token that is refused, and that of an unknown user, gets the response of an invalid access token', async () => {
    const { app } = env;
    const unknown = `former.00000000-0000-4000-8000-000000000000.${app.clock.now()}`;
    for (const token of ['other', unknown, 'former.x.1', 'former.error', 'former.wrong'])
      for (const path of ['/orders', '/optional']) await app.get(path, token).expect(401, INVALID);
  });

  it('a failure of the application is logged once a minute', async () => {
    const { app } = env;
    app.clock.advance(MINUTE);
    for (let i = 0; i < 3; i++) await app.get('/orders', 'former.error').expect(401, INVALID);
    app.clock.advance(MINUTE);
    await app.get('/orders', 'former.wrong').expect(401, INVALID);
    const logged = app.logs.filter((line) => line.includes('formerTokens failed'));
    expect(logged).toEqual([
      expect.stringContaining('The key is missing.'),
      expect.stringContaining('verify() must return null or { userId: string, number or bigint, issuedAt: Date }'),
    ]);
  });

  it('the application is not asked about tokens with the form of the library', async () => {
    const { app } = env;
    const { access_token: token, refresh_token: refresh } = await app.login();
    await app.post('/auth/logout', token).expect(200);
    formerTokens.asked.length = 0;
    for (const ended of [token, refresh, `${token}x`, 'nsaa_former'])
      await app.get('/orders', ended).expect(401, INVALID);
    expect(formerTokens.asked).toEqual([]);
  });

  it("everything that needs a session refuses a former token, and so do the library's routes", async () => {
    const { app } = env;
    const token = await tokenOf(app);
    for (const path of ['/session', '/auth/sessions', '/auth/history'])
      await app.get(path, token).expect(403, SESSION_REQUIRED);
    const change = { current_password: PASSWORD, new_password: 'a new and better password' };
    for (const [path, body] of [
      ['logout', {}],
      ['logout/all', {}],
      ['password/change', change],
      ['reauthenticate', { password: PASSWORD }],
    ] as const)
      await app.post(`/auth/${path}`, token, body).expect(403, SESSION_REQUIRED);
    const detail = 'A recent login is required.';
    await app.get('/recent', token).expect(403, { detail, code: 'recent_login_required' });
    await app.login();
  });

  it('the methods of AuthService that need a session refuse its principal', async () => {
    const { auth } = env.app;
    const principal = { userId: await userIdOf(env.app), roles: [], realm: null } as unknown as AuthPrincipal;
    const calls = [
      () => auth.logout(principal),
      () => auth.logoutAll(principal),
      () => auth.currentSession(principal),
      () => auth.reauthenticate(principal, PASSWORD),
      () => auth.confirmIdentity(principal, { methods: ['otp'] }),
      () => auth.changePassword(principal, { currentPassword: PASSWORD, newPassword: 'a new and better password' }),
      () => auth.attempt({ principal, method: 'otp' }, {}, () => true),
    ];
    for (const call of calls) await expect(call()).rejects.toMatchObject({ code: 'session_required' });
  });
});

describeOnEachDatabase('the user of a former token', options, (env) => {
  const ways: [string, (app: TestApplication, userId: string) => Promise<unknown>][] = [
    [
      'a password change',
      async ({ auth, login }, id) => {
        const { access_token } = await login.call(env.app);
        const change = { currentPassword: PASSWORD, newPassword: 'a new and better password' };
        await auth.changePassword((await auth.authenticate(access_token))!, change);
        await auth.resetPassword(id, PASSWORD);
      },
    ],
    ['a password reset', ({ auth }, id) => auth.resetPassword(id, PASSWORD)],
    ['endSessions', ({ auth }, id) => auth.endSessions(id)],
    ['an administrator', ({ nest }, userId) => nest.get(SessionAdministration).end({ userId }, { actor: 'carol' })],
    ['logout/all', async (app) => app.post('/auth/logout/all', (await app.login()).access_token).expect(200)],
    [
      'reuse of a refresh token',
      async (app) => {
        const { refresh_token: token } = await app.login();
        await app.refresh(token).expect(200);
        await app.refresh(token).expect(400);
      },
    ],
    [
      'disabling and enabling the user',
      async ({ auth }, id) => {
        await auth.disableUser(id);
        await auth.enableUser(id);
      },
    ],
  ];

  it.each(ways)(
    '%s refuses the tokens from before, and not those from after or those of other users',
    async (_, end) => {
      const { app } = env;
      const [before, bob] = [await tokenOf(app), await tokenOf(app, 'bob')];
      await app.get('/orders', before).expect(200);
      app.clock.advance(1000);
      await end(app, await userIdOf(app));
      await app.get('/orders', before).expect(401, INVALID);
      await app.get('/orders', bob).expect(200);
      app.clock.advance(1000);
      await app.get('/orders', await tokenOf(app)).expect(200);
    },
  );

  it('the end of one session does not refuse former tokens, and a disabled user is refused', async () => {
    const { app } = env;
    const token = await tokenOf(app);
    app.clock.advance(1000);
    await app.post('/auth/logout', (await app.login()).access_token).expect(200);
    await app.get('/orders', token).expect(200);
    await setActive(app, 'alice', false);
    await app.get('/orders', token).expect(401, INVALID);
    await setActive(app, 'alice', true);
  });

  it('sockets that were opened with a former token close at the next check after it is refused', async () => {
    const { app } = env;
    const sockets = app.nest.get(OpenSockets);
    principals.length = 0;
    for (const username of ['alice', 'bob']) await app.get('/orders', await tokenOf(app, username)).expect(200);
    const [alice, bob] = [jest.fn(), jest.fn()];
    expect(() => sockets.register(principals[0]!, undefined as never)).toThrow(TypeError);
    sockets.register(principals[0]!, alice);
    const unregister = sockets.register(principals[1]!, bob);
    expect(await sockets.check()).toBe(0);
    app.clock.advance(DAY);
    await app.auth.endSessions(await userIdOf(app));
    expect(await sockets.check()).toBe(1);
    expect(alice).toHaveBeenCalledTimes(1);
    expect(bob).not.toHaveBeenCalled();
    unregister();
  });
});

const graphql = {
  platform: 'fastify' as const,
  imports: [mercurius()],
  auth: { formerTokens },
  providers: [OrdersResolver],
};

describeApplication('former tokens over GraphQL', graphql, (env) => {
  it('a guarded query accepts a former token', async () => {
    const { app } = env;
    const ask = (token: string) => app.post('/graphql', token, { query: '{ owner }' });
    expect((await ask(await tokenOf(app))).body).toEqual({ data: { owner: 'alice' } });
    expect((await ask('other')).body.errors[0].extensions).toMatchObject({ code: 'UNAUTHENTICATED' });
  });

  it('a query with 200 aliases verifies its token once', async () => {
    const { app } = env;
    const verify = jest.spyOn(formerTokens, 'verify');
    const query = `{ ${Array.from({ length: 200 }, (_, i) => `a${i}: owner`).join(' ')} }`;
    const { body } = await app.post('/graphql', await tokenOf(app), { query });
    expect(Object.keys(body.data)).toHaveLength(200);
    expect(verify).toHaveBeenCalledTimes(1);
    verify.mockRestore();
  });
});
