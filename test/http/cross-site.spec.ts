import { Delete, Post } from '@nestjs/common';
import { ACCESS, answerOf, Browser, type Initiator } from '../support/browser';
import { CROSS_SITE, describeHttp, sendRaw } from '../support/environment';
import { controllerOf, GUARD } from '../support/handlers';
import { CREDENTIALS, PASSWORD } from '../support/test-application';

const EVIL = 'https://evil.test';
const SIBLING = 'https://blog.example.com';
const TRUSTED = 'https://app.example.com';

const Money = controllerOf('money', [GUARD], { transfer: [Post()], close: [Delete()] });
const auth = { cookies: { mode: 'optional' as const, trustedOrigins: [TRUSTED] } };

describeHttp('a browser with a session', { auth, controllers: [Money] }, ({ app }) => {
  let browser: Browser;
  let sessionId: string;

  beforeEach(async () => {
    browser = new Browser(app);
    sessionId = await browser.logIn();
  });
  const expectUntouched = async (): Promise<void> => {
    expect(await app.storedEnd(sessionId)).toMatchObject({ state: 'active' });
    expect((await browser.send('/me')).status).toBe(200);
  };

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
});
