import { ClassSerializerInterceptor } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:http2';
import { text } from 'node:stream/consumers';
import { describeHttp } from '../support/environment';
import { applicationStarter } from '../support/start-for-test';
import {
  CREDENTIALS,
  INVALID_REFRESH,
  PASSWORD,
  type LoginAnswer,
  type TestApplicationOptions,
} from '../support/test-application';

const DETAIL = { detail: expect.any(String) as string };

const start = applicationStarter();

const withLargerBodies = (app: NestExpressApplication | NestFastifyApplication): void => {
  if (app.getHttpAdapter().getType() === 'express')
    (app as NestExpressApplication).useBodyParser('json', { limit: '1mb' });
  else (app as NestFastifyApplication).useBodyParser('application/json', { bodyLimit: 1024 * 1024 });
};

describeHttp('applications that accept larger bodies', { configure: withLargerBodies }, ({ app }) => {
  it("the limit of the application applies to the library's routes", async () => {
    await app.refresh('x'.repeat(900_000)).expect(400, INVALID_REFRESH);
    expect((await app.refresh('x'.repeat(1_100_000)).expect(413)).body).toEqual(DETAIL);
  });
});

const excludingAll: TestApplicationOptions['configure'] = (app) =>
  void app.useGlobalInterceptors(new ClassSerializerInterceptor(app.get(Reflector), { strategy: 'excludeAll' }));
const excluding = { configure: excludingAll, auth: { endpoints: { reauthenticate: true } } };

describeHttp('a global ClassSerializerInterceptor that exposes no property', excluding, ({ app }) => {
  it('does not change the responses of the library', async () => {
    const opened = await app.login();
    const { access_token: token } = await app.refreshed(opened);
    const { body: sessions } = await app.get('/auth/sessions', token);
    expect(sessions).toMatchObject([{ id: opened.session_id, is_current: true }]);
    expect((await app.history(token))[0]).toMatchObject({ event: 'token_refresh', extra: {} });
    const { body: renewed } = await app.post('/auth/reauthenticate', token, { password: PASSWORD });
    await app.post('/auth/logout', renewed.access_token).expect(200, { detail: 'Logged out successfully.' });
  });
});

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

it.each(Object.entries(HANDED_OVER))('the body of a request counts if it has %s', async (_title, middleware) => {
  const app = await start({ configure: (nest) => void nest.use(middleware) });
  await app.refreshed(await app.login());
  const { access_token: token } = await app.login();
  await app.post('/auth/logout/all', token, { keep_current: true }).expect(200, { detail: 'Revoked 1 session(s).' });
  await app.get('/me', token).expect(200);
  await app.post('/auth/logout/all', token).expect(200);
  await app.get('/me', token).expect(401);
});

describe('Fastify', () => {
  const startWith = (options: object) => start({ adapter: new FastifyAdapter(options) });

  it('a missing ignoreTrailingSlash is logged at startup', async () => {
    const { logs } = await startWith({});
    expect(logs.filter((line) => line.includes('ignoreTrailingSlash'))).toHaveLength(1);
  });

  it('the body of a request over HTTP/2 counts without Content-Length, unless it is empty', async () => {
    const app = await startWith({ http2: true, routerOptions: { ignoreTrailingSlash: true } });
    const client = connect(app.url);
    const send = async (path: string, body?: object | string, token = ''): Promise<[number, object]> => {
      const headers = { ':method': 'POST', ':path': `/auth/${path}`, 'content-type': 'application/json' };
      const stream = client.request({ ...headers, ...(token && { authorization: `Bearer ${token}` }) });
      stream.end(typeof body === 'object' ? JSON.stringify(body) : body);
      const [{ ':status': status }] = (await once(stream, 'response')) as [{ ':status': number }];
      return [status, JSON.parse(await text(stream)) as object];
    };
    const login = async (): Promise<LoginAnswer> => (await send('login', CREDENTIALS))[1] as LoginAnswer;
    const { refresh_token } = await login();
    expect((await send('token/refresh', { refresh_token }))[0]).toBe(200);
    const { access_token: token } = await login();
    const revoked = [200, { detail: 'Revoked 1 session(s).' }];
    expect(await send('logout/all', { keep_current: true }, token)).toEqual(revoked);
    for (const malformed of ['{', '[]', '{"__proto__":{}}'])
      expect(await send('login', malformed)).toEqual([400, DETAIL]);
    expect(await send('logout', undefined, token)).toEqual([200, { detail: 'Logged out successfully.' }]);
    client.close();
  });
});
