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
import { PASSWORD } from '../support/test-application';
import {
  INVALID_REFRESH,
  setActive,
  describeOnEachDatabase,
  describeOnBothPlatforms,
  type TestEnvironment,
} from '../support/environment';

type Caller = { readonly user: string | null; readonly session: string | null; readonly auth: unknown };
const NOBODY: Caller = { user: null, session: null, auth: null };

const callerOf = (user: AuthUser | null, session: SessionInfo | null, { auth }: AuthRequest): Caller => ({
  user: user && user.username,
  session: session && session.id,
  auth: auth && auth.sessionId,
});

@Controller('optional')
@OptionalAuth()
class OptionalController {
  @Get()
  read(@CurrentUser() user: AuthUser, @CurrentSession() session: SessionInfo, @Req() request: AuthRequest): Caller {
    return callerOf(user, session, request);
  }

  @Post()
  write(@CurrentUser() user: AuthUser, @CurrentSession() session: SessionInfo, @Req() request: AuthRequest): Caller {
    return callerOf(user, session, request);
  }

  @Get('guarded')
  @UseGuards(BearerAuthGuard)
  guarded(): object {
    return {};
  }

  @Get('recent')
  @RequireRecentLogin({ withinSeconds: 60 })
  recent(): object {
    return {};
  }

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

@Controller('class-guard')
@UseGuards(BearerAuthGuard)
class GuardedController {
  @Get('optional')
  @OptionalAuth()
  read(@CurrentUser() user: AuthUser, @CurrentSession() session: SessionInfo, @Req() request: AuthRequest): Caller {
    return callerOf(user, session, request);
  }
}

@Controller('public')
@Public()
class PublicController {
  @Get('optional')
  @OptionalAuth()
  read(@CurrentUser() user: AuthUser, @CurrentSession() session: SessionInfo, @Req() request: AuthRequest): Caller {
    return callerOf(user, session, request);
  }
}

const controllers = [OptionalController, DerivedController, GuardedController, PublicController];
const MISSING = { detail: 'Authentication credentials were not provided.', code: 'credentials_missing' };
const INVALID = { detail: 'Invalid or expired access token.', code: 'access_token_invalid' };

describeOnBothPlatforms('@OptionalAuth()', { controllers }, (env: TestEnvironment) => {
  it('@OptionalAuth() provides the user of a valid token, and null without a token', async () => {
    const { access_token: token, session_id: id } = await env.app.login();
    await env.app.get('/optional', token).expect(200, { user: 'alice', session: id, auth: id });
    await env.app.http.get('/optional').expect(200, NOBODY);
    for (const header of ['Basic YTpi', 'Bearer', 'Bearer ', '']) {
      await env.app.http.get('/optional').set('Authorization', header).expect(200, NOBODY);
    }
  });

  it('@OptionalAuth() refuses an invalid token, as a guarded route does', async () => {
    const { access_token: token } = await env.app.login();
    const refused = async (presented: string): Promise<void> => {
      const { headers } = await env.app.get('/optional', presented).expect(401, INVALID);
      expect(headers['www-authenticate']).toBe('Bearer realm="api", error="invalid_token"');
    };
    await refused('token');
    await refused(token.slice(0, -1));
    await env.app.post('/auth/logout', token).expect(200);
    await refused(token);
    const { access_token: expiring } = await env.app.login();
    env.app.clock.advance(15 * MINUTE);
    await refused(expiring);
    const { access_token: disabled } = await env.app.login('bob');
    await setActive(env.app, 'bob', false);
    await refused(disabled);
    await setActive(env.app, 'bob', true);
  });

  it('@OptionalAuth() causes one lookup of the token per request', async () => {
    const { access_token: token } = await env.app.login();
    const authenticate = jest.spyOn(env.app.authentication, 'authenticate');
    await env.app.http.get('/optional').expect(200);
    expect(authenticate).toHaveBeenCalledTimes(0);
    await env.app.get('/optional', token).expect(200);
    expect(authenticate).toHaveBeenCalledTimes(1);
    authenticate.mockRestore();
  });

  it('a different declaration on a handler overrides @OptionalAuth() on its class', async () => {
    const { access_token: token } = await env.app.login();
    await env.app.http.get('/optional/guarded').expect(401, MISSING);
    await env.app.get('/optional/guarded', token).expect(200);
    await env.app.http.get('/optional/recent').expect(401, MISSING);
    await env.app.get('/optional/public', 'token').expect(200, { isAuthenticated: false });
    await env.app.get('/optional/public-user', token).expect(500);
    env.app.clock.advance(2 * MINUTE);
    await env.app.get('/optional/recent', token).expect(403);
  });

  it('@OptionalAuth() on a class does not apply to subclasses', async () => {
    await env.app.http.get('/derived').expect(401, MISSING);
    await env.app.get('/derived', (await env.app.login()).access_token).expect(200);
  });

  it.each(['/class-guard/optional', '/public/optional'])(
    '@OptionalAuth() on the handler of %s overrides the declaration on its class',
    async (path) => {
      const { access_token: token, session_id: id } = await env.app.login();
      env.app.clock.advance(2 * MINUTE);
      await env.app.http.get(path).expect(200, NOBODY);
      await env.app.get(path, token).expect(200, { user: 'alice', session: id, auth: id });
      await env.app.get(path, 'token').expect(401, INVALID);
    },
  );
});

describeOnEachDatabase(
  '@OptionalAuth() with the global guard',
  { controllers, auth: { globalGuard: true } },
  (env: TestEnvironment) => {
    it.each(['/optional', '/class-guard/optional', '/public/optional'])(
      '@OptionalAuth() on %s overrides the global guard',
      async (path) => {
        const { access_token: token, session_id: id } = await env.app.login();
        await env.app.http.get(path).expect(200, NOBODY);
        await env.app.get(path, 'token').expect(401, INVALID);
        const authenticate = jest.spyOn(env.app.authentication, 'authenticate');
        await env.app.get(path, token).expect(200, { user: 'alice', session: id, auth: id });
        expect(authenticate).toHaveBeenCalledTimes(1);
        authenticate.mockRestore();
      },
    );
  },
);

const grace = { controllers, auth: { refreshReuseGraceSeconds: 10 }, trustProxy: true };

describeOnEachDatabase('@OptionalAuth() within the grace period', grace, (env: TestEnvironment) => {
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

describeOnBothPlatforms('@OptionalAuth() in cookie mode', cookies, (env: TestEnvironment) => {
  let browser: Browser;
  beforeEach(async () => {
    browser = new Browser(env.app);
    await browser.call('/auth/login', { username: 'alice', password: PASSWORD });
  });

  it('@OptionalAuth() provides the user of a valid cookie, and excludes the response from shared caches', async () => {
    const { body, headers } = await browser.send('/optional');
    expect([(body as Caller).user, headers['cache-control']]).toEqual(['alice', 'private']);
  });

  it('@OptionalAuth() treats an invalid cookie like a missing one, and clears no cookie', async () => {
    const { jar } = browser;
    for (const end of [
      () => env.app.clock.advance(15 * MINUTE),
      () => browser.put(ACCESS, 'nonsense'),
      () => browser.put(ACCESS, ''),
      () => browser.put(ACCESS, null),
    ]) {
      end();
      const { status, body, headers } = await browser.send('/optional');
      expect([status, body, headers['set-cookie']]).toEqual([200, NOBODY, undefined]);
    }
    browser.put(ACCESS, jar[ACCESS]!);
    expect((await browser.call('/auth/token/refresh')).status).toBe(200);
    expect(((await browser.send('/optional')).body as Caller).user).toBe('alice');
  });

  it('@OptionalAuth() refuses an invalid Bearer token, whatever the cookie is', async () => {
    const headers = { Authorization: 'Bearer token' };
    const { status, body } = await browser.send('/optional', { headers });
    expect([status, body]).toEqual([401, INVALID]);
  });

  it('@OptionalAuth() refuses several cookies with the same name', async () => {
    const Cookie = `${ACCESS}=${browser.jar[ACCESS]}; ${ACCESS}=other`;
    const { status } = await browser.send('/optional', { headers: { Cookie } });
    expect(status).toBe(400);
  });

  it('@OptionalAuth() refuses a POST request from another site with an access cookie, even an invalid one', async () => {
    const from = 'https://blog.example.com';
    expect((await browser.send('/optional', { from })).status).toBe(200);
    expect((await browser.send('/optional', { from, method: 'POST' })).status).toBe(403);
    browser.put(ACCESS, 'nonsense');
    expect((await browser.send('/optional', { from, method: 'POST' })).status).toBe(403);
    expect((await browser.send('/optional', { method: 'POST' })).body).toEqual(NOBODY);
    browser.put(ACCESS, null);
    expect((await browser.send('/optional', { from, method: 'POST' })).body).toEqual(NOBODY);
  });
});
