import {
  Catch,
  ClassSerializerInterceptor,
  VersioningType,
  type ArgumentsHost,
  type ExceptionFilter,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { IncomingMessage } from 'node:http';
import { createDatabase } from '../support/databases';
import { PASSWORD, TestApplication } from '../support/test-application';
import {
  inChunks,
  restorePassword,
  sendRaw,
  describeHttp,
  TIMESTAMP,
  type TestEnvironment,
} from '../support/environment';

interface Route {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  /** Creates the request body from the response to a login. */
  readonly body?: (login: { refresh_token: string }) => object;
}

const NEW = 'a new and better password';

const ROUTES: readonly Route[] = [
  { method: 'POST', path: 'login', body: () => ({ username: 'alice', password: PASSWORD }) },
  { method: 'POST', path: 'token/refresh', body: ({ refresh_token }) => ({ refresh_token }) },
  { method: 'POST', path: 'logout' },
  { method: 'POST', path: 'logout/all', body: () => ({ keep_current: true }) },
  { method: 'GET', path: 'sessions' },
  { method: 'DELETE', path: 'sessions/:id' },
  { method: 'GET', path: 'history' },
  { method: 'POST', path: 'password/change', body: () => ({ current_password: PASSWORD, new_password: NEW }) },
];

async function call(app: TestApplication, { method, path, body }: Route, slash = '/', prefix = '/auth/') {
  const { body: login } = await app.http
    .post(`${prefix}login`)
    .send({ username: 'alice', password: PASSWORD })
    .expect(200);
  const target = `${prefix}${path.replace(':id', login.session_id)}${slash}`;
  const request = app.http[method.toLowerCase() as 'get'](target).set('Authorization', `Bearer ${login.access_token}`);
  return body ? request.send(body(login)) : request;
}

/** Returns every name and every value of a response. */
function* entriesOf(value: unknown): Generator<[string, unknown]> {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, inner] of Object.entries(value)) {
    if (!Array.isArray(value)) yield [name, inner];
    yield* entriesOf(inner);
  }
}

describeHttp('wire conventions', {}, (env: TestEnvironment) => {
  afterEach(() => restorePassword(env.app));

  it.each(ROUTES)('$method $path is the same route with and without the trailing slash', async (route) => {
    const { app } = env;
    const withSlash = await call(app, route, '/');
    await restorePassword(app);
    const without = await call(app, route, '');
    expect([withSlash.status, without.status]).toEqual([200, 200]);
    expect(Object.keys(withSlash.body)).toEqual(Object.keys(without.body));
  });

  it.each(ROUTES)('$method $path responds with JSON in snake_case that must not be cached', async (route) => {
    const { headers, body } = await call(env.app, route);
    expect(headers['content-type']).toBe('application/json; charset=utf-8');
    expect(headers['cache-control']).toBe('no-store');
    for (const [name, value] of entriesOf(body)) {
      expect(name).toMatch(/^[a-z]+(_[a-z]+)*$/);
      if (/^(created_at|last_activity|timestamp)$/.test(name)) expect(value).toMatch(TIMESTAMP);
    }
  });

  it('timestamps are those of the clock, in UTC', async () => {
    const { app } = env;
    const { access_token: token } = await app.login();
    const now = new Date(app.clock.now()).toISOString();
    expect((await app.get('/auth/sessions/', token)).body[0]).toMatchObject({ created_at: now, last_activity: now });
    expect((await app.get('/auth/history/', token)).body[0].timestamp).toBe(now);
  });

  it('errors of every endpoint are JSON that must not be cached', async () => {
    const { app } = env;
    const { access_token: token } = await app.login();
    const json = 'application/json';
    const post = (path: string) => app.http.post(`/auth/${path}/`).set('Authorization', `Bearer ${token}`);
    const answers = [
      [400, await post('login').send({})],
      [400, await post('login').send({ username: 'alice', password: 'wrong' })],
      [400, await post('login').set('Content-Type', json).send('{')],
      [400, await post('login').send([])],
      [415, await post('login').type('form').send('a=b')],
      [413, await post('login').send({ username: 'x'.repeat(200_000) })],
      [400, await post('token/refresh').send({})],
      [400, await post('token/refresh').send({ refresh_token: 'x' })],
      [400, await post('token/refresh').set('Content-Type', json).send('"x"')],
      [413, await post('token/refresh').send({ refresh_token: 'x'.repeat(200_000) })],
      [401, await app.http.post('/auth/logout/')],
      [401, await app.http.post('/auth/logout/all/')],
      [400, await post('logout/all').send({ keep_current: 1 })],
      [415, await post('logout/all').type('text').send('x')],
      [401, await app.http.get('/auth/sessions/')],
      [401, await app.http.get('/auth/sessions/').set('Authorization', 'Bearer x')],
      [404, await app.delete('/auth/sessions/x/', token)],
      [404, await app.delete(`/auth/sessions/${'x'.repeat(101)}/`, token)],
      [401, await app.http.delete(`/auth/sessions/${'x'.repeat(101)}/`)],
      [401, await app.http.get('/auth/history/')],
      [400, await app.get('/auth/history/?limit=0', token)],
      [400, await post('password/change').send({})],
      [400, await post('password/change').send({ current_password: 'x', new_password: 'y' })],
      [401, await app.http.post('/auth/password/change/')],
      [401, await app.http.get('/me')],
    ] as const;
    for (const [status, answer] of answers) {
      const { method, path } = answer.request as unknown as { method: string; path: string };
      const actual = [method, path, answer.status, answer.headers['cache-control'], answer.headers['content-type']];
      expect(actual).toEqual([method, path, status, 'no-store', 'application/json; charset=utf-8']);
    }
  });

  const JSON_TYPE = 'Content-Type: application/json';
  const CHUNKED = 'Transfer-Encoding: chunked';

  it.each([
    ['no body at all', [], ''],
    ['a JSON content type and no length', [JSON_TYPE], ''],
    ['a JSON content type and a length of 0', [JSON_TYPE, 'Content-Length: 0'], ''],
    ['a length of 0', ['Content-Length: 0'], ''],
    [
      'a form content type and a length of 0',
      ['Content-Type: application/x-www-form-urlencoded', 'Content-Length: 0'],
      '',
    ],
    ['a JSON content type and no chunks', [JSON_TYPE, CHUNKED], '0\r\n\r\n'],
    ['no content type and no chunks', [CHUNKED], '0\r\n\r\n'],
    ['another content type and no chunks', ['Content-Type: text/plain', CHUNKED], '0\r\n\r\n'],
  ])('%s counts as an absent body', async (_, headers, body) => {
    const { app } = env;
    const { access_token: token } = await app.login();
    const post = (path: string) =>
      sendRaw(app, [`POST /auth/${path}/ HTTP/1.1`, `Authorization: Bearer ${token}`, ...headers], body);
    const login = await post('login');
    expect([login.status, JSON.parse(login.body)]).toEqual([
      400,
      { username: ['This field is required.'], password: ['This field is required.'] },
    ]);
    const all = await post('logout/all');
    expect([all.status, JSON.parse(all.body)]).toEqual([200, { detail: 'Revoked 1 session(s).' }]);
    const other = await app.login();
    const out = await sendRaw(
      app,
      ['POST /auth/logout/ HTTP/1.1', `Authorization: Bearer ${other.access_token}`, ...headers],
      body,
    );
    expect(out.status).toBe(200);
  });

  it('a chunked body is parsed if its content type is JSON, and refused with 415 otherwise', async () => {
    const { app } = env;
    const send = (json: string, ...headers: string[]) =>
      sendRaw(app, ['POST /auth/login HTTP/1.1', CHUNKED, ...headers], inChunks(json));
    const good = JSON.stringify({ username: 'alice', password: PASSWORD });
    expect((await send(good, JSON_TYPE)).status).toBe(200);
    expect((await send('{}', JSON_TYPE)).status).toBe(400);
    expect((await send('[]', JSON_TYPE)).status).toBe(400);
    expect((await send(good, 'Content-Type: text/plain')).status).toBe(415);
    expect((await send(good)).status).toBe(415);
    expect((await send('username=alice', 'Content-Type: application/x-www-form-urlencoded')).status).toBe(415);
  });

  it('the response to a malformed body on an unknown path has the error format of the application', async () => {
    const answer = await env.app.http.post('/elsewhere').set('Content-Type', 'application/json').send('{');
    expect([answer.status, answer.body.statusCode]).toEqual([400, 400]);
    const near = await env.app.http.post('/auth/elsewhere').set('Content-Type', 'application/json').send('{');
    expect([near.status, near.body.statusCode]).toEqual([400, 400]);
  });

  it("an unknown path has the application's error format", async () => {
    const { body } = await env.app.http.get('/nowhere').expect(404);
    expect(body).toMatchObject({ statusCode: 404, error: 'Not Found' });
  });
});

const MOUNTED: Readonly<
  Record<string, { prefix: string; nowhere: string[]; path?: string; configure: (app: NestExpressApplication) => void }>
> = {
  'behind a global prefix': {
    prefix: '/api/auth/',
    nowhere: ['/auth/login'],
    configure: (app) => void app.setGlobalPrefix('api'),
  },
  'behind a global prefix of two parts with slashes around': {
    prefix: '/api/public/auth/',
    nowhere: ['/auth/login', '/api/auth/login'],
    configure: (app) => void app.setGlobalPrefix('/api/public/'),
  },
  'at a path that the application chose': {
    prefix: '/accounts/session/',
    nowhere: ['/auth/login', '/session/login'],
    path: 'accounts/session',
    configure: () => undefined,
  },
  'at a path behind a prefix': {
    prefix: '/api/id/',
    nowhere: ['/auth/login', '/id/login', '/api/auth/login'],
    path: 'id',
    configure: (app) => void app.setGlobalPrefix('api'),
  },
  'behind a global prefix with a parameter': {
    prefix: '/api/acme/auth/',
    nowhere: ['/auth/login', '/api/auth/login'],
    configure: (app) => void app.setGlobalPrefix('api/:tenant'),
  },
  'behind a global prefix that excludes some of the routes': {
    prefix: '/auth/',
    nowhere: ['/api/auth/login'],
    configure: (app) => void app.setGlobalPrefix('api', { exclude: ['auth/{*path}'] }),
  },
  'at a path with a parameter': {
    prefix: '/acme/account/',
    nowhere: ['/auth/login', '/account/login'],
    path: ':tenant/account',
    configure: () => undefined,
  },
  'where the application has versions in its URIs': {
    prefix: '/auth/',
    nowhere: ['/v1/auth/login', '/1/auth/login'],
    configure: (app) => void app.enableVersioning({ type: VersioningType.URI, defaultVersion: '1' }),
  },
  'behind a prefix, where the application has versions in its URIs': {
    prefix: '/api/auth/',
    nowhere: ['/api/v1/auth/login', '/v1/api/auth/login', '/auth/login'],
    configure: (app) =>
      void app.setGlobalPrefix('api').enableVersioning({ type: VersioningType.URI, defaultVersion: ['1', '2'] }),
  },
  'where the application has versions in a header': {
    prefix: '/auth/',
    nowhere: ['/v1/auth/login'],
    configure: (app) =>
      void app.enableVersioning({ type: VersioningType.HEADER, header: 'X-Version', defaultVersion: '1' }),
  },
  'where the application has versions in the media type': {
    prefix: '/auth/',
    nowhere: ['/v1/auth/login'],
    configure: (app) => void app.enableVersioning({ type: VersioningType.MEDIA_TYPE, key: 'v=', defaultVersion: '1' }),
  },
};

for (const [title, { prefix, nowhere, path, configure }] of Object.entries(MOUNTED)) {
  describeHttp(
    `the library's routes ${title}`,
    { configure, ...(path ? { auth: { path } } : {}) },
    (env: TestEnvironment) => {
      afterEach(() => restorePassword(env.app));

      it('the routes respond with and without the trailing slash', async () => {
        for (const route of ROUTES) {
          for (const slash of ['', '/']) {
            const { status, headers } = await call(env.app, route, slash, prefix);
            expect([route.path, slash, status, headers['cache-control']]).toEqual([route.path, slash, 200, 'no-store']);
            await restorePassword(env.app);
          }
        }
      });

      it('the routes do not exist under other paths', async () => {
        for (const target of nowhere) {
          await env.app.http.post(target).send({ username: 'alice', password: PASSWORD }).expect(404);
        }
      });

      it("the response to a malformed body or a long id has the library's error format", async () => {
        const { app } = env;
        const { body } = await app.http.post(`${prefix}login`).send({ username: 'alice', password: PASSWORD });
        const malformed = await app.http.post(`${prefix}login/`).set('Content-Type', 'application/json').send('{');
        expect([malformed.status, malformed.body]).toEqual([400, { detail: expect.any(String) }]);
        expect(malformed.headers['cache-control']).toBe('no-store');
        const large = await app.http.post(`${prefix}token/refresh`).send({ refresh_token: 'x'.repeat(200_000) });
        expect([large.status, large.body]).toEqual([413, { detail: expect.any(String) }]);
        const overlong = await app.delete(`${prefix}sessions/${'x'.repeat(200)}?x=1`, body.access_token);
        expect([overlong.status, overlong.body]).toEqual([404, { detail: 'Session not found.' }]);
      });
    },
  );
}

@Catch()
class RewritingFilter implements ExceptionFilter {
  catch(_: unknown, host: ArgumentsHost): void {
    host
      .switchToHttp()
      .getResponse<{ status(code: number): { send(body: object): void } }>()
      .status(418)
      .send({ own: 1 });
  }
}

describeHttp(
  'applications that rewrite their errors',
  { configure: (app) => void app.useGlobalFilters(new RewritingFilter()) },
  (env: TestEnvironment) => {
    it("the guard's refusal on a route of the application has the application's body and the library's headers", async () => {
      for (const [value, challenge] of [
        ['', 'Bearer realm="api"'],
        ['Bearer x', 'Bearer realm="api", error="invalid_token"'],
      ] as const) {
        const { status, headers, body } = await env.app.http.get('/me').set('Authorization', value);
        expect([status, body]).toEqual([418, { own: 1 }]);
        expect(headers).toMatchObject({ 'www-authenticate': challenge, 'cache-control': 'no-store' });
      }
    });

    it("the library's own routes keep their error format", async () => {
      await env.app.http
        .get('/auth/sessions')
        .expect(401, { detail: 'Authentication credentials were not provided.', code: 'credentials_missing' });
      await env.app.http.post('/auth/login').send({}).expect(400);
    });
  },
);

describeHttp(
  'applications that accept larger bodies',
  {
    configure: (app) => {
      const isExpress = app.getHttpAdapter().getType() === 'express';
      if (isExpress) app.useBodyParser('json', { limit: '1mb' });
      else (app as unknown as NestFastifyApplication).useBodyParser('application/json', { bodyLimit: 1024 * 1024 });
    },
  },
  (env: TestEnvironment) => {
    it("the limit of the application applies to the library's routes", async () => {
      const post = (length: number) =>
        env.app.http.post('/auth/token/refresh').send({ refresh_token: 'x'.repeat(length) });
      await post(900_000).expect(400, { non_field_errors: ['Invalid or expired refresh token.'] });
      const { status, body } = await post(1_100_000);
      expect([status, body]).toEqual([413, { detail: expect.any(String) }]);
    });
  },
);

describeHttp(
  'a global ClassSerializerInterceptor that exposes no property',
  {
    configure: (app) => {
      app.useGlobalInterceptors(new ClassSerializerInterceptor(app.get(Reflector), { strategy: 'excludeAll' }));
    },
    auth: { recentLogin: { endpoint: true } },
  },
  (env: TestEnvironment) => {
    it('does not change the responses of the library', async () => {
      const { app } = env;
      const opened = await app.login();
      expect(Object.keys(opened).sort()).toEqual(['access_token', 'refresh_token', 'session_id', 'token_type']);
      const { body: pair } = await app.refresh(opened.refresh_token).expect(200);
      expect(Object.keys(pair).sort()).toEqual(['access_token', 'refresh_token', 'token_type']);
      const { body: sessions } = await app.get('/auth/sessions', pair.access_token);
      expect(sessions).toMatchObject([{ id: opened.session_id, is_current: true }]);
      const { body: history } = await app.get('/auth/history', pair.access_token);
      expect(history[0]).toMatchObject({ event: 'token_refresh', extra: {} });
      const { body: renewed } = await app.post('/auth/reauthenticate', pair.access_token).send({ password: PASSWORD });
      expect(Object.keys(renewed).sort()).toEqual(['access_token', 'refresh_token', 'token_type']);
      await app.post('/auth/logout', renewed.access_token).expect(200, { detail: 'Logged out successfully.' });
    });
  },
);

type Middleware = (request: IncomingMessage & { body?: unknown }, response: unknown, next: () => void) => void;

/** How adapters for serverless platforms hand a request to Express. */
const HANDED_OVER: Readonly<Record<string, Middleware>> = {
  'a numeric Content-Length': ({ headers }, _response, next) => {
    Object.assign(headers, { 'content-length': Number(headers['content-length']) });
    next();
  },
  'a body that is parsed already, without Content-Length': (request, _response, next) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      delete request.headers['content-length'];
      if (chunks.length > 0) request.body = JSON.parse(Buffer.concat(chunks).toString());
      next();
    });
  },
};

describe.each(Object.entries(HANDED_OVER))('requests with %s', (_title, middleware) => {
  it('the body of a request counts', async () => {
    const database = await createDatabase('sqlite');
    const app = await TestApplication.start({ database, configure: (nest) => void nest.use(middleware) });
    const first = await app.login();
    await app.refresh(first.refresh_token).expect(200);
    const { access_token: token } = await app.login();
    await app.post('/auth/logout/all', token, { keep_current: true }).expect(200, { detail: 'Revoked 1 session(s).' });
    await app.get('/me', token).expect(200);
    await app.post('/auth/logout/all', token).expect(200);
    await app.get('/me', token).expect(401);
    await app.close();
    await database.drop();
  });
});
