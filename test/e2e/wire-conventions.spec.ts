import { Catch, VersioningType, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { PASSWORD, type Host } from '../support/host';
import { inChunks, restorePassword, sendRaw, storiesOnBothPlatforms, TIMESTAMP, type Stage } from './stories';

interface Route {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  /** Made of what a login gave. */
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

async function call(host: Host, { method, path, body }: Route, slash = '/', prefix = '/auth/') {
  const { body: login } = await host.http
    .post(`${prefix}login`)
    .send({ username: 'alice', password: PASSWORD })
    .expect(200);
  const target = `${prefix}${path.replace(':id', login.session_id)}${slash}`;
  const request = host.http[method.toLowerCase() as 'get'](target).set('Authorization', `Bearer ${login.access_token}`);
  return body ? request.send(body(login)) : request;
}

/** Every name and every value of an answer. */
function* entriesOf(value: unknown): Generator<[string, unknown]> {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, inner] of Object.entries(value)) {
    if (!Array.isArray(value)) yield [name, inner];
    yield* entriesOf(inner);
  }
}

storiesOnBothPlatforms('on the wire', {}, (at: Stage) => {
  afterEach(() => restorePassword(at.host));

  it.each(ROUTES)('$method $path is the same route with and without the trailing slash', async (route) => {
    const { host } = at;
    const withSlash = await call(host, route, '/');
    await restorePassword(host);
    const without = await call(host, route, '');
    expect([withSlash.status, without.status]).toEqual([200, 200]);
    expect(Object.keys(withSlash.body)).toEqual(Object.keys(without.body));
  });

  it.each(ROUTES)('$method $path responds with JSON in snake_case that must not be cached', async (route) => {
    const { headers, body } = await call(at.host, route);
    expect(headers['content-type']).toBe('application/json; charset=utf-8');
    expect(headers['cache-control']).toBe('no-store');
    for (const [name, value] of entriesOf(body)) {
      expect(name).toMatch(/^[a-z]+(_[a-z]+)*$/);
      if (/^(created_at|last_activity|timestamp)$/.test(name)) expect(value).toMatch(TIMESTAMP);
    }
  });

  it('timestamps are those of the clock, in UTC', async () => {
    const { host } = at;
    const { access_token: token } = await host.login();
    const now = new Date(host.clock.now()).toISOString();
    expect((await host.get('/auth/sessions/', token)).body[0]).toMatchObject({ created_at: now, last_activity: now });
    expect((await host.get('/auth/history/', token)).body[0].timestamp).toBe(now);
  });

  it('errors must not be cached either', async () => {
    const { host } = at;
    const { access_token: token } = await host.login();
    const json = 'application/json';
    const post = (path: string) => host.http.post(`/auth/${path}/`).set('Authorization', `Bearer ${token}`);
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
      [401, await host.http.post('/auth/logout/')],
      [401, await host.http.post('/auth/logout/all/')],
      [400, await post('logout/all').send({ keep_current: 1 })],
      [415, await post('logout/all').type('text').send('x')],
      [401, await host.http.get('/auth/sessions/')],
      [401, await host.http.get('/auth/sessions/').set('Authorization', 'Bearer x')],
      [404, await host.delete('/auth/sessions/x/', token)],
      [404, await host.delete('/auth/sessions/%zz/', token)],
      [401, await host.http.delete('/auth/sessions/%zz/')],
      [401, await host.http.get('/auth/history/')],
      [400, await host.get('/auth/history/?limit=0', token)],
      [400, await post('password/change').send({})],
      [400, await post('password/change').send({ current_password: 'x', new_password: 'y' })],
      [401, await host.http.post('/auth/password/change/')],
      [401, await host.http.get('/me')],
    ] as const;
    for (const [status, answer] of answers) {
      const { method, path } = answer.request as unknown as { method: string; path: string };
      const told = [method, path, answer.status, answer.headers['cache-control'], answer.headers['content-type']];
      expect(told).toEqual([method, path, status, 'no-store', 'application/json; charset=utf-8']);
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
  ])('%s is an absent body', async (_, headers, body) => {
    const { host } = at;
    const { access_token: token } = await host.login();
    const post = (path: string) =>
      sendRaw(host, [`POST /auth/${path}/ HTTP/1.1`, `Authorization: Bearer ${token}`, ...headers], body);
    const login = await post('login');
    expect([login.status, JSON.parse(login.body)]).toEqual([
      400,
      { username: ['This field is required.'], password: ['This field is required.'] },
    ]);
    const all = await post('logout/all');
    expect([all.status, JSON.parse(all.body)]).toEqual([200, { detail: 'Revoked 1 session(s).' }]);
    const other = await host.login();
    const out = await sendRaw(
      host,
      ['POST /auth/logout/ HTTP/1.1', `Authorization: Bearer ${other.access_token}`, ...headers],
      body,
    );
    expect(out.status).toBe(200);
  });

  it('a body may come in chunks', async () => {
    const { host } = at;
    const send = (json: string, ...headers: string[]) =>
      sendRaw(host, ['POST /auth/login HTTP/1.1', CHUNKED, ...headers], inChunks(json));
    const good = JSON.stringify({ username: 'alice', password: PASSWORD });
    expect((await send(good, JSON_TYPE)).status).toBe(200);
    expect((await send('{}', JSON_TYPE)).status).toBe(400);
    expect((await send('[]', JSON_TYPE)).status).toBe(400);
    expect((await send(good, 'Content-Type: text/plain')).status).toBe(415);
    expect((await send(good)).status).toBe(415);
    expect((await send('username=alice', 'Content-Type: application/x-www-form-urlencoded')).status).toBe(415);
  });

  it('what is wrong with a body to a route of the host is answered as the host answers it', async () => {
    const answer = await at.host.http.post('/elsewhere').set('Content-Type', 'application/json').send('{');
    expect([answer.status, answer.body.statusCode]).toEqual([400, 400]);
    const near = await at.host.http.post('/auth/elsewhere').set('Content-Type', 'application/json').send('{');
    expect([near.status, near.body.statusCode]).toEqual([400, 400]);
  });

  it("the host's own routes keep the host's error shape", async () => {
    const { body } = await at.host.http.get('/nowhere').expect(404);
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
  'at a path that the host chose': {
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
  'where the host has versions in its URIs': {
    prefix: '/auth/',
    nowhere: ['/v1/auth/login', '/1/auth/login'],
    configure: (app) => void app.enableVersioning({ type: VersioningType.URI, defaultVersion: '1' }),
  },
  'behind a prefix, where the host has versions in its URIs': {
    prefix: '/api/auth/',
    nowhere: ['/api/v1/auth/login', '/v1/api/auth/login', '/auth/login'],
    configure: (app) =>
      void app.setGlobalPrefix('api').enableVersioning({ type: VersioningType.URI, defaultVersion: ['1', '2'] }),
  },
  'where the host has versions in a header': {
    prefix: '/auth/',
    nowhere: ['/v1/auth/login'],
    configure: (app) =>
      void app.enableVersioning({ type: VersioningType.HEADER, header: 'X-Version', defaultVersion: '1' }),
  },
  'where the host has versions in the media type': {
    prefix: '/auth/',
    nowhere: ['/v1/auth/login'],
    configure: (app) => void app.enableVersioning({ type: VersioningType.MEDIA_TYPE, key: 'v=', defaultVersion: '1' }),
  },
};

for (const [title, { prefix, nowhere, path, configure }] of Object.entries(MOUNTED)) {
  storiesOnBothPlatforms(`the routes ${title}`, { configure, ...(path ? { auth: { path } } : {}) }, (at: Stage) => {
    afterEach(() => restorePassword(at.host));

    it('are all there', async () => {
      for (const route of ROUTES) {
        for (const slash of ['', '/']) {
          const { status, headers } = await call(at.host, route, slash, prefix);
          expect([route.path, slash, status, headers['cache-control']]).toEqual([route.path, slash, 200, 'no-store']);
          await restorePassword(at.host);
        }
      }
    });

    it('are nowhere else', async () => {
      for (const target of nowhere) {
        await at.host.http.post(target).send({ username: 'alice', password: PASSWORD }).expect(404);
      }
    });

    it("answer in the library's shapes what is wrong with a body or a path", async () => {
      const { host } = at;
      const { body } = await host.http.post(`${prefix}login`).send({ username: 'alice', password: PASSWORD });
      const malformed = await host.http.post(`${prefix}login/`).set('Content-Type', 'application/json').send('{');
      expect([malformed.status, malformed.body]).toEqual([400, { detail: expect.any(String) }]);
      expect(malformed.headers['cache-control']).toBe('no-store');
      const large = await host.http.post(`${prefix}token/refresh`).send({ refresh_token: 'x'.repeat(200_000) });
      expect([large.status, large.body]).toEqual([413, { detail: expect.any(String) }]);
      await host.delete(`${prefix}sessions/%zz`, body.access_token).expect(404, { detail: 'Session not found.' });
    });
  });
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

storiesOnBothPlatforms(
  'where the host rewrites its errors',
  { configure: (app) => void app.useGlobalFilters(new RewritingFilter()) },
  (at: Stage) => {
    it("the guard's refusal on a route of the host has the host's body, and its headers all the same", async () => {
      for (const [value, challenge] of [
        ['', 'Bearer realm="api"'],
        ['Bearer x', 'Bearer realm="api", error="invalid_token"'],
      ] as const) {
        const { status, headers, body } = await at.host.http.get('/me').set('Authorization', value);
        expect([status, body]).toEqual([418, { own: 1 }]);
        expect(headers).toMatchObject({ 'www-authenticate': challenge, 'cache-control': 'no-store' });
      }
    });

    it("the library's own routes keep their shapes", async () => {
      await at.host.http
        .get('/auth/sessions')
        .expect(401, { detail: 'Authentication credentials were not provided.', code: 'credentials_missing' });
      await at.host.http.post('/auth/login').send({}).expect(400);
    });
  },
);

storiesOnBothPlatforms(
  'where the host takes larger bodies',
  {
    configure: (app) => {
      const isExpress = app.getHttpAdapter().getType() === 'express';
      if (isExpress) app.useBodyParser('json', { limit: '1mb' });
      else (app as unknown as NestFastifyApplication).useBodyParser('application/json', { bodyLimit: 1024 * 1024 });
    },
  },
  (at: Stage) => {
    it('the limit is that of the host', async () => {
      const post = (length: number) =>
        at.host.http.post('/auth/token/refresh').send({ refresh_token: 'x'.repeat(length) });
      await post(900_000).expect(400, { non_field_errors: ['Invalid or expired refresh token.'] });
      const { status, body } = await post(1_100_000);
      expect([status, body]).toEqual([413, { detail: expect.any(String) }]);
    });
  },
);
