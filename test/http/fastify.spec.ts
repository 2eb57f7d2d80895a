import { Module } from '@nestjs/common';
import { EventEmitterModule } from '@nestjs/event-emitter';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AUTH_ENTITIES, AuthModule, AuthService } from 'nestjs-session-auth';
import { once } from 'node:events';
import { connect, type ClientHttp2Session } from 'node:http2';
import { text } from 'node:stream/consumers';
import { createDatabase, DATABASES, type TestDatabase } from '../support/databases';
import { CHEAP, PASSWORD, type TestApplication, type LoginAnswer } from '../support/test-application';
import { inChunks, sendRaw, type RawAnswer } from '../support/environment';

const DETAIL = { detail: expect.any(String) as string };
const JSON_TYPE = 'Content-Type: application/json';
const CHUNKED = 'Transfer-Encoding: chunked';

async function start(database: TestDatabase, adapter: FastifyAdapter, logs: string[] = []) {
  const log = (...parts: unknown[]): void => void logs.push(parts.map(String).join(' '));
  @Module({
    imports: [
      TypeOrmModule.forRoot({ ...database.options, entities: [...AUTH_ENTITIES], synchronize: true, retryAttempts: 0 }),
      EventEmitterModule.forRoot(),
      AuthModule.forRoot(CHEAP),
    ],
  })
  class ApplicationModule {}
  const module = await Test.createTestingModule({ imports: [ApplicationModule] })
    .setLogger({ log, error: log, warn: log, debug: log, verbose: log, fatal: log })
    .compile();
  const app = module.createNestApplication<NestFastifyApplication>(adapter);
  await app.listen(0, '127.0.0.1');
  return app;
}

describe.each(DATABASES)('on Fastify, on %s', (name) => {
  let database: TestDatabase;
  let app: NestFastifyApplication;
  let host: Pick<TestApplication, 'url'>;

  beforeAll(async () => {
    database = await createDatabase(name);
    app = await start(database, new FastifyAdapter({ routerOptions: { ignoreTrailingSlash: true } }));
    await app.get(AuthService).createUser({ username: 'alice', password: PASSWORD });
    host = { url: await app.getUrl() };
  });
  afterAll(async () => {
    await app.close();
    await database.drop();
  });

  const send = (lines: string[], body = ''): Promise<RawAnswer> => sendRaw(host, lines, body);
  const post = (path: string, body: string, ...headers: string[]): Promise<RawAnswer> => {
    const bytes = Buffer.from(body).toString('latin1');
    return send([`POST ${path} HTTP/1.1`, `Content-Length: ${bytes.length}`, ...headers], bytes);
  };
  const uncached = ({ status, body, headers }: RawAnswer): unknown => {
    expect(headers['cache-control']).toBe('no-store');
    return [status, JSON.parse(body)];
  };
  const login = async (slash = '/'): Promise<LoginAnswer> => {
    const credentials = JSON.stringify({ username: 'alice', password: PASSWORD });
    const { body } = await post(`/auth/login${slash}`, credentials, JSON_TYPE);
    return JSON.parse(body) as LoginAnswer;
  };

  it.each(['', '/'])(
    'login, list, history, refresh and revocation work with %j at the end of the paths',
    async (slash) => {
      const { access_token: token, refresh_token: refresh, session_id: id } = await login(slash);
      const authorization = `Authorization: Bearer ${token}`;
      const list = await send([`GET /auth/sessions${slash} HTTP/1.1`, authorization]);
      expect(JSON.parse(list.body)).toContainEqual(expect.objectContaining({ id, is_current: true }));
      const history = await send([`GET /auth/history${slash}?limit=1 HTTP/1.1`, authorization]);
      expect(JSON.parse(history.body)).toHaveLength(1);
      const refreshed = await post(
        `/auth/token/refresh${slash}`,
        JSON.stringify({ refresh_token: refresh }),
        JSON_TYPE,
      );
      expect(refreshed.status).toBe(200);
      const next = `Authorization: Bearer ${JSON.parse(refreshed.body).access_token}`;
      const gone = await send([`DELETE /auth/sessions/${id}${slash} HTTP/1.1`, next]);
      expect(uncached(gone)).toEqual([200, { detail: 'Session revoked.' }]);
      expect((await send([`GET /auth/sessions${slash} HTTP/1.1`, next])).status).toBe(401);
    },
  );

  it.each([
    ['no header', [], [401, { ...DETAIL, code: 'credentials_missing' }]],
    ['another scheme', ['Authorization: Basic x'], [401, { ...DETAIL, code: 'credentials_missing' }]],
    ['a malformed token', ['Authorization: Bearer x'], [401, { ...DETAIL, code: 'access_token_invalid' }]],
    ['two headers', ['Authorization: Bearer x', 'Authorization: Bearer x'], [400, DETAIL]],
  ])('the guard refuses a request with %s', async (_, headers, expected) => {
    expect(uncached(await send(['GET /auth/sessions HTTP/1.1', ...headers]))).toEqual(expected);
  });

  it.each(['{', '[]', '"x"', 'null', '{"username":"alice",}'])(
    'the malformed body %j is refused with 400',
    async (body) => {
      expect(uncached(await post('/auth/login', body, JSON_TYPE))).toEqual([400, DETAIL]);
    },
  );

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'application/xml', 'x'])(
    'a body of type %s is refused because it is not JSON',
    async (type) => {
      expect(uncached(await post('/auth/login', 'username=alice', `Content-Type: ${type}`))).toEqual([415, DETAIL]);
    },
  );

  it("a body that exceeds the application's limit is refused with 413", async () => {
    const large = JSON.stringify({ username: 'x'.repeat(1_100_000) });
    expect(uncached(await post('/auth/login', large, JSON_TYPE))).toEqual([413, DETAIL]);
  });

  it.each([
    ['no body at all', [], ''],
    ['a JSON content type and no length', [JSON_TYPE], ''],
    ['a JSON content type and a length of 0', [JSON_TYPE, 'Content-Length: 0'], ''],
    ['a JSON content type and chunks with nothing in them', [JSON_TYPE, CHUNKED], inChunks('')],
  ])('%s counts as an absent body', async (_, headers, body) => {
    const required = { username: ['This field is required.'], password: ['This field is required.'] };
    expect(uncached(await send(['POST /auth/login HTTP/1.1', ...headers], body))).toEqual([400, required]);
    const { access_token: token } = await login();
    const lines = ['POST /auth/logout HTTP/1.1', `Authorization: Bearer ${token}`, ...headers];
    expect(uncached(await send(lines, body))).toEqual([200, { detail: 'Logged out successfully.' }]);
  });

  it('the response to a malformed chunked body is the same as to any other malformed body', async () => {
    const lines = ['POST /auth/login HTTP/1.1', JSON_TYPE, CHUNKED];
    expect(uncached(await send(lines, inChunks('{')))).toEqual([400, DETAIL]);
    expect(uncached(await send(lines, inChunks(JSON.stringify({ username: 'x'.repeat(1_100_000) }))))).toEqual([
      413,
      DETAIL,
    ]);
  });

  it('a chunked body is accepted', async () => {
    const body = inChunks(JSON.stringify({ username: 'alice', password: PASSWORD }));
    expect((await send(['POST /auth/login HTTP/1.1', JSON_TYPE, CHUNKED], body)).status).toBe(200);
  });

  it.each(['/auth/%6Cogin', '/%61uth/login/', 'http://example.org/auth/login', 'https://example.org/auth/log%69n?x=1'])(
    'the request target %s is handled like /auth/login',
    async (target) => {
      const credentials = JSON.stringify({ username: 'alice', password: PASSWORD });
      expect((await post(target, credentials, JSON_TYPE)).status).toBe(200);
      const required = { username: ['This field is required.'], password: ['This field is required.'] };
      expect(uncached(await post(target, '', JSON_TYPE))).toEqual([400, required]);
      expect(uncached(await post(target, '{', JSON_TYPE))).toEqual([400, DETAIL]);
      expect(uncached(await post(target, '{}', 'Content-Type: text/plain'))).toEqual([415, DETAIL]);
      const large = JSON.stringify({ username: 'x'.repeat(1_100_000) });
      expect(uncached(await post(target, large, JSON_TYPE))).toEqual([413, DETAIL]);
    },
  );

  it.each(['/auth/sessions/', '/auth/s%65ssion%73/', 'http://example.org/auth/%73essions/'])(
    'a session with an id of 200 characters after %s is not found',
    async (path) => {
      const { access_token: token } = await login();
      const line = `DELETE ${path}${'x'.repeat(200)} HTTP/1.1`;
      const answer = await send([line, `Authorization: Bearer ${token}`]);
      expect(uncached(answer)).toEqual([404, { detail: 'Session not found.' }]);
    },
  );

  it.each(['x', '%00', '%2F'])('a session with the id %j is not found', async (id) => {
    const { access_token: token } = await login();
    const answer = await send([`DELETE /auth/sessions/${id} HTTP/1.1`, `Authorization: Bearer ${token}`]);
    expect(uncached(answer)).toEqual([404, { detail: 'Session not found.' }]);
  });
});

describe('Fastify without ignoreTrailingSlash', () => {
  it('a missing ignoreTrailingSlash is logged at startup', async () => {
    const database = await createDatabase('sqlite');
    const logs: string[] = [];
    const app = await start(database, new FastifyAdapter(), logs);
    await app.close();
    await database.drop();
    expect(logs.filter((line) => line.includes('ignoreTrailingSlash'))).toHaveLength(1);
  });
});

describe('Fastify over HTTP/2', () => {
  let database: TestDatabase;
  let app: NestFastifyApplication;
  let client: ClientHttp2Session;

  beforeAll(async () => {
    database = await createDatabase('sqlite');
    const options = { http2: true, routerOptions: { ignoreTrailingSlash: true } } as object;
    app = await start(database, new FastifyAdapter(options));
    await app.get(AuthService).createUser({ username: 'alice', password: PASSWORD });
    client = connect(await app.getUrl());
  });
  afterAll(async () => {
    client.close();
    await app.close();
    await database.drop();
  });

  /** Sends a request without `Content-Length`, which HTTP/2 does not need. */
  async function send(path: string, token = '', body?: object | string, method = 'POST'): Promise<[number, object]> {
    const stream = client.request({
      ...{ ':method': method, ':path': path, 'content-type': 'application/json' },
      ...(token && { authorization: `Bearer ${token}` }),
    });
    stream.end(typeof body === 'object' ? JSON.stringify(body) : body);
    const [headers] = (await once(stream, 'response')) as [{ ':status': number }];
    return [headers[':status'], JSON.parse(await text(stream)) as object];
  }

  const login = async (): Promise<LoginAnswer> => {
    const [status, body] = await send('/auth/login', '', { username: 'alice', password: PASSWORD });
    expect(status).toBe(200);
    return body as LoginAnswer;
  };

  it('the body of a request without Content-Length counts', async () => {
    const first = await login();
    const [status] = await send('/auth/token/refresh', '', { refresh_token: first.refresh_token });
    expect(status).toBe(200);
    const { access_token: token } = await login();
    const revoked = await send('/auth/logout/all', token, { keep_current: true });
    expect(revoked).toEqual([200, { detail: 'Revoked 1 session(s).' }]);
    expect((await send('/auth/sessions', token, undefined, 'GET'))[0]).toBe(200);
  });

  it('an empty body counts as an absent one, and a malformed one is refused', async () => {
    const { access_token: token } = await login();
    expect(await send('/auth/login', '', '{')).toEqual([400, DETAIL]);
    expect(await send('/auth/login', '', '[]')).toEqual([400, DETAIL]);
    expect(await send('/auth/logout', token)).toEqual([200, { detail: 'Logged out successfully.' }]);
  });
});
