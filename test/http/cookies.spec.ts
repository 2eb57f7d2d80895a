import type { IncomingMessage, ServerResponse } from 'node:http';
import { Header, Post } from '@nestjs/common';
import { CurrentSession } from 'nestjs-session-auth';
import { ACCESS, answerOf, Browser, cookiesIn, REFRESH } from '../support/browser';
import { SECOND } from '../support/driven-clock';
import { bearer, describeHttp, MISSING, restorePassword, sendRaw, UUID } from '../support/environment';
import { INVALID_ACCESS as INVALID } from '../support/environment';
import { controllerOf, GUARD, returning } from '../support/handlers';
import { CREDENTIALS, INVALID_REFRESH, PASSWORD, type TestApplicationOptions } from '../support/test-application';

const ATTRIBUTES = 'Path=/; HttpOnly; Secure; SameSite=Lax';
const CLEARED = [ACCESS, REFRESH].map((name) => `${name}=; Max-Age=0; ${ATTRIBUTES}`);
const AMBIGUOUS = { detail: expect.stringContaining('More than one cookie') as string };

const handlers = {
  cached: [Header('Cache-Control', 'max-age=5')],
  change: [Post('change'), returning(CurrentSession())],
};
const Pages = controllerOf('', [GUARD], handlers);

const options: Omit<TestApplicationOptions, 'database'> = {
  auth: { cookies: { mode: 'optional' }, endpoints: { reauthenticate: true } },
  controllers: [Pages],
  configure: (app) =>
    void app.use('/me', (request: IncomingMessage, response: ServerResponse, next: () => void) => {
      const { 'x-caching': caching } = request.headers;
      if (caching) response.setHeader('Cache-Control', caching);
      next();
    }),
};

describeHttp('optional cookies', options, ({ app }) => {
  let browser: Browser;
  let sessionId: string;

  beforeEach(async () => {
    browser = new Browser(app);
    sessionId = await browser.logIn();
  });

  it('a login that asks for cookies sets both tokens with their lifetimes, and returns no token in the body', async () => {
    const response = await browser.call('/auth/login/', CREDENTIALS);
    expect([response.status, response.body]).toEqual([200, { session_id: expect.stringMatching(UUID) as string }]);
    expect(cookiesIn(response)).toEqual([
      expect.stringMatching(new RegExp(`^${ACCESS}=nsaa_[\\w-]+; Max-Age=900; ${ATTRIBUTES}$`)),
      expect.stringMatching(new RegExp(`^${REFRESH}=nsar_[\\w-]+; Max-Age=604800; ${ATTRIBUTES}$`)),
    ]);
    expect(response.headers['cache-control']).toBe('no-store');
    for (const asked of ['Cookie', 'cookie, cookie']) {
      const headers = { 'X-Auth-Transport': asked };
      const again = await new Browser(app).call('/auth/login', CREDENTIALS, { headers });
      expect([Object.keys(again.body as object), cookiesIn(again).length]).toEqual([['session_id'], 2]);
    }
  });

  it('cookies authenticate requests, and their responses are excluded from shared caches unless the handler decides otherwise', async () => {
    const me = await browser.send('/me');
    expect([me.status, me.body.session_id, me.headers['cache-control']]).toEqual([200, sessionId, 'private']);
    expect((await browser.send('/cached')).headers['cache-control']).toBe('max-age=5');
    expect((await browser.send('/auth/sessions')).headers['cache-control']).toBe('no-store');
    const { body } = await browser.send('/change', { method: 'POST' });
    expect(body).toMatchObject([{ id: sessionId }]);
    const { access_token: token } = await app.login();
    expect((await app.get('/me', token)).headers['cache-control']).toBeUndefined();
  });

  it.each([
    ['public, max-age=60', 'max-age=60, private'],
    ['max-age=60, s-maxage=600, must-revalidate', 'max-age=60, must-revalidate, private'],
    ['no-cache', 'no-cache, private'],
    ['no-store', 'no-store'],
    ['no-store, must-understand', 'no-store, private'],
    ['max-age=5, Private', 'max-age=5, Private'],
  ])(
    'a response to an authenticated request is excluded from shared caches if middleware sets Cache-Control to %j',
    async (caching, kept) => {
      const { status, headers } = await browser.send('/me', { headers: { 'X-Caching': caching } });
      expect([status, headers['cache-control']]).toEqual([200, kept]);
      const { access_token: token } = await app.login();
      const byBearer = await app.get('/me', token).set('X-Caching', caching);
      expect(byBearer.headers['cache-control']).toBe(kept);
    },
  );

  it('a refresh that asks for cookies replaces them, whatever its body contains', async () => {
    const { [ACCESS]: access, [REFRESH]: refresh } = browser.jar;
    const other = await app.login('bob');
    for (const body of [{ refresh_token: other.refresh_token }, { refresh_token: 7 }, undefined]) {
      app.clock.advance(60 * SECOND);
      const response = await browser.call('/auth/token/refresh/', body);
      expect([response.status, response.body, cookiesIn(response).length]).toEqual([200, {}, 2]);
    }
    expect([browser.jar[ACCESS] === access, browser.jar[REFRESH] === refresh]).toEqual([false, false]);
    expect((await app.get('/me', access!)).status).toBe(401);
    expect((await browser.send('/me')).body.session_id).toBe(sessionId);
    expect((await app.get('/me', other.access_token)).status).toBe(200);
  });

  it('a login or refresh that does not ask for cookies sets none, and ignores those of the request', async () => {
    const login = await browser.send('/auth/login', { method: 'POST', body: CREDENTIALS });
    const { refresh_token, ...others } = login.body as { refresh_token: string };
    expect([Object.keys(others), cookiesIn(login)]).toEqual([['access_token', 'session_id', 'token_type'], []]);
    const refused = await browser.send('/auth/token/refresh', { method: 'POST', body: {} });
    expect(answerOf(refused)).toEqual([400, { refresh_token: ['This field is required.'] }, []]);
    const response = await browser.send('/auth/token/refresh', { method: 'POST', body: { refresh_token } });
    const names = Object.keys(response.body as object);
    expect([names, cookiesIn(response)]).toEqual([['access_token', 'refresh_token', 'token_type'], []]);
  });

  it('a password change or a reauthentication sets cookies only if cookies authenticate it or it asks for cookies', async () => {
    const calls = [
      ['/auth/password/change', { current_password: PASSWORD, new_password: PASSWORD }],
      ['/auth/reauthenticate', { password: PASSWORD }],
    ] as const;
    for (const [path, body] of calls) {
      const { access_token: token } = await app.login('bob');
      for (const response of [
        await browser.send(path, { method: 'POST', body }),
        await new Browser(app).call(path, body, { headers: bearer(token) }),
      ]) {
        expect(answerOf(response)).toEqual([200, {}, [expect.any(String), expect.any(String)]]);
      }
      expect((await browser.send('/me')).body.session_id).toBe(sessionId);
      const { access_token: next } = await app.login('bob');
      const byBearer = answerOf(await app.post(path, next, body));
      expect(byBearer).toEqual([200, expect.objectContaining({ token_type: 'Bearer' }), []]);
    }
    await restorePassword(app);
    await restorePassword(app, 'bob');
  });

  it('a Bearer header, valid or not, takes precedence over cookies, and a header with another scheme does not', async () => {
    const { access_token: token } = await app.login('bob');
    const answerTo = async (authorization: string): Promise<unknown> => {
      const { body } = await browser.send('/me', { headers: { Authorization: authorization } });
      return (body as { username?: string }).username ?? body;
    };
    expect(await answerTo(`Bearer ${token}`)).toBe('bob');
    expect(await answerTo('Bearer x')).toEqual(INVALID);
    expect(await answerTo('Bearer')).toEqual(MISSING);
    const logout = await browser.send('/auth/logout', { method: 'POST', headers: { Authorization: 'Bearer' } });
    expect(logout.body).toEqual(MISSING);
    expect(await answerTo('Basic YWxpY2U6cGFzc3dvcmQ=')).toBe('alice');
    expect(await answerTo('Token abc')).toBe('alice');
    const lines = ['GET /me HTTP/1.1', `Cookie: ${ACCESS}=${browser.jar[ACCESS]}`, 'Authorization: Basic abc'];
    expect((await sendRaw(app, [...lines, `Authorization: Bearer ${token}`])).status).toBe(400);
  });

  it('the code of a 401 shows whether there was an access cookie, and the response clears no cookie', async () => {
    const { [ACCESS]: access } = browser.jar;
    for (const [value, body] of [
      [null, MISSING],
      ['', MISSING],
      ['nsaa_x', INVALID],
      [`${access}x`, INVALID],
    ] as const) {
      browser.put(ACCESS, value);
      expect(answerOf(await browser.send('/me'))).toEqual([401, body, []]);
    }
    browser.put(ACCESS, access!);
    app.clock.advance(901 * SECOND);
    expect(answerOf(await browser.send('/me'))).toEqual([401, INVALID, []]);
  });

  it('a request with two copies of the cookie that it needs is refused, and a refresh token in the access cookie is invalid', async () => {
    const { [ACCESS]: access, [REFRESH]: refresh } = browser.jar;
    const send = (cookie: string, ...more: string[]) =>
      sendRaw(app, ['GET /me HTTP/1.1', `Cookie: ${cookie}`, ...more]);
    for (const twice of [`${ACCESS}=${access}; ${ACCESS}=${access}`, `${ACCESS}=; a=b; ${ACCESS}=${access}`]) {
      const { status, body } = await send(twice);
      expect([status, JSON.parse(body)]).toEqual([400, AMBIGUOUS]);
    }
    expect((await send(`${ACCESS}=${access}`, `Cookie: ${ACCESS}=x`)).status).toBe(400);
    expect((await send(`${ACCESS}=${access}; ${REFRESH}=1; ${REFRESH}=2; x${ACCESS}=3`)).status).toBe(200);
    expect((await send(`${ACCESS}=${refresh}`)).status).toBe(401);
    for (const others of [`${ACCESS.toLowerCase()}=${access}`, `${ACCESS}x=${access}`, `a=${ACCESS}=${access}`]) {
      expect([others, (await send(others)).status]).toEqual([others, 401]);
    }
    expect((await send(`${ACCESS}=${access!.replace('_', '%5F')}`)).status).toBe(401);
    expect((await send(`${ACCESS} = "${access}"`)).status).toBe(200);
    browser.put(REFRESH, `${refresh}; ${REFRESH}=${refresh}`);
    // The session is still active: an attacker who added the cookie cannot end the session of the browser.
    expect(answerOf(await browser.call('/auth/token/refresh'))).toEqual([400, AMBIGUOUS, []]);
  });

  it('a refused refresh clears the cookies, unless they name an active session', async () => {
    const refuse = async () => answerOf(await browser.call('/auth/token/refresh'));
    const { [REFRESH]: first } = browser.jar;
    await browser.send('/auth/reauthenticate', { method: 'POST', body: { password: PASSWORD } });
    const { [REFRESH]: second } = browser.jar;
    browser.put(REFRESH, first!);
    expect(await refuse()).toEqual([400, INVALID_REFRESH, []]);
    browser.put(REFRESH, second!);
    await browser.call('/auth/logout');
    for (const value of [null, '', 'x', second!]) {
      browser.put(REFRESH, value);
      expect(await refuse()).toEqual([400, INVALID_REFRESH, CLEARED]);
    }
  });

  it('a logout clears the cookies, even if no session is found', async () => {
    const { [REFRESH]: refresh } = browser.jar;
    const logout = () => browser.send('/auth/logout/', { method: 'POST' });
    expect(answerOf(await logout())).toEqual([200, { detail: 'Logged out successfully.' }, CLEARED]);
    expect(browser.jar).toEqual({});
    expect(await app.storedEnd(sessionId)).toMatchObject({ state: 'logged_out' });
    browser.put(REFRESH, refresh!);
    expect(answerOf(await logout())).toEqual([401, MISSING, CLEARED]);
    browser.put(ACCESS, 'nsaa_x');
    expect(answerOf(await logout())).toEqual([401, INVALID, CLEARED]);
    expect(answerOf(await browser.call('/auth/logout'))).toEqual([401, MISSING, CLEARED]);
    expect(answerOf(await app.http.post('/auth/logout'))).toEqual([401, MISSING, []]);
  });

  it.each([ACCESS, REFRESH])('a logout accepts the valid one of several cookies named %s', async (name) => {
    const { [name]: value } = browser.jar;
    const lines = [
      'POST /auth/logout HTTP/1.1',
      'Sec-Fetch-Site: same-origin',
      `Cookie: ${ACCESS}=x; ${REFRESH}=x; ${name}=${value}`,
    ];
    expect((await sendRaw(app, lines)).status).toBe(200);
    expect(await app.storedEnd(sessionId)).toMatchObject({ state: 'logged_out' });
  });

  it('the refresh cookie authenticates no endpoint except the logout', async () => {
    browser.put(ACCESS, null);
    for (const path of ['/auth/logout/all', '/change', '/auth/reauthenticate']) {
      expect((await browser.send(path, { method: 'POST' })).body).toEqual(MISSING);
    }
    expect((await browser.send('/auth/sessions')).body).toEqual(MISSING);
  });

  it('a logout of all sessions clears the cookies unless the current session is kept', async () => {
    const logoutAll = (body = {}) => browser.send('/auth/logout/all', { method: 'POST', body });
    expect(answerOf(await logoutAll({ keep_current: true }))).toEqual([200, expect.anything(), []]);
    expect(answerOf(await logoutAll())).toEqual([200, { detail: 'Revoked 1 session(s).' }, CLEARED]);
  });

  it('a tab that refreshes after another one with the new cookies receives the same cookies', async () => {
    await browser.call('/auth/token/refresh');
    const { jar } = browser;
    app.clock.advance(9 * SECOND);
    const late = await browser.call('/auth/token/refresh');
    expect([late.status, late.body, browser.jar]).toEqual([200, {}, jar]);
    expect(cookiesIn(late)[0]).toContain('Max-Age=891;');
    expect(cookiesIn(late)[1]).toContain('Max-Age=604791;');
  });

  it('the cookies are found among very many others, and a header that is too large is refused', async () => {
    const { [ACCESS]: access } = browser.jar;
    const send = (cookie: string) => sendRaw(app, ['GET /me HTTP/1.1', `Cookie: ${cookie}`]);
    const others = Array.from({ length: 900 }, (_, index) => `cookie${index}=x`).join('; ');
    expect((await send(`${others}; ${ACCESS}=${access}`)).status).toBe(200);
    expect((await send(`a=${'x'.repeat(20_000)}; ${ACCESS}=${access}`)).status).toBe(431);
    expect((await send(`;;=;${ACCESS};=x; ${ACCESS}=${access};`)).status).toBe(200);
    expect((await send(`__proto__=x; ${ACCESS}=%E0%A4%A; a="b;c"`)).status).toBe(401);
    expect((await browser.send('/me')).status).toBe(200);
  });
});
