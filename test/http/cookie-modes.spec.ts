import type { INestApplication } from '@nestjs/common';
import { ACCESS, answerOf, Browser, cookiesIn, REFRESH } from '../support/browser';
import { CREDENTIALS, INVALID_REFRESH, type Pair, PASSWORD, type PlatformName } from '../support/test-application';
import { bearer, CROSS_SITE, MISSING } from '../support/environment';
import { applicationStarter } from '../support/start-for-test';

const INSECURE = [403, { ...CROSS_SITE, detail: expect.stringContaining('`secure: false`') as string }, []];

/** Sets a cookie of the application in every response, by middleware and by Fastify's API. */
function setOwnCookies(app: INestApplication, platform: PlatformName): void {
  app.use((_: unknown, response: { appendHeader(name: string, value: string): void }, next: () => void) => {
    response.appendHeader('Set-Cookie', 'by_middleware=1; Path=/');
    next();
  });
  if (platform === 'express') return;
  type Hook = (request: unknown, reply: { header(name: string, value: string): void }, done: () => void) => void;
  const fastify = app.getHttpAdapter().getInstance() as { addHook(name: string, hook: Hook): void };
  fastify.addHook('preHandler', (_, reply, done) => {
    reply.header('Set-Cookie', 'by_hook=1; Path=/');
    done();
  });
}

describe.each<PlatformName>(['express', 'fastify'])('cookie modes on %s', (platform) => {
  const start = applicationStarter({ platform });

  it('cookies of the application and cookies of the library are each set once in one response', async () => {
    const app = await start({
      auth: { cookies: { mode: 'optional', name: 'app' } },
      configure: (app) => setOwnCookies(app, platform),
    });
    const browser = new Browser(app);
    const own = ['by_middleware', ...(platform === 'fastify' ? ['by_hook'] : [])];
    const ours = ['__Host-app_access', '__Host-app_refresh'];
    for (const path of ['/auth/login', '/auth/token/refresh', '/auth/logout']) {
      const cookies = cookiesIn(await browser.call(path, CREDENTIALS));
      expect(cookies.map((cookie) => cookie.split('=')[0])).toEqual([...own, ...ours]);
    }
  });

  it('in mode `only`, every login and refresh sets cookies, also behind a global prefix', async () => {
    const app = await start({
      auth: { cookies: { mode: 'only' }, path: 'account', globalGuard: true },
      configure: (app) => void app.setGlobalPrefix('api'),
    });
    const browser = new Browser(app);
    const send = async (path: string, more: object = {}) =>
      answerOf(await browser.send(`/api/account/${path}`, { method: 'POST', ...more }));
    const both = [expect.any(String), expect.any(String)];
    const opened = { session_id: expect.any(String) };
    expect(await send('login/', { body: CREDENTIALS })).toEqual([200, opened, both]);
    expect((await browser.send('/api/me')).body.username).toBe('alice');
    expect(await send('token/refresh')).toEqual([200, {}, both]);
    // A token in the body is ignored, even if the token is valid.
    const { [REFRESH]: refresh_token, [ACCESS]: token } = browser.jar;
    await app.http
      .post('/api/account/token/refresh')
      .set('Sec-Fetch-Site', 'none')
      .send({ refresh_token })
      .expect(400, INVALID_REFRESH);
    expect((await app.get('/api/me', token!)).body.username).toBe('alice');
    expect(answerOf(await app.post('/api/account/logout', token!))).toEqual([200, expect.anything(), []]);
    expect(await send('logout')).toEqual([401, expect.anything(), both]);
    expect(browser.jar).toEqual({});
  });
  it('in mode `only`, a request with neither Origin nor Sec-Fetch-Site can neither log in nor change a password', async () => {
    const app = await start({ auth: { cookies: { mode: 'only' } } });
    expect(answerOf(await app.http.post('/auth/login').send(CREDENTIALS))).toEqual([403, CROSS_SITE, []]);
    const { accessToken } = await app.auth.login(CREDENTIALS);
    await app.changePassword(accessToken, 'a new and better password').expect(403, CROSS_SITE);
    expect((await app.get('/auth/sessions', accessToken)).status).toBe(200);
    expect(answerOf(await app.http.post('/auth/logout'))).toEqual([401, expect.anything(), []]);
    await expect(app.auth.login(CREDENTIALS)).resolves.toHaveProperty('sessionId');
  });

  it('cookies without Secure work on localhost', async () => {
    const app = await start({ auth: { cookies: { mode: 'optional', secure: false } } });
    for (const address of ['localhost:3000', 'app.localhost:5173', '127.0.0.1', '127.9.9.9:8080', '[::1]:3000']) {
      for (const isOld of [false, true]) {
        const browser = new Browser(app, `http://${address}`, isOld);
        const cookies = cookiesIn(await browser.call('/auth/login', CREDENTIALS));
        expect([address, cookies]).toEqual([
          address,
          [
            expect.stringMatching(/^auth_access=nsaa_[\w-]+; Max-Age=900; Path=\/; HttpOnly; SameSite=Lax$/),
            expect.stringMatching(/^auth_refresh=nsar_[\w-]+; Max-Age=604800; Path=\/; HttpOnly; SameSite=Lax$/),
          ],
        ]);
        expect((await browser.send('/me')).status).toBe(200);
      }
    }
  });

  it.each(['app.example.com', 'localhost.example.com', '127.0.0.1.example.com', 'notlocalhost', '10.0.0.1'])(
    'cookies without Secure are neither read nor set on %s, and one warning is logged',
    async (name) => {
      const app = await start({ auth: { cookies: { mode: 'optional', secure: false } } });
      const browser = new Browser(app, `http://${name}`);
      const { accessToken } = await app.auth.login(CREDENTIALS);
      for (const attempt of [1, 2]) {
        expect([attempt, ...answerOf(await browser.call('/auth/login', CREDENTIALS))]).toEqual([attempt, ...INSECURE]);
      }
      browser.put('auth_access', accessToken);
      expect((await browser.send('/me')).body.code).toBe('credentials_missing');
      expect(app.logs.filter((line) => line.includes(`host or origin is "${name}"`))).toHaveLength(1);
      const plain = await browser.send('/auth/login', { method: 'POST', body: CREDENTIALS });
      expect(plain.body).toHaveProperty('access_token');
    },
  );

  it('cookies without Secure are not set for a public page whose proxy sends `localhost` as the host', async () => {
    const app = await start({ auth: { cookies: { mode: 'optional', secure: false } } });
    const browser = new Browser(app, 'https://app.example.com');
    const behindProxy = { headers: { Host: 'localhost:3000' } };
    expect(answerOf(await browser.call('/auth/login', CREDENTIALS, behindProxy))).toEqual(INSECURE);
    browser.put('auth_access', (await app.auth.login(CREDENTIALS)).accessToken);
    const changing = await browser.send('/auth/logout/all', { method: 'POST', ...behindProxy });
    expect([changing.status, changing.body.code]).toEqual([403, CROSS_SITE.code]);
    expect(app.logs.filter((line) => line.includes('host or origin is "app.example.com"'))).toHaveLength(1);
  });

  it('without the option `cookies`, cookies, X-Auth-Transport, Origin and Sec-Fetch-Site have no effect', async () => {
    const app = await start({ auth: { endpoints: { reauthenticate: true } } });
    const { access_token: token, refresh_token: refreshToken } = await app.login();
    const Cookie = `${ACCESS}=${token}; ${REFRESH}=${refreshToken}; auth_access=${token}`;
    const headers = {
      Cookie,
      'X-Auth-Transport': 'cookie',
      Origin: 'https://evil.test',
      'Sec-Fetch-Site': 'cross-site',
    };
    const me = (more = {}) => app.http.get('/me').set({ ...headers, ...more });
    const post = async (path: string, body?: object, more = {}) =>
      answerOf(
        await app.http
          .post(`/auth/${path}`)
          .set({ ...headers, ...more })
          .send(body),
      );
    expect(answerOf(await me())).toEqual([401, MISSING, []]);
    expect(await post('logout')).toEqual([401, MISSING, []]);
    expect(await post('token/refresh')).toEqual([400, { refresh_token: ['This field is required.'] }, []]);

    const pair = { access_token: expect.any(String), refresh_token: expect.any(String), token_type: 'Bearer' };
    expect(await post('login', CREDENTIALS)).toEqual([200, { ...pair, session_id: expect.any(String) }, []]);
    const [, refreshed] = await post('token/refresh', { refresh_token: refreshToken });
    expect(refreshed).toEqual(pair);
    const bearing = bearer((refreshed as Pair).access_token);
    expect((await me(bearing)).headers['cache-control']).toBeUndefined();
    const [, renewed] = await post('reauthenticate', { password: PASSWORD }, bearing);
    expect(renewed).toEqual(pair);
    expect(await post('logout', undefined, bearer((renewed as Pair).access_token))).toEqual([
      200,
      expect.anything(),
      [],
    ]);
  });
});
