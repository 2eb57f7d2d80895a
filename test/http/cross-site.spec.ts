import { Controller, Delete, Get, Post } from '@nestjs/common';
import { ACCESS, answerOf, Browser, cookiesIn, type BrowserRequest, type Initiator } from '../support/browser';
import { CROSS_SITE, describeHttp, sendRaw } from '../support/environment';
import { GUARD } from '../support/handlers';
import { CREDENTIALS, PASSWORD } from '../support/test-application';

const EVIL = 'https://evil.test';
const SIBLING = 'https://blog.example.com';
const TRUSTED = 'https://app.example.com';

@Controller('money')
@GUARD
class MoneyController {
  static transfers = 0;

  @Get()
  balance(): object {
    return { balance: 1 };
  }

  @Post()
  transfer(): void {
    MoneyController.transfers += 1;
  }

  @Delete()
  close(): void {
    this.transfer();
  }
}

const auth = { cookies: { mode: 'optional' as const, trustedOrigins: [TRUSTED] } };

describeHttp('a browser with a session', { auth, controllers: [MoneyController] }, ({ app }) => {
  let browser: Browser;
  let sessionId: string;

  beforeEach(async () => {
    MoneyController.transfers = 0;
    browser = new Browser(app);
    sessionId = await browser.logIn();
  });
  const expectUntouched = async (): Promise<void> => {
    expect(MoneyController.transfers).toBe(0);
    expect(await app.storedEnd(sessionId)).toMatchObject({ state: 'active' });
    expect((await browser.send('/me')).status).toBe(200);
  };
  const attack = async (path: string, request: BrowserRequest): Promise<unknown> => {
    const { status, body } = await browser.send(path, request);
    return [status, (body as { code?: string }).code];
  };

  it('another site can navigate the browser to a GET route, and the request changes nothing', async () => {
    expect(await attack('/money', { from: EVIL, navigates: true })).toEqual([200, undefined]);
    expect(await attack('/money', { from: 'address bar', navigates: true })).toEqual([200, undefined]);
    await expectUntouched();
  });

  it('requests that a sibling subdomain starts carry the cookies and are refused', async () => {
    for (const old of [false, true]) {
      const attacked = new Browser(app, 'https://api.example.com', old);
      for (const [name, value] of Object.entries(browser.jar)) attacked.put(name, value);
      for (const [path, from, method = 'POST'] of [
        ...['/money', '/auth/logout', '/auth/logout/all', '/auth/password/change'].map((path) => [path, SIBLING]),
        ...['/money', `/auth/sessions/${sessionId}`].map((path) => [path, SIBLING, 'DELETE']),
        // A different scheme or port makes a different origin.
        ...['http://api.example.com', 'https://api.example.com:8443', `${TRUSTED}:8443`, `${TRUSTED}.evil.test`].map(
          (from) => ['/money', from],
        ),
      ] as [string, Initiator, 'DELETE'?][]) {
        // The request carries the cookies in any case, as from a browser that does not support `SameSite`.
        const headers = { Cookie: attacked.headersOf({})['Cookie']! };
        const found = answerOf(await attacked.send(path, { method, from, headers }));
        expect([path, from, ...found]).toEqual([path, from, 403, CROSS_SITE, []]);
      }
    }
    await expectUntouched();
  });

  it('requests from a trusted origin and from the same origin are accepted, even from old browsers', async () => {
    for (const from of [TRUSTED, 'https://api.example.com'] as const) {
      for (const old of [false, true]) {
        const page = new Browser(app, 'https://api.example.com', old);
        const { body } = await page.call('/auth/login', CREDENTIALS, { from });
        expect(Object.keys(body as object)).toEqual(['session_id']);
        expect((await page.send('/money', { method: 'POST', from })).status).toBe(201);
        expect((await page.call('/auth/token/refresh', undefined, { from })).status).toBe(200);
        expect((await page.send('/auth/logout', { method: 'POST', from })).status).toBe(200);
      }
    }
  });

  it('a request without a trusted origin is accepted only if its headers show that the user or the same origin started it', async () => {
    const send = (...headers: string[]) =>
      sendRaw(app, ['POST /money HTTP/1.1', `Cookie: ${ACCESS}=${browser.jar[ACCESS]}`, ...headers]);
    expect((await send('Sec-Fetch-Site: none')).status).toBe(201);
    // `Referrer-Policy: no-referrer` makes the origin of a form null.
    expect((await send('Origin: null', 'Sec-Fetch-Site: same-origin')).status).toBe(201);
    MoneyController.transfers = 0;
    const own = 'https://127.0.0.1';
    for (const headers of [
      ...[[], ['Origin: null'], ['Sec-Fetch-Site: same-site'], ['Sec-Fetch-Site: '], ['Sec-Fetch-Site: Same-Origin']],
      ...[['Sec-Fetch-Site: cross-site', `Origin: ${own}`], [`Referer: ${own}/`], ['Origin: http://127.0.0.1']],
      ...[[`Origin: ${own}`, `Origin: ${own}`], [`Origin: ${TRUSTED}, ${TRUSTED}`], [`Origin: ${TRUSTED}/`]],
      ['Sec-Fetch-Site: same-origin', 'Sec-Fetch-Site: same-origin'],
    ]) {
      const { status, body } = await send(...headers);
      expect([headers, status, JSON.parse(body)]).toEqual([headers, 403, CROSS_SITE]);
    }
    expect((await send(`Origin: ${own}`)).status).toBe(201);
    MoneyController.transfers = 0;
    await expectUntouched();
  });

  it('another site cannot log the browser in as another user, and the attempt opens no session', async () => {
    const before = browser.jar;
    const body = { username: 'bob', password: PASSWORD };
    for (const from of [EVIL, SIBLING, 'null'] as const) {
      for (const path of ['/auth/login', '/auth/token/refresh']) {
        const response = await browser.call(path, body, { from, navigates: true });
        expect(answerOf(response)).toEqual([403, CROSS_SITE, []]);
      }
    }
    expect(browser.jar).toEqual(before);
    const rows: { n: unknown }[] = await app.dataSource.query('SELECT COUNT(*) AS n FROM auth_sessions');
    expect(Number(rows[0]!.n)).toBe(1);
    await expectUntouched();
  });

  it('another site cannot count failed logins against the visitor', async () => {
    for (let i = 0; i < 12; i++) {
      const body = { username: 'alice', password: 'wrong' };
      expect((await browser.call('/auth/login', body, { from: EVIL, navigates: true })).status).toBe(403);
    }
    expect(await app.dataSource.query('SELECT * FROM auth_login_failures')).toEqual([]);
    expect(app.sent('login_failed')).toEqual([]);
    expect((await browser.call('/auth/login', CREDENTIALS)).status).toBe(200);
  });

  it('a form from another site can neither end the session nor clear the cookies', async () => {
    for (const [path, headers] of [
      ['/auth/logout', {}],
      ['/auth/logout', { 'X-Auth-Transport': 'cookie' }],
      ['/auth/token/refresh', { 'X-Auth-Transport': 'cookie' }],
    ] as const) {
      const response = await browser.send(path, { method: 'POST', from: EVIL, navigates: true, headers });
      expect([response.status === 200, cookiesIn(response)]).toEqual([false, []]);
    }
    await expectUntouched();
  });

  it('cookies that a sibling subdomain sets do not affect a session', async () => {
    const attacker = await app.login('bob');
    expect(browser.setFromSibling(ACCESS, attacker.access_token)).toBe(false);
    for (const name of ['auth_access', '__host-auth_access', 'Host-auth_access', 'x__Host-auth_access']) {
      browser.setFromSibling(name, attacker.access_token);
    }
    expect((await browser.send('/me')).body.username).toBe('alice');
    // A browser that does not enforce the prefix sends both cookies.
    const twice = `${ACCESS}=${attacker.access_token}; ${ACCESS}=${browser.jar[ACCESS]}`;
    const { status } = await browser.send('/me', { headers: { Cookie: twice } });
    expect(status).toBe(400);
    await expectUntouched();
  });

  it('a request without session cookies is refused if other cookies displaced them in the browser', async () => {
    for (let index = 0; index < 40; index += 1) browser.setFromSibling(`filler${index}`, 'x'.repeat(500));
    const { status, headers } = await browser.send('/me');
    expect([status, headers['set-cookie']]).toEqual([431, undefined]);
    const many = Array.from({ length: 180 }, (_, index) => `f${index}=${index}`).join('; ');
    const pushedOut = await browser.send('/me', { headers: { Cookie: many } });
    expect([pushedOut.status, pushedOut.body.code]).toEqual([401, 'credentials_missing']);
    expect(await app.storedEnd(sessionId)).toMatchObject({ state: 'active' });
  });
});
