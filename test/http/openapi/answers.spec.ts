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
import { sendRaw, describeOnEachDatabase, type RawAnswer } from '../../support/environment';
import { MINUTE } from '../../support/driven-clock';
import { PASSWORD, type LoginAnswer } from '../../support/test-application';
import { Tap } from '../../support/tap';
import { documentOf } from './document';
import { ResponseChecker } from './response-checker';

const NEEDS_SECOND_FACTOR = 'needs a second factor';

class UserAgentSecondFactor extends SecondFactor {
  isRequired(_: unknown, { userAgent }: ClientInfo): boolean {
    return userAgent === NEEDS_SECOND_FACTOR;
  }
}

const AUTH: AuthModuleOptions = {
  secondFactor: new UserAgentSecondFactor(),
  sessionPolicy: 'max_count',
  maxSessions: 2,
  onSessionLimit: 'reject',
  recentLogin: { endpoint: true, toEndSessionsSeconds: 300 },
  failedLogins: { throttleFrom: 2 },
  cookies: { mode: 'optional' },
};

interface Endpoint {
  readonly method: string;
  readonly path: string;
  /** A valid body. */
  readonly body?: (session: LoginAnswer) => object;
  readonly isOpen?: boolean;
  readonly needsRecentLogin?: boolean;
  /** Whether the endpoint returns tokens. */
  readonly hasTokens?: boolean;
  /** The field with the password that the endpoint verifies. */
  readonly password?: string;
}

const UUID = '00000000-0000-4000-8000-000000000000';
const CREDENTIALS = { username: 'bob', password: PASSWORD };
const CHANGE = { current_password: PASSWORD, new_password: PASSWORD };
const post = (path: string, more: Partial<Endpoint> = {}): Endpoint => ({
  method: 'POST',
  path: `/auth/${path}`,
  ...more,
});
const ENDPOINTS: readonly Endpoint[] = [
  post('login', { isOpen: true, hasTokens: true, body: () => CREDENTIALS, password: 'password' }),
  post('token/refresh', { isOpen: true, hasTokens: true, body: ({ refresh_token }) => ({ refresh_token }) }),
  post('logout'),
  post('logout/all', { body: () => ({ keep_current: true }), needsRecentLogin: true }),
  { method: 'GET', path: '/auth/sessions' },
  { method: 'DELETE', path: `/auth/sessions/${UUID}`, needsRecentLogin: true },
  { method: 'GET', path: '/auth/history?limit=10' },
  post('password/change', { hasTokens: true, body: () => CHANGE, password: 'current_password' }),
  post('reauthenticate', { hasTokens: true, body: () => ({ password: PASSWORD }), password: 'password' }),
];
const posts = ENDPOINTS.filter(({ method }) => method === 'POST');
const guarded = ENDPOINTS.filter(({ isOpen }) => !isOpen);
const verifying = ENDPOINTS.filter(({ password }) => password !== undefined);

describeOnEachDatabase('the OpenAPI document and the responses of the application', { auth: AUTH }, (env) => {
  let checker: ResponseChecker;
  let session: LoginAnswer;
  let tap: Tap;

  beforeAll(() => {
    checker = new ResponseChecker(documentOf(env.app.nest));
    tap = new Tap(env.app);
  });
  beforeEach(async () => {
    session = await env.app.login();
  });
  afterEach(() => {
    tap.hook = {};
  });

  const send = async (endpoint: Endpoint, { path = endpoint.path, headers = [] as string[], text = '' } = {}) => {
    const length = text === '' ? [] : [`Content-Length: ${Buffer.byteLength(text)}`];
    const answer = await sendRaw(env.app, [`${endpoint.method} ${path} HTTP/1.1`, ...headers, ...length], text);
    checker.check(endpoint.method, path, answer);
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

  it.each(named(ENDPOINTS))('the response of %s with status 200 is documented', async (_, endpoint) => {
    const path = endpoint.path.replace(UUID, session.session_id);
    if (path.includes('history')) await env.app.http.post('/auth/login').send({ username: 'alice', password: 'no' });
    await expectStatus(ask(endpoint, undefined, path), 200);
  });

  it.each(named(posts.filter(({ body }) => body)))(
    'the response of %s to a field of the wrong type is documented',
    async (_, endpoint) => {
      const wrong = Object.fromEntries(Object.keys(endpoint.body!(session)).map((field) => [field, 7]));
      await expectStatus(ask(endpoint, wrong), 400);
    },
  );

  it('the responses to a wrong password, an unknown refresh token, an unknown session and an invalid limit are documented', async () => {
    await expectStatus(ask(ENDPOINTS.find(({ method }) => method === 'DELETE')!), 404);
    const [login, refresh] = ENDPOINTS as [Endpoint, Endpoint];
    await expectStatus(ask(login, { username: 'alice', password: 'wrong' }), 400);
    await expectStatus(ask(refresh, { refresh_token: 'x' }), 400);
    await expectStatus(ask(ENDPOINTS[6]!, undefined, '/auth/history/?limit=x'), 400);
  });

  it.each(named(posts))('%s responds to a malformed, large or Latin-1 body as documented', async (_, endpoint) => {
    const headers = bearer(endpoint);
    await expectStatus(send(endpoint, { headers: [...headers, JSON_TYPE], text: '{' }), 400);
    const large = JSON.stringify({ filler: 'x'.repeat(200_000) });
    await expectStatus(send(endpoint, { headers: [...headers, JSON_TYPE], text: large }), 413);
    const latin = `${JSON_TYPE}; charset=iso-8859-1`;
    await expectStatus(send(endpoint, { headers: [...headers, latin], text: '{}' }), 415);
  });

  it.each(named(guarded))(
    'the responses of %s to a missing, an invalid and a repeated access token are documented',
    async (_, endpoint) => {
      await expectStatus(send(endpoint), 401);
      await expectStatus(send(endpoint, { headers: ['Authorization: Bearer x'] }), 401);
      await expectStatus(send(endpoint, { headers: ['Authorization: Bearer x', 'Authorization: Bearer y'] }), 400);
    },
  );

  const cookies = (): string =>
    `Cookie: __Host-auth_access=${session.access_token}; __Host-auth_refresh=${session.refresh_token}`;

  it.each(named(ENDPOINTS.filter(({ hasTokens }) => hasTokens)))(
    'the response of %s with tokens in cookies is documented',
    async (_, endpoint) => {
      const text = JSON.stringify(endpoint.body!(session));
      const headers = [cookies(), JSON_TYPE, 'X-Auth-Transport: cookie', 'Sec-Fetch-Site: same-origin'];
      const answer = await send(endpoint, { headers, text });
      expect([answer.status, answer.body]).toEqual([200, expect.not.stringContaining('_token')]);
    },
  );

  it.each(named(ENDPOINTS.filter(({ method }) => method !== 'GET')))(
    'the response of %s to a request with cookies from another site is documented',
    async (_, endpoint) => {
      const headers = [cookies(), 'X-Auth-Transport: cookie', 'Origin: https://evil.test'];
      await expectStatus(send(endpoint, { headers }), 403);
    },
  );

  it('the response to a login that needs a second factor is documented', async () => {
    const text = JSON.stringify({ username: 'bob', password: PASSWORD });
    const headers = [JSON_TYPE, `User-Agent: ${NEEDS_SECOND_FACTOR}`];
    const answer = await send(ENDPOINTS[0]!, { headers, text });
    expect([answer.status, answer.body]).toEqual([403, expect.stringContaining('"login_ticket":"nsal_')]);
  });

  it('the response to a login at the session limit is documented', async () => {
    await env.app.login();
    await expectStatus(ask(ENDPOINTS[0]!, { username: 'alice', password: PASSWORD }), 403);
  });

  it.each(named(ENDPOINTS.filter((one) => one.needsRecentLogin)))(
    'the response of %s without a recent login is documented',
    async (_, endpoint) => {
      env.app.clock.advance(6 * MINUTE);
      await expectStatus(ask(endpoint), 403);
    },
  );

  it.each(named(verifying))('the response of %s after too many wrong passwords is documented', async (_, endpoint) => {
    const wrong = { ...endpoint.body!(session), [endpoint.password!]: 'wrong' };
    await expectStatus(ask(endpoint, wrong), 400);
    await expectStatus(ask(endpoint, wrong), 400);
    await expectStatus(ask(endpoint), 429);
  });

  it.each(named(ENDPOINTS))('the response of %s during a database outage is documented', async (_, endpoint) => {
    const body = endpoint.body?.(session);
    tap.hook = {
      before: ({ kind }) => {
        if (kind === 'statement') throw new Error('unavailable');
      },
    };
    await expectStatus(ask(endpoint, body), 503);
  });

  it('every documented response occurs', () => {
    expect([...checker.seen].sort()).toEqual(checker.documented.sort());
  });

  it("the document has exactly the routes of the library's controllers", () => {
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
    expect(checker.operations.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(routes.sort());
  });
});
