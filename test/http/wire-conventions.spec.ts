import { VersioningType } from '@nestjs/common';
import { describeHttp, inChunks, sendRaw } from '../support/environment';
import { CREDENTIALS, PASSWORD, type TestApplication, type TestApplicationOptions } from '../support/test-application';

interface Route {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  /** Creates the request body from the response to a login. */
  readonly body?: (login: { refresh_token: string }) => object;
}

const ROUTES: readonly Route[] = [
  { method: 'POST', path: 'login', body: () => CREDENTIALS },
  { method: 'POST', path: 'token/refresh', body: ({ refresh_token }) => ({ refresh_token }) },
  { method: 'POST', path: 'logout' },
  { method: 'POST', path: 'logout/all', body: () => ({ keep_current: true }) },
  { method: 'GET', path: 'sessions' },
  { method: 'DELETE', path: 'sessions/:id' },
  { method: 'GET', path: 'history' },
  { method: 'POST', path: 'password/change', body: () => ({ current_password: PASSWORD, new_password: PASSWORD }) },
];

async function call(app: TestApplication, { method, path, body }: Route, slash = '/', prefix = '/auth/') {
  const { body: login } = await app.http.post(`${prefix}login`).send(CREDENTIALS).expect(200);
  const target = `${prefix}${path.replace(':id', login.session_id)}${slash}`;
  const request = app.http[method.toLowerCase() as 'get'](target).set('Authorization', `Bearer ${login.access_token}`);
  return body ? request.send(body(login)) : request;
}

describeHttp('wire conventions', {}, ({ app, platform }) => {
  const JSON_TYPE = 'Content-Type: application/json';
  const CHUNKED = 'Transfer-Encoding: chunked';
  const FORM = 'Content-Type: application/x-www-form-urlencoded';

  it.each([
    ['no body at all', [], ''],
    ['a JSON content type and no length', [JSON_TYPE], ''],
    ['a JSON content type and a length of 0', [JSON_TYPE, 'Content-Length: 0'], ''],
    ['a form content type and a length of 0', [FORM, 'Content-Length: 0'], ''],
    ['a JSON content type and no chunks', [JSON_TYPE, CHUNKED], inChunks('')],
    ['no content type and no chunks', [CHUNKED], inChunks('')],
    ['another content type and no chunks', ['Content-Type: text/plain', CHUNKED], inChunks('')],
  ])('%s counts as an absent body', async (_, headers, body) => {
    const post = async (path: string): Promise<unknown> => {
      const authorization = `Authorization: Bearer ${(await app.login()).access_token}`;
      const answer = await sendRaw(app, [`POST /auth/${path}/ HTTP/1.1`, authorization, ...headers], body);
      return [answer.status, JSON.parse(answer.body)];
    };
    const required = ['This field is required.'];
    expect(await post('login')).toEqual([400, { username: required, password: required }]);
    expect(await post('logout/all')).toEqual([200, { detail: 'Revoked 2 session(s).' }]);
    expect(await post('logout')).toEqual([200, { detail: 'Logged out successfully.' }]);
  });

  it('a chunked body is parsed if its content type is JSON, and refused with 415 otherwise', async () => {
    const send = async (json: string, ...headers: string[]): Promise<number> =>
      (await sendRaw(app, ['POST /auth/login HTTP/1.1', CHUNKED, ...headers], inChunks(json))).status;
    const good = JSON.stringify(CREDENTIALS);
    const large = JSON.stringify({ username: 'x'.repeat(150_000) });
    const json = [];
    for (const body of [good, '{', '[]', large]) json.push(await send(body, JSON_TYPE));
    expect(json).toEqual([200, 400, 400, 413]);
    expect([await send(good, 'Content-Type: text/plain'), await send(good), await send('a=b', FORM)]).toEqual([
      415, 415, 415,
    ]);
  });

  // Express does not decode the path before it routes a request.
  const isFastify = platform === 'fastify';
  const long = 'x'.repeat(200);

  it.each([
    ...['/auth/login', 'http://example.org/auth/login?x=1'],
    ...(isFastify ? ['/auth/%6Cogin', '/%61uth/login/', 'https://example.org/auth/log%69n?x=1'] : []),
  ])('the response to a malformed body that is sent to %s has the format of the library', async (target) => {
    const answer = await sendRaw(app, [`POST ${target} HTTP/1.1`, JSON_TYPE, 'Content-Length: 1'], '{');
    expect([answer.status, Object.keys(JSON.parse(answer.body) as object)]).toEqual([400, ['detail']]);
  });

  it.each([
    `/auth/sessions/${long}?x=1`,
    ...(isFastify ? [`/auth/s%65ssion%73/${long}`, `http://example.org/auth/%73essions/${long}`] : []),
  ])('the session %s is not found', async (target) => {
    const authorization = `Authorization: Bearer ${(await app.login()).access_token}`;
    const { status, body } = await sendRaw(app, [`DELETE ${target} HTTP/1.1`, authorization]);
    expect([status, body]).toEqual([404, '{"detail":"Session not found."}']);
  });

  it('a long parameter of other routes reaches the application unchanged', async () => {
    for (const [method, path] of [
      ['GET', `/auth/sessions/${long}`],
      ['DELETE', `/auth/sessions/${long}/confirm`],
    ]) {
      const { body } = await sendRaw(app, [`${method} ${path} HTTP/1.1`]);
      expect(JSON.parse(body)).toMatchObject({ message: expect.stringContaining(path!) });
    }
  });

  it('an unknown path has the error format of the application, with a malformed body too', async () => {
    const { body } = await app.http.get('/nowhere').expect(404);
    expect(body).toMatchObject({ statusCode: 404, error: 'Not Found' });
    for (const path of ['/elsewhere', '/auth/elsewhere']) {
      const answer = await app.http.post(path).set('Content-Type', 'application/json').send('{');
      expect([answer.status, answer.body.statusCode]).toEqual([400, 400]);
    }
  });
});

/** Where the routes are mounted, and paths under which they are not. */
const MOUNTED: [title: string, prefix: string, nowhere: string[], options: Partial<TestApplicationOptions>][] = [
  [
    'behind a global prefix of two parts with slashes around',
    '/api/public/auth/',
    ['/auth/login', '/api/auth/login'],
    { configure: (app) => void app.setGlobalPrefix('/api/public/') },
  ],
  [
    'at a path with a parameter behind a global prefix with a parameter',
    '/api/acme/emea/auth/',
    ['/auth/login', '/api/auth/login', '/api/acme/auth/login'],
    { auth: { path: ':region/auth' }, configure: (app) => void app.setGlobalPrefix('api/:tenant') },
  ],
  [
    'behind a global prefix that excludes some of the routes',
    '/auth/',
    ['/api/auth/login'],
    { configure: (app) => void app.setGlobalPrefix('api', { exclude: ['auth/{*path}'] }) },
  ],
  [
    'behind a prefix, where the application has versions in its URIs',
    '/api/auth/',
    ['/api/v1/auth/login', '/v1/api/auth/login', '/auth/login'],
    {
      configure: (app) => {
        app.setGlobalPrefix('api');
        app.enableVersioning({ type: VersioningType.URI, defaultVersion: ['1', '2'] });
      },
    },
  ],
];

for (const [title, prefix, nowhere, options] of MOUNTED) {
  describeHttp(`the library's routes ${title}`, options, ({ app }) => {
    it('the routes respond with and without the trailing slash, and do not exist under other paths', async () => {
      for (const route of ROUTES) {
        for (const slash of ['', '/']) {
          const { status, headers } = await call(app, route, slash, prefix);
          expect([route.path, slash, status, headers['cache-control']]).toEqual([route.path, slash, 200, 'no-store']);
        }
      }
      for (const target of nowhere) await app.http.post(target).send(CREDENTIALS).expect(404);
    });

    it("the response to a malformed body or a long id has the library's error format", async () => {
      const { accessToken } = await app.auth.login(CREDENTIALS);
      const detail = { detail: expect.any(String) };
      const malformed = await app.http.post(`${prefix}login/`).type('json').send('{');
      expect([malformed.status, malformed.body, malformed.headers['cache-control']]).toEqual([400, detail, 'no-store']);
      const large = await app.http.post(`${prefix}token/refresh`).send({ refresh_token: 'x'.repeat(200_000) });
      expect([large.status, large.body]).toEqual([413, detail]);
      const overlong = `${prefix}sessions/${'x'.repeat(200)}?x=1`;
      await app.delete(overlong, accessToken).expect(404, { detail: 'Session not found.' });
    });
  });
}
