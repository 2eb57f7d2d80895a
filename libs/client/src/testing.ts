// A server in memory for the tests of front ends. It issues no real tokens.
import { AuthClient } from './client.js';
import type { AuthClientOptions } from './options.js';
import { readRecord, type JsonRecord } from './wire.js';

/** The options of a `FakeAuthServer`. */
export interface FakeAuthServerOptions {
  /** The password of each user, by name. */
  readonly users: Readonly<Record<string, string>>;
  /** Responds to the requests of signed-in users to your own routes. Default: `{ username }` as JSON. */
  readonly respond?: (request: Request, username: string) => Response | Promise<Response>;
  /** As in `AuthClientOptions`. Default: `auth`. */
  readonly authPath?: string;
}

interface FakeSession {
  readonly id: string;
  readonly username: string;
  readonly createdAt: string;
  access: string;
  refresh: string;
}

/** A request to an endpoint, with the session of its access token. */
interface Call {
  /** The id of a session in the path, or an empty string. */
  readonly id: string;
  readonly body: JsonRecord;
  readonly usesCookies: boolean;
  readonly session: FakeSession;
}

/**
 * The endpoints of an API, for one browser, with bearer tokens and with cookies. All other routes require a session. It
 * does not throttle, ask for second factors, rotate with a grace period or detect reuse, and its history is empty.
 */
export class FakeAuthServer {
  /** Whether requests reach the server. */
  isReachable = true;
  readonly #passwords: Map<string, string>;
  #sessions: FakeSession[] = [];
  /** The cookies of the browser. */
  #cookies = { access: '', refresh: '' };
  #count = 0;

  readonly #authPath: string;
  readonly #respond: NonNullable<FakeAuthServerOptions['respond']>;

  constructor({ users, authPath = 'auth', respond }: FakeAuthServerOptions) {
    this.#passwords = new Map(Object.entries(users));
    this.#authPath = authPath;
    this.#respond = respond ?? ((_, username) => Response.json({ username }));
  }

  /** Returns a client whose requests go to this server. `baseUrl` is `http://localhost` by default. */
  client(options: AuthClientOptions = {}): AuthClient {
    const fetch = async (input: string | Request, init?: RequestInit): Promise<Response> => {
      const response = await this.respond(new Request(input, init));
      if (response.type === 'error') throw new TypeError('Failed to fetch');
      return response;
    };
    const environment = { ...options.environment, fetch };
    return new AuthClient({ baseUrl: 'http://localhost', authPath: this.#authPath, ...options, environment });
  }

  /** Adds a user, or replaces the password of one. */
  addUser(username: string, password: string): void {
    this.#passwords.set(username, password);
  }

  /** Responds to a request. For MSW: `http.all('https://api.example.com/*', ({ request }) => server.respond(request))`. */
  async respond(request: Request): Promise<Response> {
    if (!this.isReachable) return Response.error();
    const { access, usesCookies } = this.#credentialsOf(request);
    const session = this.#sessions.find((one) => one.access === access);
    const [, path] = new URL(request.url).pathname.split(`/${this.#authPath}/`);
    if (path === undefined) return session ? this.#respond(request, session.username) : refused(access);
    const [name = '', id = ''] = path.replace(/\/$/, '').split(/(?<=^sessions)\//);
    if (!session && !['login', 'token/refresh'].includes(name)) return refused(access);
    const endpoint = this.#endpoints[`${request.method} ${name}`];
    const body = await readRecord(request);
    return endpoint?.({ id, body, usesCookies, session: session! }) ?? detail('Not found.', 404);
  }

  /** Ends the sessions of all users, as an administrator can. A client notices it at its next request. */
  endSessions(): void {
    this.#sessions = [];
  }

  /** Expires the access tokens, so that the next request refreshes. */
  expireAccessTokens(): void {
    for (const session of this.#sessions) session.access = `expired-${session.access}`;
  }

  #credentialsOf({ headers, credentials }: Request): { readonly access: string; readonly usesCookies: boolean } {
    const bearer = /^Bearer (.+)$/.exec(headers.get('Authorization') ?? '')?.[1];
    const usesCookies = !bearer && (headers.has('X-Auth-Transport') || credentials === 'include');
    return { access: bearer ?? (usesCookies ? this.#cookies.access : ''), usesCookies };
  }

  readonly #endpoints: Readonly<Record<string, (call: Call) => Response>> = {
    'POST login': ({ body, usesCookies }) => {
      const username = String(body['username']);
      if (this.#passwords.get(username) !== body['password'])
        return invalid('non_field_errors', 'Invalid credentials.');
      const id = `session-${++this.#count}`;
      const session = { id, username, createdAt: new Date().toISOString(), access: '', refresh: '' };
      this.#sessions.unshift(session);
      return this.#issue(session, usesCookies, { session_id: id });
    },
    'HEAD token/refresh': () => new Response(null, { status: 204 }),
    'POST token/refresh': ({ body, usesCookies }) => {
      const token = usesCookies ? this.#cookies.refresh : body['refresh_token'];
      const session = this.#sessions.find(({ refresh }) => refresh === token);
      return session
        ? this.#issue(session, usesCookies)
        : invalid('non_field_errors', 'Invalid or expired refresh token.');
    },
    'POST logout': ({ session }) => {
      this.#end((one) => one === session);
      return detail('Logged out successfully.');
    },
    'POST logout/all': ({ session, body }) => {
      const ended = this.#end((one) => one.username === session.username && !(body['keep_current'] && one === session));
      return detail(`Revoked ${ended} session(s).`);
    },
    'GET sessions': ({ session }) =>
      Response.json(
        this.#sessions
          .filter(({ username }) => username === session.username)
          .map((one) => ({ ...DEVICE, ...describe(one), is_current: one === session })),
      ),
    'DELETE sessions': ({ session: { username }, id }) =>
      this.#end((one) => one.id === id && one.username === username)
        ? detail('Session revoked.')
        : detail('Not found.', 404),
    'GET history': () => Response.json([]),
    'POST password/change': ({ session, body, usesCookies }) => {
      const { username } = session;
      if (this.#passwords.get(username) !== body['current_password'])
        return invalid('current_password', 'Invalid password.');
      this.#passwords.set(username, String(body['new_password']));
      this.#end((one) => one.username === username && one !== session);
      return this.#issue(session, usesCookies);
    },
    'POST reauthenticate': ({ session, body, usesCookies }) =>
      this.#passwords.get(session.username) === body['password']
        ? this.#issue(session, usesCookies)
        : invalid('password', 'Invalid password.'),
  };

  /** Replaces the tokens of a session, and returns them, or stores them in the cookies. */
  #issue(session: FakeSession, usesCookies: boolean, answer: object = {}): Response {
    session.access = `access-${++this.#count}`;
    session.refresh = `refresh-${this.#count}`;
    const { access, refresh } = session;
    if (usesCookies) this.#cookies = { access, refresh };
    const pair = usesCookies ? {} : { access_token: access, refresh_token: refresh, token_type: 'Bearer' };
    return Response.json({ ...pair, ...answer });
  }

  /** Ends sessions. Returns their number. */
  #end(isEnded: (session: FakeSession) => boolean): number {
    const before = this.#sessions.length;
    this.#sessions = this.#sessions.filter((session) => !isEnded(session));
    return before - this.#sessions.length;
  }
}

const DEVICE = {
  state: 'active',
  ip_address: '127.0.0.1',
  device_type: 'desktop',
  os_family: 'Other',
  browser_family: 'Other',
  device_name: 'Other',
};

function describe({ id, createdAt }: FakeSession): object {
  return { id, created_at: createdAt, last_activity: createdAt };
}

function detail(text: string, status = 200): Response {
  return Response.json({ detail: text }, { status });
}

function invalid(field: string, message: string): Response {
  return Response.json({ [field]: [message] }, { status: 400 });
}

function refused(access: string): Response {
  const [code, text, challenge] = access
    ? ['access_token_invalid', 'Invalid or expired access token.', ', error="invalid_token"']
    : ['credentials_missing', 'Authentication credentials were not provided.', ''];
  const headers = { 'WWW-Authenticate': `Bearer realm="api"${challenge}` };
  return Response.json({ detail: text, code }, { status: 401, headers });
}
