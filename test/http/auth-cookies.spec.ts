import { Controller, Get, Header, Post, Req, Res, UseGuards } from '@nestjs/common';
import { AuthCookies, AuthService, BearerAuthGuard, clientInfoOf } from 'nestjs-session-auth';
import type { AuthRequest, AuthResponse } from 'nestjs-session-auth';
import type { Request, Response } from 'express';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { answerOf, Browser, cookiesIn, REFRESH } from '../support/browser';
import { SECOND } from '../support/driven-clock';
import { CREDENTIALS, PASSWORD } from '../support/test-application';
import { restorePassword, describeHttp } from '../support/environment';
import { startForTest } from '../support/start-for-test';

/** An application that renders its pages, and opens sessions itself. */
@Controller()
class SiteController {
  constructor(
    private readonly auth: AuthService,
    private readonly cookies: AuthCookies,
  ) {}

  @Post('sign-in')
  async signIn(@Req() request: Request, @Res({ passthrough: true }) response: Response): Promise<object> {
    this.cookies.assertSameSite(request);
    const opened = await this.auth.login(CREDENTIALS, clientInfoOf(request));
    this.cookies.set(request, response, opened);
    return { opened: opened.sessionId };
  }

  @Post('new-password')
  @Header('Cache-Control', 'public, max-age=60')
  @UseGuards(BearerAuthGuard)
  async change(@Req() request: AuthRequest, @Res({ passthrough: true }) response: AuthResponse): Promise<void> {
    const change = { currentPassword: PASSWORD, newPassword: PASSWORD };
    this.cookies.set(request, response, await this.auth.changePassword(request.auth!, change, clientInfoOf(request)));
  }

  @Post('leave')
  leave(@Res({ passthrough: true }) response: FastifyReply): void {
    this.cookies.clear(response);
  }

  @Get('page')
  @Header('Cache-Control', 'public')
  page(@Req() request: FastifyRequest, @Res({ passthrough: true }) response: FastifyReply): Promise<object> {
    return this.refresh(request, response);
  }

  @Post('form')
  async refresh(@Req() request: AuthRequest, @Res({ passthrough: true }) response: AuthResponse): Promise<object> {
    const principal = await this.cookies.refresh(request, response);
    return { session: principal?.sessionId ?? null };
  }
}

const options = { auth: { cookies: { mode: 'optional' as const } }, controllers: [SiteController], trustProxy: true };

describeHttp('AuthCookies', options, ({ app }) => {
  let browser: Browser;
  let sessionId: string;

  beforeEach(async () => {
    browser = new Browser(app);
    sessionId = (await browser.send('/sign-in', { method: 'POST' })).body.opened as string;
  });

  it('AuthCookies sets the tokens of a session that the application opens, in a response that must not be cached', async () => {
    const response = await browser.send('/sign-in', { method: 'POST' });
    expect(response.headers['cache-control']).toBe('no-store');
    sessionId = response.body.opened as string;
    expect((await browser.send('/me')).body.session_id).toBe(sessionId);
    const from = 'https://evil.test';
    const refused = await browser.send('/sign-in', { method: 'POST', from, navigates: true });
    expect([refused.status, refused.body.code, cookiesIn(refused)]).toEqual([403, 'cross_site_request', []]);
    // `assertSameSite` refuses the request before the login, so that it opens no session.
    expect(app.sent('user_logged_in')).toHaveLength(2);
  });

  it('AuthCookies sets a new pair for a request that the guard has authenticated, in a response that must not be cached', async () => {
    const response = await browser.send('/new-password', { method: 'POST' });
    const found = [response.status, response.headers['cache-control'], cookiesIn(response).length];
    expect(found).toEqual([201, 'no-store', 2]);
    expect((await browser.send('/me')).headers['cache-control']).toBe('private');
    await restorePassword(app);
  });

  it('AuthCookies clears the cookies without ending the session', async () => {
    expect(cookiesIn(await browser.send('/leave', { method: 'POST' }))).toHaveLength(2);
    expect([browser.jar, (await app.storedEnd(sessionId)).state]).toEqual([{}, 'active']);
  });

  it('AuthCookies refreshes the tokens for a page that is opened from any site, and for a form from the same origin', async () => {
    app.clock.advance(1000 * SECOND);
    expect((await browser.send('/me')).status).toBe(401);
    const page = await browser.send('/page', { from: 'https://search.test', navigates: true });
    const found = [page.body, page.headers['cache-control'], cookiesIn(page).length];
    expect(found).toEqual([{ session: sessionId }, 'private', 2]);
    expect((await browser.send('/me')).status).toBe(200);
    app.clock.advance(1000 * SECOND);
    expect((await browser.send('/form', { method: 'POST' })).body).toEqual({ session: sessionId });
    const { jar } = browser;
    const forged = await browser.send('/form', { method: 'POST', from: 'https://other.example.com', navigates: true });
    expect([forged.status, cookiesIn(forged), browser.jar]).toEqual([403, [], jar]);
  });

  it('AuthCookies sets the same pair again if the response was lost and the page is reloaded from another network', async () => {
    const before = browser.jar;
    const openFrom = (network: string) => browser.send('/page', { headers: { 'X-Forwarded-For': network } });
    await openFrom('198.51.100.7');
    const { jar } = browser;
    for (const [name, value] of Object.entries(before)) browser.put(name, value);
    expect((await openFrom('203.0.113.9')).body).toEqual({ session: sessionId });
    expect(browser.jar).toEqual(jar);
  });

  it('AuthCookies refreshes no cookies for a request with a bearer token, even an invalid one', async () => {
    const headers = { Authorization: 'Bearer x' };
    expect(answerOf(await browser.send('/page', { headers }))).toEqual([200, { session: null }, []]);
    expect((await browser.send('/page')).body).toEqual({ session: sessionId });
  });

  it('AuthCookies returns null without a valid refresh cookie, clears a cookie that names no session, and refuses two cookies', async () => {
    expect(answerOf(await new Browser(app).send('/page'))).toEqual([200, { session: null }, []]);
    const { [REFRESH]: refresh } = browser.jar;
    browser.put(REFRESH, `x; ${REFRESH}=y`);
    expect((await browser.send('/page')).status).toBe(400);
    browser.put(REFRESH, 'nsar_x');
    expect(cookiesIn(await browser.send('/page'))).toHaveLength(2);
    browser.put(REFRESH, refresh!);
    await browser.call('/auth/logout');
    browser.put(REFRESH, refresh!);
    const page = await browser.send('/page');
    expect([page.body, browser.jar]).toEqual([{ session: null }, {}]);
  });
});

it('AuthCookies without the option `cookies` fails with an error that names the option to set', async () => {
  const { nest } = await startForTest('sqlite');
  expect(() => nest.get(AuthCookies).clear({} as never)).toThrow("cookies: { mode: 'optional' }");
});
