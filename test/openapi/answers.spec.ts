import { RequestMethod } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants';
import {
  AuthController,
  PasswordController,
  ReauthenticationController,
  SecondFactor,
  SessionsController,
  type AuthModuleOptions,
  type ClientInfo,
} from 'nestjs-session-auth';
import { sendRaw, stories, type RawAnswer, type Stage } from '../e2e/stories';
import { MINUTE } from '../support/driven-clock';
import { PASSWORD, type LoginAnswer } from '../support/host';
import { Tap } from '../support/tap';
import { documentOf } from './document';
import { Witness } from './witness';

const NEEDS_SECOND_FACTOR = 'needs a second factor';

class SecondFactorOfSome extends SecondFactor {
  isRequired(_: unknown, { userAgent }: ClientInfo): boolean {
    return userAgent === NEEDS_SECOND_FACTOR;
  }
}

const AUTH: AuthModuleOptions = {
  secondFactor: new SecondFactorOfSome(),
  sessionPolicy: 'max_count',
  maxSessions: 2,
  onSessionLimit: 'reject',
  recentLogin: { endpoint: true, toEndSessionsSeconds: 300 },
  failedLogins: { throttleFrom: 2 },
};

interface Endpoint {
  readonly method: string;
  readonly path: string;
  /** What makes it do its work. */
  readonly body?: (session: LoginAnswer) => object;
  readonly isOpen?: boolean;
  readonly needsRecentLogin?: boolean;
  /** The field in which the password goes that is verified. */
  readonly password?: string;
}

const UUID = '00000000-0000-4000-8000-000000000000';
const ENDPOINTS: readonly Endpoint[] = [
  {
    method: 'POST',
    path: '/auth/login',
    isOpen: true,
    body: () => ({ username: 'bob', password: PASSWORD }),
    password: 'password',
  },
  {
    method: 'POST',
    path: '/auth/token/refresh',
    isOpen: true,
    body: ({ refresh_token }) => ({ refresh_token }),
  },
  { method: 'POST', path: '/auth/logout' },
  { method: 'POST', path: '/auth/logout/all', body: () => ({ keep_current: true }), needsRecentLogin: true },
  { method: 'GET', path: '/auth/sessions' },
  { method: 'DELETE', path: `/auth/sessions/${UUID}`, needsRecentLogin: true },
  { method: 'GET', path: '/auth/history?limit=10' },
  {
    method: 'POST',
    path: '/auth/password/change',
    body: () => ({ current_password: PASSWORD, new_password: PASSWORD }),
    password: 'current_password',
  },
  { method: 'POST', path: '/auth/reauthenticate', body: () => ({ password: PASSWORD }), password: 'password' },
];
const posts = ENDPOINTS.filter(({ method }) => method === 'POST');
const guarded = ENDPOINTS.filter(({ isOpen }) => !isOpen);
const verifying = ENDPOINTS.filter(({ password }) => password !== undefined);

stories('the OpenAPI document and the live answers', { auth: AUTH }, (at: Stage) => {
  let witness: Witness;
  let session: LoginAnswer;
  let tap: Tap;

  beforeAll(() => {
    witness = new Witness(documentOf(at.host.app));
    tap = new Tap(at.host);
  });
  beforeEach(async () => {
    session = await at.host.login();
  });
  afterEach(() => {
    tap.hook = {};
  });

  const send = async (endpoint: Endpoint, { path = endpoint.path, headers = [] as string[], text = '' } = {}) => {
    const length = text === '' ? [] : [`Content-Length: ${Buffer.byteLength(text)}`];
    const answer = await sendRaw(at.host, [`${endpoint.method} ${path} HTTP/1.1`, ...headers, ...length], text);
    witness.see(endpoint.method, path, answer);
    return answer;
  };
  const bearer = (endpoint: Endpoint): string[] =>
    endpoint.isOpen ? [] : [`Authorization: Bearer ${session.access_token}`];
  const JSON_TYPE = 'Content-Type: application/json';
  const ask = (endpoint: Endpoint, body: object | undefined = endpoint.body?.(session), path = endpoint.path) => {
    const text = body === undefined ? '' : JSON.stringify(body);
    return send(endpoint, { path, text, headers: [...bearer(endpoint), ...(text === '' ? [] : [JSON_TYPE])] });
  };
  const named = (list: readonly Endpoint[]): [string, Endpoint][] =>
    list.map((endpoint) => [`${endpoint.method} ${endpoint.path.replace(UUID, '<id>')}`, endpoint]);
  const expectStatus = async (answer: Promise<RawAnswer>, status: number): Promise<void> => {
    expect((await answer).status).toBe(status);
  };

  it.each(named(ENDPOINTS))('%s, answered 200', async (_, endpoint) => {
    const path = endpoint.path.replace(UUID, session.session_id);
    if (path.includes('history')) await at.host.http.post('/auth/login').send({ username: 'alice', password: 'no' });
    await expectStatus(ask(endpoint, undefined, path), 200);
  });

  it.each(named(posts.filter(({ body }) => body)))('%s, with a field that is wrong', async (_, endpoint) => {
    const wrong = Object.fromEntries(Object.keys(endpoint.body!(session)).map((field) => [field, 7]));
    await expectStatus(ask(endpoint, wrong), 400);
  });

  it('a login, a refresh and a limit that are refused by what they hold', async () => {
    const [login, refresh] = ENDPOINTS as [Endpoint, Endpoint];
    await expectStatus(ask(login, { username: 'alice', password: 'wrong' }), 400);
    await expectStatus(ask(refresh, { refresh_token: 'x' }), 400);
    await expectStatus(ask(ENDPOINTS[6]!, undefined, '/auth/history/?limit=x'), 400);
  });

  it.each(named(posts))('%s, with a body that cannot be read', async (_, endpoint) => {
    const headers = bearer(endpoint);
    await expectStatus(send(endpoint, { headers: [...headers, JSON_TYPE], text: '{' }), 400);
    const large = JSON.stringify({ filler: 'x'.repeat(200_000) });
    await expectStatus(send(endpoint, { headers: [...headers, JSON_TYPE], text: large }), 413);
    const latin = `${JSON_TYPE}; charset=iso-8859-1`;
    await expectStatus(send(endpoint, { headers: [...headers, latin], text: '{}' }), 415);
  });

  it.each(named(guarded))('%s, without a token, with a wrong one, with two', async (_, endpoint) => {
    await expectStatus(send(endpoint), 401);
    await expectStatus(send(endpoint, { headers: ['Authorization: Bearer x'] }), 401);
    await expectStatus(send(endpoint, { headers: ['Authorization: Bearer x', 'Authorization: Bearer y'] }), 400);
  });

  it('a login of a user who needs a second factor', async () => {
    const text = JSON.stringify({ username: 'bob', password: PASSWORD });
    const headers = [JSON_TYPE, `User-Agent: ${NEEDS_SECOND_FACTOR}`];
    const answer = await send(ENDPOINTS[0]!, { headers, text });
    expect([answer.status, answer.body]).toEqual([403, expect.stringContaining('"login_ticket":"nsal_')]);
  });

  it('a login at the limit', async () => {
    await at.host.login();
    await expectStatus(ask(ENDPOINTS[0]!, { username: 'alice', password: PASSWORD }), 403);
  });

  it.each(named(ENDPOINTS.filter((one) => one.needsRecentLogin)))('%s, long after the login', async (_, endpoint) => {
    at.host.clock.advance(6 * MINUTE);
    await expectStatus(ask(endpoint), 403);
  });

  it('a session that is not there', async () => {
    const endpoint = ENDPOINTS.find(({ method }) => method === 'DELETE')!;
    await expectStatus(ask(endpoint), 404);
  });

  it.each(named(verifying))('%s, after too many wrong passwords', async (_, endpoint) => {
    const wrong = { ...endpoint.body!(session), [endpoint.password!]: 'wrong' };
    await expectStatus(ask(endpoint, wrong), 400);
    await expectStatus(ask(endpoint, wrong), 400);
    await expectStatus(ask(endpoint), 429);
  });

  it.each(named(ENDPOINTS))('%s, while the database is away', async (_, endpoint) => {
    const body = endpoint.body?.(session);
    tap.hook = {
      before: ({ kind }) => {
        if (kind === 'statement') throw new Error('away');
      },
    };
    await expectStatus(ask(endpoint, body), 503);
  });

  it('have nothing that the other does not know', () => {
    expect([...witness.met].sort()).toEqual(witness.promised.sort());
  });

  it('are about the same routes', () => {
    const routes = [AuthController, SessionsController, PasswordController, ReauthenticationController].flatMap(
      ({ prototype }) =>
        Object.getOwnPropertyNames(prototype).flatMap((name) => {
          const handler = (prototype as unknown as Record<string, object>)[name]!;
          const path = Reflect.getMetadata(PATH_METADATA, handler) as string | undefined;
          if (path === undefined || name === 'constructor') return [];
          const method = RequestMethod[Reflect.getMetadata(METHOD_METADATA, handler) as number]!;
          return [`${method.toLowerCase()} /auth/${path.replace(/:(\w+)/, '{$1}')}`];
        }),
    );
    expect(witness.places.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(routes.sort());
  });
});
