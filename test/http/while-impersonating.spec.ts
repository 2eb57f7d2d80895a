import { Controller, Param, Post } from '@nestjs/common';
import { ApiKeys, AuthCookies, type AuthPrincipal, CurrentPrincipal, type Impersonation } from 'nestjs-session-auth';
import { RequireRecentLogin, SessionAdministration, socketAccessToken, type TokenPair } from 'nestjs-session-auth';
import { ACCESS, Browser, cookiesIn, REFRESH } from '../support/browser';
import { bearer, describeEverywhere, describeHttp } from '../support/environment';
import { GUARD } from '../support/handlers';
import { actAsBob, DrivenImpersonationPolicy } from '../support/impersonation';
import { PASSWORD, type TestApplication } from '../support/test-application';

@Controller()
@GUARD
class SupportController {
  constructor(private readonly administration: SessionAdministration) {}

  @Post('act-as/:id')
  actAs(@CurrentPrincipal() principal: AuthPrincipal, @Param('id') id: string): Promise<Impersonation> {
    return this.administration.impersonate(principal, id, { reason: 'ticket 7' });
  }

  @Post('sensitive')
  @RequireRecentLogin({ withinSeconds: 600 })
  sensitive(): void {
    // The guard decides.
  }
}

const auth = { impersonationPolicy: new DrivenImpersonationPolicy(), endpoints: { reauthenticate: true } };
const controllers = [SupportController];
const REFUSED = { detail: 'Not allowed while you act as a user.', code: 'not_allowed_while_impersonating' };
const CHANGE = { current_password: PASSWORD, new_password: PASSWORD };

type Call = (app: TestApplication, token: string, principal: AuthPrincipal) => Promise<unknown>;

const post =
  (path: string, body?: object): Call =>
  (app, token) =>
    app.post(path, token, body).expect(403, REFUSED);

const rejects =
  (call: (app: TestApplication, principal: AuthPrincipal) => unknown): Call =>
  (app, _, principal) =>
    // A method that throws rejects too.
    expect((async () => call(app, principal))()).rejects.toMatchObject({ code: REFUSED.code });

const REFUSALS: Readonly<Record<string, Call>> = {
  'password/change/': post('/auth/password/change', CHANGE),
  'reauthenticate/': post('/auth/reauthenticate', { password: PASSWORD }),
  'logout/all/': post('/auth/logout/all'),
  'logout/all/ except the current session': post('/auth/logout/all', { keep_current: true }),
  'DELETE of another session': async (app, token) => {
    const { session_id: id } = await app.login('bob');
    await app.delete(`/auth/sessions/${id}`, token).expect(403, REFUSED);
  },
  'DELETE of an unknown session': (app, token) => app.delete('/auth/sessions/x', token).expect(403, REFUSED),
  '@RequireRecentLogin()': post('/sensitive'),
  impersonate: async (app, token) => app.post(`/act-as/${await app.userId()}`, token, {}).expect(403, REFUSED),
  changePassword: rejects((app, own) =>
    app.auth.changePassword(own, { currentPassword: PASSWORD, newPassword: PASSWORD }, {}, { keepTokens: true }),
  ),
  reauthenticate: rejects((app, own) => app.auth.reauthenticate(own, PASSWORD)),
  confirmIdentity: rejects((app, own) => app.auth.confirmIdentity(own, { methods: ['otp'] })),
  attempt: rejects((app, principal) => app.auth.attempt({ principal, method: 'otp' }, {}, () => true)),
  logoutAll: rejects((app, own) => app.auth.logoutAll(own)),
  'endSessions except the own session': rejects((app, { userId, sessionId: except }) =>
    app.auth.endSessions(userId, { except }),
  ),
  'ApiKeys.create': rejects((app, own) => app.nest.get(ApiKeys).create(own, { name: 'a script', scopes: ['a'] })),
  'ApiKeys.revoke': rejects((app, own) => app.nest.get(ApiKeys).revoke(own, own.sessionId)),
  assertMayEndSessions: rejects((app, own) => app.auth.assertMayEndSessions(own)),
  assertRecentLogin: rejects((app, own) => app.auth.assertRecentLogin(own, 600)),
};

describeEverywhere('while an administrator acts as a user', { auth, controllers }, ({ app }) => {
  it.each(Object.keys(REFUSALS))(
    '%s is refused while an administrator acts as the user, and changes nothing',
    async (name) => {
      const { accessToken, principal, administrator } = await actAsBob(app);
      const bob = await app.login('bob');
      const before = await app.history(bob.access_token);
      await REFUSALS[name]!(app, accessToken, principal);
      await app.expectLive({ access_token: accessToken }, bob, administrator);
      const added = (await app.history(bob.access_token)).slice(0, -before.length);
      expect(added.filter(({ event }) => event !== 'login_success')).toEqual([]);
      expect(app.sent('login_failed')).toEqual([]);
    },
  );

  it("logout/ ends an impersonation and nothing else, and so does DELETE of the own session, without the administrator's client in the user's history", async () => {
    for (const leave of [
      (token: string) => app.post('/auth/logout', token),
      (token: string, id: string) => app.delete(`/auth/sessions/${id.toUpperCase()}`, token),
    ]) {
      const { accessToken, sessionId, administrator, principal } = await actAsBob(app);
      expect(await app.auth.updateSessionData(principal, { tenant: 'acme' })).toEqual({ tenant: 'acme' });
      await leave(accessToken, sessionId).set('User-Agent', 'console of alice').expect(200);
      await app.get('/me', accessToken).expect(401);
      const { items } = await app.nest.get(SessionAdministration).history(principal.userId, { limit: 1 });
      expect(items).toMatchObject([{ event: 'impersonation_ended', ipAddress: null, userAgent: '' }]);
      expect((await app.history(administrator.access_token))[0]!.user_agent).toBe('console of alice');
      await app.get('/me', administrator.access_token).expect(200);
      await app.refresh(administrator.refresh_token).expect(200);
    }
  });
});

describe.each(['optional', 'only'] as const)('cookies: %s', (mode) => {
  describeHttp('and impersonation', { auth: { ...auth, cookies: { mode } }, controllers }, ({ app }) => {
    const actByCookie = async (browser: Browser): Promise<string> => {
      await browser.logIn();
      const path = `/act-as/${await app.userId('bob')}`;
      const { body, ...answer } = await browser.send(path, { method: 'POST', body: {} });
      expect(cookiesIn(answer as never)).toEqual([]);
      return (body as Impersonation).accessToken;
    };
    const who = async (browser: Browser, request: object = {}): Promise<unknown> =>
      (await browser.send('/me', request)).body.username;

    it('an administrator with cookies acts as the user with a bearer token, and goes back with the same cookies', async () => {
      const browser = new Browser(app);
      const token = await actByCookie(browser);
      const { jar } = browser;
      expect([await who(browser, { headers: bearer(token) }), await who(browser)]).toEqual(['bob', 'alice']);
      const headers = { ...bearer(token), 'X-Auth-Transport': 'cookie' };
      // The first logout is the way back. The second one comes late, as after the end of the impersonation.
      for (const [sent, status] of [
        [headers, 200],
        [bearer(token), 401],
      ] as const) {
        expect((await browser.send('/auth/logout', { method: 'POST', headers: sent })).status).toBe(status);
        expect([browser.jar, await who(browser)]).toEqual([jar, 'alice']);
      }
    });

    it('the token of an impersonation is refused as a cookie: on routes, at logout and for sockets', async () => {
      const browser = new Browser(app);
      const token = await actByCookie(browser);
      browser.put(ACCESS, token);
      browser.put(REFRESH, null);
      expect((await browser.send('/me')).status).toBe(401);
      const request = { headers: {}, socket: { server: app.nest.getHttpServer() } };
      const open = (headers: object): Promise<unknown> => {
        const found = socketAccessToken({ request: { ...request, headers } });
        return app.auth.authenticate(found.accessToken, { ...found.client });
      };
      expect(await open(lowerCased(browser.handshakeFrom('https://api.example.com')))).toBeNull();
      expect(await open({ authorization: `Bearer ${token}` })).toMatchObject({ actor: { reason: 'ticket 7' } });
      expect((await browser.call('/auth/logout')).status).toBe(401);
    });

    it('AuthCookies.set refuses an impersonation', async () => {
      const opened = { accessToken: 'x', accessTokenExpiresAt: new Date() } as TokenPair;
      const request = { headers: { 'sec-fetch-site': 'same-origin' }, url: '/' };
      const set = (): void => app.nest.get(AuthCookies).set(request, {} as never, opened);
      expect(set).toThrow('The token of an impersonation works only as a bearer token.');
    });
  });
});

const lowerCased = (headers: Record<string, string>): object =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
