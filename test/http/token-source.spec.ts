import { Controller, Get, Post, UseGuards } from '@nestjs/common';
import { BearerAuthGuard, CurrentPrincipal, OptionalAuth, type AuthPrincipal } from 'nestjs-session-auth';
import { occursInCookies } from '../../libs/auth/src/http/cookies/cookie-rules';
import { Browser } from '../support/browser';
import { SECOND } from '../support/driven-clock';
import { HeaderTokens } from '../support/header-tokens';
import { describeHttp, sendRaw } from '../support/environment';
import { PageGuard } from '../support/page-guard';
import { PASSWORD } from '../support/test-application';

@Controller('who')
class WhoController {
  @Get()
  @UseGuards(BearerAuthGuard)
  read(@CurrentPrincipal() { sessionId }: AuthPrincipal): object {
    return { session_id: sessionId };
  }

  @Post()
  @UseGuards(BearerAuthGuard)
  write(@CurrentPrincipal() { sessionId }: AuthPrincipal): object {
    return { session_id: sessionId };
  }

  @Get('page')
  @UseGuards(PageGuard)
  page(): void {}

  @Get('optional')
  @OptionalAuth()
  optional(@CurrentPrincipal() principal: AuthPrincipal | null): object {
    return { session_id: principal && principal.sessionId };
  }
}

const INVALID = { detail: 'Invalid or expired access token.', code: 'access_token_invalid' };
const EVIL = 'https://evil.test';

describe.each([false, 'optional'] as const)('a token source over HTTP, with the cookie mode %s', (mode) => {
  const options = { controllers: [WhoController], auth: { tokenSource: HeaderTokens, cookies: { mode } } };

  describeHttp('a token source', options, ({ app }) => {
    it("finds the token of the application's and of the library's routes, and shared caches store no response", async () => {
      const { access_token: token, session_id } = await app.login();
      for (const path of ['/who', '/who/optional']) {
        const { headers } = await app.http.get(path).set('X-Token', token).expect(200, { session_id });
        expect([path, headers['cache-control']]).toEqual([path, 'private']);
      }
      await app.http.get('/auth/sessions').set('X-Token', token).expect(200);
      await app.http.post('/auth/logout').set('X-Token', token).expect(200);
      await app.http.get('/who').set('X-Token', token).expect(401, INVALID);
    });

    it('that finds no token leaves the call to the Authorization header', async () => {
      const { access_token: token, session_id } = await app.login();
      await app.get('/who', token).expect(200, { session_id });
      await app.http.get('/who').expect(401);
      await app.http.get('/who/optional').expect(200, { session_id: null });
    });

    it('takes precedence over the Authorization header', async () => {
      const { access_token: token } = await app.login();
      const { access_token: other, session_id } = await app.login('bob');
      await app.get('/who', token).set('X-Token', other).expect(200, { session_id });
      await app.get('/who', token).set('X-Token', 'invalid').expect(401, INVALID);
      await app.get('/who/optional', token).set('X-Token', 'invalid').expect(401, INVALID);
      const lines = [`X-Token: ${token}`, 'Authorization: a', 'Authorization: b'];
      expect((await sendRaw(app, ['GET /who HTTP/1.1', ...lines])).status).toBe(400);
    });

    it('that throws causes 401 and a log entry, whatever the Authorization header and the route', async () => {
      const { access_token: token } = await app.login();
      app.logs.length = 0;
      for (const path of ['/who', '/who/optional', '/auth/sessions']) {
        await app.get(path, token).set('X-Token', 'failure').expect(401, INVALID);
      }
      expect(app.logs.filter((line) => line.includes('The token source failed'))).toHaveLength(1);
      app.clock.advance(60_000);
      await app.http.get('/who').set('X-Token', 'failure').expect(401, INVALID);
      expect(app.logs.filter((line) => line.includes('the shelf is empty'))).toHaveLength(2);
    });

    it('that passes on a value of a client that is no text causes 401', async () => {
      for (const value of [null, 5, true, {}, { length: 75 }, Array.from('x'.repeat(75))]) {
        const json = JSON.stringify(value);
        for (const path of ['/who', '/who/optional', '/auth/sessions'])
          await app.http.get(path).set('X-Token', `json ${json}`).expect(401, INVALID);
      }
    });

    it('that finds a token of the Cookie header requires the cross-site check for methods other than GET', async () => {
      const { access_token: token, session_id } = await app.login();
      const send = (method: 'get' | 'post', path: string, headers: Record<string, string>) =>
        app.http[method](path).set('X-Token', token).set('Cookie', `own=s%3A${token}.sig`).set(headers);
      const { headers } = await send('get', '/who', { Origin: EVIL }).expect(200, { session_id });
      expect(headers['cache-control']).toBe('private');
      const same = { 'Sec-Fetch-Site': 'same-origin' };
      await send('post', '/who', same).expect(201, { session_id });
      for (const path of ['/who', '/auth/logout/all', '/auth/logout']) {
        for (const from of [{}, { Origin: EVIL }, { 'Sec-Fetch-Site': 'same-site' }] as Record<string, string>[]) {
          const { body } = await send('post', path, from).expect(403);
          expect((body as { code: string }).code).toBe('cross_site_request');
        }
      }
      await app.http.post('/who').set('X-Token', token).set('Origin', EVIL).expect(201, { session_id });
      for (const written of [token, `j%3A%7B%22t%22%3A%22${token}%22%7D`, `"${token}"`, token.replace('_', '%5F')]) {
        for (const own of [`t=${written}`, `a=%zz; t=${written}`]) {
          await send('post', '/who', {}).set('Cookie', own).expect(403);
        }
      }
      await send('post', '/who', {})
        .set('Cookie', `t=${token.slice(0, -1)}`)
        .expect(201);
      await send('post', '/auth/logout', same).expect(200);
      await send('get', '/who/optional', {}).expect(200, { session_id: null });
    });
  });
});

const page = {
  controllers: [WhoController],
  providers: [PageGuard],
  auth: { tokenSource: HeaderTokens, cookies: { mode: 'optional' as const } },
};

describeHttp('a token source beside cookies', page, ({ app }) => {
  it('whose token is refused does not leave the request to AuthCookies.refresh', async () => {
    const browser = new Browser(app);
    await browser.call('/auth/login', { username: 'alice', password: PASSWORD });
    app.clock.advance(3600 * SECOND);
    const { jar } = browser;
    expect((await browser.send('/who/page', { headers: { 'X-Token': 'invalid' } })).status).toBe(403);
    expect(browser.jar).toEqual(jar);
    expect((await browser.send('/who/page')).status).toBe(200);
  });
});

it('encoded cookies are searched in a time that many fields of one request cannot multiply', () => {
  const request = { headers: { cookie: '%41;'.repeat(4_000) } };
  const start = performance.now();
  for (let field = 0; field < 1_000; field++) expect(occursInCookies(request, 'x')).toBe(false);
  expect(performance.now() - start).toBeLessThan(1_000);
});
