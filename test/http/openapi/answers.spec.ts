import type { AuthModuleRootOptions } from 'nestjs-session-auth';
import { sendRaw, describeEverywhere } from '../../support/environment';
import { DrivenLoginPolicy, SUSPENDED } from '../../support/login-policy';
import { secondFactorIf } from '../../support/second-factor';
import { MINUTE } from '../../support/driven-clock';
import { PASSWORD, type LoginAnswer } from '../../support/test-application';
import { documentOf, ResponseChecker } from './response-checker';

const NEEDS_SECOND_FACTOR = 'needs a second factor';
const secondFactor = secondFactorIf((_, { userAgent }) => userAgent === NEEDS_SECOND_FACTOR);
const REFUSED = 'refused by the policy';
const policy = new DrivenLoginPolicy();
policy.answer = (_, { client }) => (client.userAgent === REFUSED ? SUSPENDED : null);

const AUTH: AuthModuleRootOptions = {
  loginPolicy: policy,
  secondFactor,
  sessionPolicy: 'max_count',
  maxSessions: 2,
  onSessionLimit: 'reject',
  endpoints: { reauthenticate: true },
  recentLogin: { toEndSessionsSeconds: 300 },
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
const post = (path: string, more: Partial<Endpoint> = {}) => ({ method: 'POST', path: `/auth/${path}`, ...more });
const LOGIN = post('login', { isOpen: true, hasTokens: true, body: () => CREDENTIALS, password: 'password' });
const refreshBody: Endpoint['body'] = ({ refresh_token }) => ({ refresh_token });
const REFRESH = post('token/refresh', { isOpen: true, hasTokens: true, body: refreshBody });
const DELETE: Endpoint = { method: 'DELETE', path: `/auth/sessions/${UUID}`, needsRecentLogin: true };
const HISTORY: Endpoint = { method: 'GET', path: '/auth/history?limit=10' };
const ENDPOINTS: readonly Endpoint[] = [
  ...[LOGIN, REFRESH, post('logout'), { method: 'GET', path: '/auth/sessions' }, DELETE, HISTORY],
  post('logout/all', { body: () => ({ keep_current: true }), needsRecentLogin: true }),
  post('password/change', { hasTokens: true, body: () => CHANGE, password: 'current_password' }),
  post('reauthenticate', { hasTokens: true, body: () => ({ password: PASSWORD }), password: 'password' }),
];
const JSON_TYPE = 'Content-Type: application/json';

describeEverywhere(
  'the OpenAPI document and the responses of the application',
  { auth: AUTH },
  ({ app, platform, tap }) => {
    let checker: ResponseChecker;
    let session: LoginAnswer;
    // Fastify parses the body of a logout, which has no fields, in any charset.
    const isExpress = platform === 'express';

    beforeAll(() => void (checker = new ResponseChecker(documentOf(app.nest))));
    beforeEach(async () => void (session = await app.login()));

    /** Sends a request, and checks the response and its status. */
    const send = async (
      status: number,
      { method, path }: Pick<Endpoint, 'method' | 'path'>,
      headers: readonly string[] = [],
      text = '',
    ): Promise<string> => {
      const length = text === '' ? [] : [`Content-Length: ${Buffer.byteLength(text)}`];
      const answer = await sendRaw(app, [`${method} ${path} HTTP/1.1`, ...headers, ...length], text);
      checker.check(method, path, answer);
      expect(answer.status).toBe(status);
      return answer.body;
    };
    const bearer = ({ isOpen }: Endpoint): string[] =>
      isOpen ? [] : [`Authorization: Bearer ${session.access_token}`];
    /** Sends a request with a token and a JSON body, by default a valid one. */
    const ask = (status: number, endpoint: Endpoint, body = endpoint.body?.(session)) =>
      send(status, endpoint, [...bearer(endpoint), ...(body ? [JSON_TYPE] : [])], body && JSON.stringify(body));

    const named = ENDPOINTS.map((one): [string, Endpoint] => [`${one.method} ${one.path.replace(UUID, '<id>')}`, one]);

    it.each(named)(
      'the responses of %s to valid, malformed and unauthenticated requests are documented, and must not be cached',
      async (_, one) => {
        if (one === HISTORY) await app.http.post('/auth/login').send({ username: 'alice', password: 'no' });
        const { method, body, isOpen } = one;
        if (method === 'POST') {
          await send(400, one, [...bearer(one), JSON_TYPE], '{');
          await send(413, one, [...bearer(one), JSON_TYPE], JSON.stringify({ filler: 'x'.repeat(200_000) }));
          if (body || isExpress) await send(415, one, [...bearer(one), `${JSON_TYPE}; charset=iso-8859-1`], '{}');
        }
        if (body) await ask(400, one, Object.fromEntries(Object.keys(body(session)).map((field) => [field, 7])));
        if (!isOpen) {
          await send(401, one);
          await send(401, one, ['Authorization: Bearer x']);
          await send(400, one, ['Authorization: Bearer x', 'Authorization: Bearer y']);
        }
        await ask(200, { ...one, path: one.path.replace(UUID, session.session_id) });
      },
    );

    it('the responses to a wrong password, an unknown refresh token, an unknown session and an invalid limit are documented', async () => {
      await ask(404, DELETE);
      await ask(400, LOGIN, { username: 'alice', password: 'wrong' });
      await ask(400, REFRESH, { refresh_token: 'x' });
      await ask(400, { ...HISTORY, path: '/auth/history/?limit=x' });
    });

    it.each(named)('the responses of %s to requests with cookies are documented', async (_, one) => {
      const cookies = `__Host-auth_access=${session.access_token}; __Host-auth_refresh=${session.refresh_token}`;
      const headers = [`Cookie: ${cookies}`, 'X-Auth-Transport: cookie'];
      if (one.method !== 'GET') await send(403, one, [...headers, 'Origin: https://evil.test']);
      if (!one.hasTokens) return;
      const text = JSON.stringify(one.body!(session));
      expect(await send(200, one, [...headers, JSON_TYPE, 'Sec-Fetch-Site: same-origin'], text)).not.toContain(
        '_token',
      );
    });

    it('the responses to a login that needs a second factor, that the policy refuses or that is at the session limit are documented', async () => {
      const headers = [JSON_TYPE, `User-Agent: ${NEEDS_SECOND_FACTOR}`];
      expect(await send(403, LOGIN, headers, JSON.stringify(CREDENTIALS))).toContain('"login_ticket":"nsal_');
      const refused = [JSON_TYPE, `User-Agent: ${REFUSED}`];
      expect(await send(403, LOGIN, refused, JSON.stringify(CREDENTIALS))).toContain('"code":"account_suspended"');
      await app.login();
      await ask(403, LOGIN, { username: 'alice', password: PASSWORD });
    });

    it.each(named)(
      'the responses of %s without a recent login, after wrong passwords and during a database outage are documented',
      async (_, one) => {
        const valid = one.body?.(session);
        if (one.password) {
          for (const status of [400, 400, 429]) await ask(status, one, { ...valid, [one.password]: 'wrong' });
        }
        if (one.needsRecentLogin) {
          app.clock.advance(6 * MINUTE);
          await ask(403, one);
        }
        tap.hook = {
          before: ({ kind }) => {
            if (kind === 'statement') throw new Error('unavailable');
          },
        };
        await ask(503, one, valid);
      },
    );

    it('every documented response occurs', () => {
      const onExpress = isExpress ? [] : ['authLogout 415'];
      expect([...checker.seen, ...onExpress].sort()).toEqual(checker.documented.sort());
    });
  },
);
