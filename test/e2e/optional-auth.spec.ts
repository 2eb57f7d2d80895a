import { Controller, Get, Post, Req, UseGuards } from '@nestjs/common';
import {
  AuthError,
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
import { PASSWORD } from '../support/host';
import { INVALID_REFRESH, setActive, stories, storiesOnBothPlatforms, type Stage } from './stories';

type Caller = { readonly user: string | null; readonly session: string | null; readonly auth: unknown };
const NOBODY: Caller = { user: null, session: null, auth: null };

const callerOf = (user: AuthUser | null, session: SessionInfo | null, { auth }: AuthRequest): Caller => ({
  user: user && user.username,
  session: session && session.id,
  auth: auth && auth.session.id,
});

/** A guard of an application that reads its token from a header of its own. */
class OwnHeaderGuard extends BearerAuthGuard {
  protected override getToken({ headers }: AuthRequest): string {
    const token = headers['x-token'];
    if (typeof token !== 'string') throw new AuthError('credentials_missing', 'No X-Token was sent.');
    return token;
  }
}

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

  @Get('own-guard')
  @UseGuards(OwnHeaderGuard)
  ownGuard(@CurrentSession() session: SessionInfo): object {
    return { session_id: session.id };
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

/** Its class requires a token, though the class that it extends does not. */
@Controller('derived')
class DerivedController extends OptionalController {}

@Controller('recent')
@RequireRecentLogin({ withinSeconds: 60 })
class RecentController {
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

@Controller('own')
@UseGuards(OwnHeaderGuard)
class OwnGuardController {
  @Get('optional')
  @OptionalAuth()
  read(@CurrentUser() user: AuthUser, @CurrentSession() session: SessionInfo, @Req() request: AuthRequest): Caller {
    return callerOf(user, session, request);
  }
}

const controllers = [OptionalController, DerivedController, RecentController, PublicController, OwnGuardController];
const MISSING = { detail: 'Authentication credentials were not provided.', code: 'credentials_missing' };
const INVALID = { detail: 'Invalid or expired access token.', code: 'access_token_invalid' };

storiesOnBothPlatforms('@OptionalAuth()', { controllers }, (at: Stage) => {
  it('gives the user of a valid token, and null without one', async () => {
    const { access_token: token, session_id: id } = await at.host.login();
    await at.host.get('/optional', token).expect(200, { user: 'alice', session: id, auth: id });
    await at.host.http.get('/optional').expect(200, NOBODY);
    for (const header of ['Basic YTpi', 'Bearer', 'Bearer ', '']) {
      await at.host.http.get('/optional').set('Authorization', header).expect(200, NOBODY);
    }
  });

  it('refuses a token that is not valid, as a guarded route does', async () => {
    const { access_token: token } = await at.host.login();
    const refused = async (presented: string): Promise<void> => {
      const { headers } = await at.host.get('/optional', presented).expect(401, INVALID);
      expect(headers['www-authenticate']).toBe('Bearer realm="api", error="invalid_token"');
    };
    await refused('token');
    await refused(token.slice(0, -1));
    await at.host.post('/auth/logout', token).expect(200);
    await refused(token);
    const { access_token: expiring } = await at.host.login();
    at.host.clock.advance(15 * MINUTE);
    await refused(expiring);
    const { access_token: disabled } = await at.host.login('bob');
    await setActive(at.host, 'bob', false);
    await refused(disabled);
    await setActive(at.host, 'bob', true);
  });

  it('looks a token up once', async () => {
    const { access_token: token } = await at.host.login();
    const authenticate = jest.spyOn(at.host.auth, 'authenticate');
    await at.host.http.get('/optional').expect(200);
    expect(authenticate).toHaveBeenCalledTimes(0);
    await at.host.get('/optional', token).expect(200);
    expect(authenticate).toHaveBeenCalledTimes(1);
    authenticate.mockRestore();
  });

  it('on a class gives way to what is nearer', async () => {
    const { access_token: token, session_id: id } = await at.host.login();
    await at.host.http.get('/optional/guarded').expect(401, MISSING);
    await at.host.get('/optional/guarded', token).expect(200);
    await at.host.http.get('/optional/recent').expect(401, MISSING);
    await at.host.http.get('/optional/own-guard').expect(401);
    await at.host.http.get('/optional/own-guard').set('X-Token', token).expect(200, { session_id: id });
    await at.host.get('/optional/public', 'token').expect(200, { isAuthenticated: false });
    await at.host.get('/optional/public-user', token).expect(500);
    at.host.clock.advance(2 * MINUTE);
    await at.host.get('/optional/recent', token).expect(403);
  });

  it('on a class does not open the classes that extend it', async () => {
    await at.host.http.get('/derived').expect(401, MISSING);
    await at.host.get('/derived', (await at.host.login()).access_token).expect(200);
  });

  it.each(['/recent/optional', '/public/optional'])('on a handler wins over its class: %s', async (path) => {
    const { access_token: token, session_id: id } = await at.host.login();
    at.host.clock.advance(2 * MINUTE);
    await at.host.http.get(path).expect(200, NOBODY);
    await at.host.get(path, token).expect(200, { user: 'alice', session: id, auth: id });
    await at.host.get(path, 'token').expect(401, INVALID);
  });

  it('on a handler makes the guard of an application optional too', async () => {
    const { access_token: token, session_id: id } = await at.host.login();
    const withOwnHeader = (value: string) => at.host.http.get('/own/optional').set('X-Token', value);
    await at.host.http.get('/own/optional').expect(200, NOBODY);
    await withOwnHeader(token).expect(200, { user: 'alice', session: id, auth: id });
    await withOwnHeader('token').expect(401);
  });
});

stories('@OptionalAuth() behind the global guard', { controllers, auth: { globalGuard: true } }, (at: Stage) => {
  it.each(['/optional', '/recent/optional', '/public/optional'])('is the nearer declaration: %s', async (path) => {
    const { access_token: token, session_id: id } = await at.host.login();
    await at.host.http.get(path).expect(200, NOBODY);
    await at.host.get(path, 'token').expect(401, INVALID);
    const authenticate = jest.spyOn(at.host.auth, 'authenticate');
    await at.host.get(path, token).expect(200, { user: 'alice', session: id, auth: id });
    expect(authenticate).toHaveBeenCalledTimes(1);
    authenticate.mockRestore();
  });
});

const grace = { controllers, auth: { refreshReuseGraceSeconds: 10 }, trustProxy: true };

stories('within the grace period, @OptionalAuth()', grace, (at: Stage) => {
  it('records the first use of an access token', async () => {
    const first = await at.host.login();
    const refreshFrom = (network: string) => at.host.refresh(first.refresh_token).set('X-Forwarded-For', network);
    const { body: pair } = await refreshFrom('198.51.100.7').expect(200);
    await at.host.http.get('/optional').expect(200, NOBODY);
    await refreshFrom('203.0.113.9').expect(200, pair);
    await at.host.get('/optional', pair.access_token).expect(200);
    await refreshFrom('203.0.113.9').expect(400, INVALID_REFRESH);
    expect(at.host.sent('token_reuse_detected')).toHaveLength(1);
  });
});

const ACCESS = '__Host-auth_access';
const cookies = { controllers, auth: { cookies: { mode: 'optional' } } } as const;

storiesOnBothPlatforms('in cookie mode, @OptionalAuth()', cookies, (at: Stage) => {
  let browser: Browser;
  beforeEach(async () => {
    browser = new Browser(at.host);
    await browser.call('/auth/login', { username: 'alice', password: PASSWORD });
  });

  it('gives the user of a valid cookie, and keeps shared caches from storing the response', async () => {
    const { body, headers } = await browser.send('/optional');
    expect([(body as Caller).user, headers['cache-control']]).toEqual(['alice', 'private']);
  });

  it('counts an invalid cookie as none, and clears nothing', async () => {
    const { jar } = browser;
    for (const end of [
      () => at.host.clock.advance(15 * MINUTE),
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

  it('refuses an invalid Bearer token, whatever the cookie is', async () => {
    const headers = { Authorization: 'Bearer token' };
    const { status, body } = await browser.send('/optional', { headers });
    expect([status, body]).toEqual([401, INVALID]);
  });

  it('refuses several cookies of one name', async () => {
    const Cookie = `${ACCESS}=${browser.jar[ACCESS]}; ${ACCESS}=other`;
    const { status } = await browser.send('/optional', { headers: { Cookie } });
    expect(status).toBe(400);
  });

  it('refuses a cookie, even an invalid one, of another site for what is not read', async () => {
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
