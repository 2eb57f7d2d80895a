import { Post, UseGuards } from '@nestjs/common';
import { CurrentSession, OptionalAuth } from 'nestjs-session-auth';
import { Browser } from '../support/browser';
import { SECOND } from '../support/driven-clock';
import { bearer, describeHttp, INVALID_ACCESS as INVALID, sendRaw } from '../support/environment';
import { controllerOf, GUARD, returning } from '../support/handlers';
import { HeaderTokens } from '../support/header-tokens';
import { PageGuard } from '../support/page-guard';

const Who = controllerOf('who', [], {
  guarded: [GUARD, returning(CurrentSession())],
  write: [GUARD, Post('guarded'), returning(CurrentSession())],
  page: [UseGuards(PageGuard)],
  optional: [OptionalAuth(), returning(CurrentSession())],
});

const EVIL = 'https://evil.test';

describe.each([false, 'optional'] as const)('a token source over HTTP, with the cookie mode %s', (mode) => {
  const options = { controllers: [Who], auth: { tokenSource: HeaderTokens, cookies: { mode } } };

  describeHttp('a token source', options, ({ app }) => {
    type Headers = Readonly<Record<string, string>>;
    /** Returns the id of the session of a request, null for none, or the status of a refusal. */
    const ask = async (path: string, headers: Headers, method: 'get' | 'post' = 'get'): Promise<unknown> => {
      const { ok, body, status } = await app.http[method](`/who/${path}`).set(headers);
      return ok ? ((body as [{ id: string } | null])[0]?.id ?? null) : status;
    };
    const expectInvalid = async (headers: Headers): Promise<void> => {
      for (const path of ['/who/guarded', '/who/optional', '/auth/sessions'])
        await app.http.get(path).set(headers).expect(401, INVALID);
    };

    it("finds the token of the application's and of the library's routes, and shared caches store no response", async () => {
      const { access_token: token, session_id } = await app.login();
      for (const path of ['guarded', 'optional']) {
        const { headers, body } = await app.http.get(`/who/${path}`).set('X-Token', token).expect(200);
        expect([path, headers['cache-control'], body[0].id]).toEqual([path, 'private', session_id]);
      }
      await app.http.get('/auth/sessions').set('X-Token', token).expect(200);
      await app.http.post('/auth/logout').set('X-Token', token).expect(200);
      await expectInvalid({ 'X-Token': token });
    });

    it('that finds no token leaves the call to the Authorization header', async () => {
      const { access_token: token, session_id } = await app.login();
      expect(await ask('guarded', bearer(token))).toBe(session_id);
      expect([await ask('guarded', {}), await ask('optional', {})]).toEqual([401, null]);
    });

    it('takes precedence over the Authorization header', async () => {
      const { access_token: token } = await app.login();
      const { access_token: other, session_id } = await app.login('bob');
      expect(await ask('guarded', { ...bearer(token), 'X-Token': other })).toBe(session_id);
      await expectInvalid({ ...bearer(token), 'X-Token': 'invalid' });
      const lines = [`X-Token: ${token}`, 'Authorization: a', 'Authorization: b'];
      expect((await sendRaw(app, ['GET /who/guarded HTTP/1.1', ...lines])).status).toBe(400);
    });

    it('that throws causes 401 and a log entry, whatever the Authorization header and the route', async () => {
      const { access_token: token } = await app.login();
      app.logs.length = 0;
      await expectInvalid({ ...bearer(token), 'X-Token': 'failure' });
      expect(app.logs.filter((line) => line.includes('The token source failed'))).toHaveLength(1);
      app.clock.advance(60_000);
      await expectInvalid({ 'X-Token': 'failure' });
      expect(app.logs.filter((line) => line.includes('the shelf is empty'))).toHaveLength(2);
    });

    it('that passes on a value of a client that is no text causes 401', async () => {
      for (const value of [null, 5, true, {}, { length: 75 }, Array.from('x'.repeat(75))])
        await expectInvalid({ 'X-Token': `json ${JSON.stringify(value)}` });
    });

    it('that finds a token of the Cookie header requires the cross-site check for methods other than GET', async () => {
      const { access_token: token, session_id } = await app.login();
      const sent = { 'X-Token': token, Cookie: `own=s%3A${token}.sig` };
      const same = { ...sent, 'Sec-Fetch-Site': 'same-origin' };
      const foreign: Headers[] = [sent, { ...sent, Origin: EVIL }, { ...sent, 'Sec-Fetch-Site': 'same-site' }];
      const { headers } = await app.http.get('/who/guarded').set(foreign[1]!).expect(200);
      expect(headers['cache-control']).toBe('private');
      expect(await ask('guarded', same, 'post')).toBe(session_id);
      for (const path of ['/who/guarded', '/auth/logout/all', '/auth/logout'])
        for (const one of foreign)
          await app.http
            .post(path)
            .set(one)
            .expect(403, /cross_site_request/);
      expect(await ask('guarded', { 'X-Token': token, Origin: EVIL }, 'post')).toBe(session_id);
      for (const written of [token, `j%3A%7B%22t%22%3A%22${token}%22%7D`, `"${token}"`, token.replace('_', '%5F')])
        for (const Cookie of [`t=${written}`, `a=%zz; t=${written}`])
          expect([Cookie, await ask('guarded', { ...sent, Cookie }, 'post')]).toEqual([Cookie, 403]);
      expect(await ask('guarded', { ...sent, Cookie: `t=${token.slice(0, -1)}` }, 'post')).toBe(session_id);
      await app.http.post('/auth/logout').set(same).expect(200);
      expect(await ask('optional', sent)).toBeNull();
    });
  });
});

const page = {
  controllers: [Who],
  providers: [PageGuard],
  auth: { tokenSource: HeaderTokens, cookies: { mode: 'optional' as const } },
};

describeHttp('a token source beside cookies', page, ({ app }) => {
  it('whose token is refused does not leave the request to AuthCookies.refresh', async () => {
    const browser = new Browser(app);
    await browser.logIn();
    app.clock.advance(3600 * SECOND);
    const { jar } = browser;
    expect((await browser.send('/who/page', { headers: { 'X-Token': 'invalid' } })).status).toBe(403);
    expect(browser.jar).toEqual(jar);
    expect((await browser.send('/who/page')).status).toBe(200);
  });
});
