import { Post } from '@nestjs/common';
import { CurrentSession, CurrentUser, OptionalAuth, Public } from 'nestjs-session-auth';
import { ACCESS, Browser } from '../support/browser';
import { MINUTE } from '../support/driven-clock';
import { describeApplication, describeHttp, INVALID_ACCESS as INVALID } from '../support/environment';
import { controllerOf, GUARD, OfRequest, returning } from '../support/handlers';
import { INVALID_REFRESH } from '../support/test-application';

const NOBODY = [null, null, null];
const visitor = returning(CurrentUser(), CurrentSession(), OfRequest('auth'));

const Reader = controllerOf('reader', [], { optional: [OptionalAuth(), visitor] });
const Optional = controllerOf('', [OptionalAuth()], { own: [visitor], write: [Post('optional'), visitor] }, Reader);
const controllers = [
  Optional,
  controllerOf('derived', [], {}, Optional),
  controllerOf('guarded', [GUARD], {}, Reader),
  controllerOf('public', [Public()], {}, Reader),
];

describe.each([false, true])('with globalGuard: %s', (globalGuard) => {
  describeHttp('@OptionalAuth()', { controllers, auth: { globalGuard } }, ({ app }) => {
    it.each(['/own', '/guarded/optional', '/public/optional'])(
      '@OptionalAuth() provides the user of a valid token on %s with one lookup, and null without a token',
      async (path) => {
        const { access_token: token, session_id: id } = await app.login();
        app.clock.advance(2 * MINUTE);
        const authenticate = jest.spyOn(app.authentication, 'authenticate');
        for (const header of ['Basic YTpi', 'Bearer', 'Bearer ', '']) {
          await app.http.get(path).set('Authorization', header).expect(200, NOBODY);
        }
        await app.http.get(path).expect(200, NOBODY);
        expect(authenticate).toHaveBeenCalledTimes(0);
        const { body } = await app.get(path, token).expect(200);
        expect(body).toMatchObject([{ username: 'alice' }, { id }, { sessionId: id }]);
        expect(authenticate).toHaveBeenCalledTimes(1);
        authenticate.mockRestore();
        await app.get(path, 'token').expect(401, INVALID);
      },
    );

    it('a subclass of a class with @OptionalAuth() requires a token', async () => {
      await app.http.get('/derived/own').expect(401);
    });

    it('@OptionalAuth() refuses an invalid token, as a guarded route does', async () => {
      const headers = { 'www-authenticate': 'Bearer realm="api", error="invalid_token"' };
      const [ended, expired, disabled] = [await app.login(), await app.login(), await app.login('bob')];
      const expectRefusal = async (presented: string): Promise<void> => {
        expect(await app.get('/optional', presented).expect(401, INVALID)).toMatchObject({ headers });
      };
      await expectRefusal(ended.access_token.slice(0, -1));
      await app.post('/auth/logout', ended.access_token).expect(200);
      await expectRefusal(ended.access_token);
      await app.setActive('bob', false);
      await expectRefusal(disabled.access_token);
      await app.setActive('bob', true);
      app.clock.advance(15 * MINUTE);
      await expectRefusal(expired.access_token);
    });
  });
});

const grace = { controllers, auth: { refreshReuseGraceSeconds: 10 }, trustProxy: true };

describeApplication('@OptionalAuth() within the grace period', grace, ({ app }) => {
  it('@OptionalAuth() stores the first use of an access token', async () => {
    const first = await app.login();
    const refreshFrom = (network: string) => app.refresh(first.refresh_token).set('X-Forwarded-For', network);
    const { body: pair } = await refreshFrom('198.51.100.7').expect(200);
    await app.http.get('/optional').expect(200, NOBODY);
    await refreshFrom('203.0.113.9').expect(200, pair);
    await app.get('/optional', pair.access_token).expect(200);
    await refreshFrom('203.0.113.9').expect(400, INVALID_REFRESH);
    expect(app.sent('token_reuse_detected')).toHaveLength(1);
  });
});

const cookies = { controllers, auth: { cookies: { mode: 'optional' } } } as const;

describeHttp('optional routes in cookie mode', cookies, ({ app }) => {
  let browser: Browser;
  beforeEach(async () => {
    browser = new Browser(app);
    await browser.logIn();
  });
  const visitorOf = async (request: object = {}): Promise<unknown> => {
    const { status, body } = await browser.send('/optional', request);
    return Array.isArray(body) ? ((body[0] as { username: string } | null)?.username ?? null) : status;
  };

  it('@OptionalAuth() treats an invalid cookie like a missing one, and clears no cookie', async () => {
    const { jar } = browser;
    expect((await browser.send('/optional')).headers['cache-control']).toBe('private');
    expect(await visitorOf()).toBe('alice');
    app.clock.advance(15 * MINUTE);
    for (const value of [jar[ACCESS]!, 'nonsense', '', null]) {
      browser.put(ACCESS, value);
      const { status, body, headers } = await browser.send('/optional');
      expect([status, body, headers['set-cookie']]).toEqual([200, NOBODY, undefined]);
    }
    browser.put(ACCESS, jar[ACCESS]!);
    expect((await browser.call('/auth/token/refresh')).status).toBe(200);
    expect(await visitorOf()).toBe('alice');
  });

  it('@OptionalAuth() refuses an invalid Bearer token, and several cookies with the same name', async () => {
    expect(await visitorOf({ headers: { Authorization: 'Bearer token' } })).toBe(401);
    expect(await visitorOf({ headers: { Cookie: `${ACCESS}=${browser.jar[ACCESS]}; ${ACCESS}=other` } })).toBe(400);
  });

  it('@OptionalAuth() refuses a POST request from another site with an access cookie, even an invalid one', async () => {
    const foreign = { from: 'https://blog.example.com', method: 'POST' };
    expect([await visitorOf({ from: foreign.from }), await visitorOf(foreign)]).toEqual(['alice', 403]);
    browser.put(ACCESS, 'nonsense');
    expect([await visitorOf(foreign), await visitorOf({ method: 'POST' })]).toEqual([403, null]);
    browser.put(ACCESS, null);
    expect(await visitorOf(foreign)).toBeNull();
  });
});
