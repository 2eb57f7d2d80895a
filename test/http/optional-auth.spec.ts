import { Controller, Get, Post, Req, UseGuards } from '@nestjs/common';
import {
  BearerAuthGuard,
  CurrentSession,
  CurrentUser,
  OptionalAuth,
  Public,
  RequireRecentLogin,
  type AuthRequest,
  type AuthUser,
  type SessionInfo,
} from 'nestjs-session-auth';
import { Browser } from '../support/browser';
import { MINUTE } from '../support/driven-clock';
import { INVALID_REFRESH, setActive, describeApplication, describeHttp } from '../support/environment';
import { PASSWORD } from '../support/test-application';

const NOBODY = { user: null, session: null, auth: null };

class OptionalReader {
  @Get('optional')
  @OptionalAuth()
  read(@CurrentUser() user: AuthUser, @CurrentSession() session: SessionInfo, @Req() { auth }: AuthRequest): object {
    return { user: user && user.username, session: session && session.id, auth: auth && auth.sessionId };
  }
}

@Controller()
@OptionalAuth()
class OptionalController extends OptionalReader {
  @Post('optional')
  write(@CurrentUser() user: AuthUser): object {
    return { user: user && user.username };
  }

  @Get('own')
  own(@CurrentUser() user: AuthUser, @CurrentSession() session: SessionInfo, @Req() request: AuthRequest): object {
    return this.read(user, session, request);
  }

  @Get('guarded')
  @UseGuards(BearerAuthGuard)
  guarded(): void {}

  @Get('recent')
  @RequireRecentLogin({ withinSeconds: 60 })
  recent(): void {}

  @Get('public')
  @Public()
  open(@Req() { auth }: AuthRequest): object {
    return { isAuthenticated: auth !== undefined };
  }

  @Get('public-user')
  @Public()
  openUser(@CurrentUser() user: AuthUser): object {
    return user;
  }
}

/** This class requires a token, although its base class does not. */
@Controller('derived')
class DerivedController extends OptionalController {}

@Controller('guarded')
@UseGuards(BearerAuthGuard)
class GuardedController extends OptionalReader {}

@Controller('public')
@Public()
class PublicController extends OptionalReader {}

const controllers = [OptionalController, DerivedController, GuardedController, PublicController];
const INVALID = { detail: 'Invalid or expired access token.', code: 'access_token_invalid' };

describe.each([false, true])('with globalGuard: %s', (globalGuard) => {
  describeHttp('@OptionalAuth()', { controllers, auth: { globalGuard } }, (env) => {
    it.each(['/own', '/guarded/optional', '/public/optional'])(
      '@OptionalAuth() provides the user of a valid token on %s with one lookup, and null without a token',
      async (path) => {
        const { access_token: token, session_id: id } = await env.app.login();
        env.app.clock.advance(2 * MINUTE);
        const authenticate = jest.spyOn(env.app.authentication, 'authenticate');
        for (const header of ['Basic YTpi', 'Bearer', 'Bearer ', '']) {
          await env.app.http.get(path).set('Authorization', header).expect(200, NOBODY);
        }
        await env.app.http.get(path).expect(200, NOBODY);
        expect(authenticate).toHaveBeenCalledTimes(0);
        await env.app.get(path, token).expect(200, { user: 'alice', session: id, auth: id });
        expect(authenticate).toHaveBeenCalledTimes(1);
        authenticate.mockRestore();
        await env.app.get(path, 'token').expect(401, INVALID);
      },
    );
  });
});

describeHttp('optional routes of an application', { controllers }, (env) => {
  it('@OptionalAuth() refuses an invalid token, as a guarded route does', async () => {
    const headers = { 'www-authenticate': 'Bearer realm="api", error="invalid_token"' };
    const [ended, expired, disabled] = [await env.app.login(), await env.app.login(), await env.app.login('bob')];
    const expectRefusal = async (presented: string): Promise<void> => {
      expect(await env.app.get('/optional', presented).expect(401, INVALID)).toMatchObject({ headers });
    };
    await expectRefusal(ended.access_token.slice(0, -1));
    await env.app.post('/auth/logout', ended.access_token).expect(200);
    await expectRefusal(ended.access_token);
    await setActive(env.app, 'bob', false);
    await expectRefusal(disabled.access_token);
    await setActive(env.app, 'bob', true);
    env.app.clock.advance(15 * MINUTE);
    await expectRefusal(expired.access_token);
  });

  it('a different declaration on a handler overrides @OptionalAuth() on its class', async () => {
    const { access_token: token } = await env.app.login();
    for (const path of ['/guarded', '/recent']) {
      await env.app.http.get(path).expect(401);
      await env.app.get(path, token).expect(200);
    }
    await env.app.get('/public', 'token').expect(200, { isAuthenticated: false });
    await env.app.get('/public-user', token).expect(500);
    env.app.clock.advance(2 * MINUTE);
    await env.app.get('/recent', token).expect(403);
  });

  it('@OptionalAuth() on a class does not apply to subclasses', async () => {
    await env.app.http.get('/own').expect(200);
    await env.app.http.get('/derived/own').expect(401);
    await env.app.get('/derived/own', (await env.app.login()).access_token).expect(200);
  });
});

const grace = { controllers, auth: { refreshReuseGraceSeconds: 10 }, trustProxy: true };

describeApplication('@OptionalAuth() within the grace period', grace, (env) => {
  it('@OptionalAuth() stores the first use of an access token', async () => {
    const first = await env.app.login();
    const refreshFrom = (network: string) => env.app.refresh(first.refresh_token).set('X-Forwarded-For', network);
    const { body: pair } = await refreshFrom('198.51.100.7').expect(200);
    await env.app.http.get('/optional').expect(200, NOBODY);
    await refreshFrom('203.0.113.9').expect(200, pair);
    await env.app.get('/optional', pair.access_token).expect(200);
    await refreshFrom('203.0.113.9').expect(400, INVALID_REFRESH);
    expect(env.app.sent('token_reuse_detected')).toHaveLength(1);
  });
});

const ACCESS = '__Host-auth_access';
const cookies = { controllers, auth: { cookies: { mode: 'optional' } } } as const;

describeHttp('optional routes in cookie mode', cookies, (env) => {
  let browser: Browser;
  beforeEach(async () => {
    browser = new Browser(env.app);
    await browser.call('/auth/login', { username: 'alice', password: PASSWORD });
  });

  it('@OptionalAuth() treats an invalid cookie like a missing one, and clears no cookie', async () => {
    const { jar } = browser;
    const found = await browser.send('/optional');
    expect([found.body.user, found.headers['cache-control']]).toEqual(['alice', 'private']);
    env.app.clock.advance(15 * MINUTE);
    for (const value of [jar[ACCESS]!, 'nonsense', '', null]) {
      browser.put(ACCESS, value);
      const { status, body, headers } = await browser.send('/optional');
      expect([status, body, headers['set-cookie']]).toEqual([200, NOBODY, undefined]);
    }
    browser.put(ACCESS, jar[ACCESS]!);
    expect((await browser.call('/auth/token/refresh')).status).toBe(200);
    expect((await browser.send('/optional')).body.user).toBe('alice');
  });

  it('@OptionalAuth() refuses an invalid Bearer token, and several cookies with the same name', async () => {
    const { status, body } = await browser.send('/optional', { headers: { Authorization: 'Bearer token' } });
    expect([status, body]).toEqual([401, INVALID]);
    const Cookie = `${ACCESS}=${browser.jar[ACCESS]}; ${ACCESS}=other`;
    expect((await browser.send('/optional', { headers: { Cookie } })).status).toBe(400);
  });

  it('@OptionalAuth() refuses a POST request from another site with an access cookie, even an invalid one', async () => {
    const from = 'https://blog.example.com';
    expect((await browser.send('/optional', { from })).status).toBe(200);
    expect((await browser.send('/optional', { from, method: 'POST' })).status).toBe(403);
    browser.put(ACCESS, 'nonsense');
    expect((await browser.send('/optional', { from, method: 'POST' })).status).toBe(403);
    expect((await browser.send('/optional', { method: 'POST' })).body).toEqual({ user: null });
    browser.put(ACCESS, null);
    expect((await browser.send('/optional', { from, method: 'POST' })).body).toEqual({ user: null });
  });
});
