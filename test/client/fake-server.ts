import type { DrivenTime } from './time';

/** How the network delivers one refresh. */
export interface Delivery {
  /** The latency of the request in milliseconds. */
  readonly requestDelay?: number;
  readonly responseDelay?: number;
  readonly lost?: 'request' | 'answer';
  /** The server responds with this status. It rotates the token before only if `after` is true. */
  readonly status?: number;
  readonly after?: boolean;
}

/** The tokens in the two cookies of a browser. */
interface CookieJar {
  access?: string;
  refresh?: string;
}

/** A server with single-use refresh tokens, a grace period and reuse detection, for tokens and for cookies. */
export class FakeServer {
  /** The number of requests with a used refresh token outside its grace period. A correct client never sends one. */
  reuses = 0;
  refreshes = 0;
  requests: { readonly path: string; readonly token: string | null; readonly body: string }[] = [];
  /** The cookies that the browser has. */
  jar: CookieJar = {};
  /** Whether requests reach the server. */
  isReachable = true;
  delivery: () => Delivery = () => ({});
  /** The latency of responses in milliseconds, by path. */
  readonly latency: Record<string, number> = {};
  private sessions = new Map<string, FakeSession>();
  private count = 0;

  constructor(
    private readonly time: DrivenTime,
    private readonly graceMs = 0,
    private readonly accessTtlMs = 900_000,
  ) {}

  readonly fetch = async (input: string | Request, init?: RequestInit): Promise<Response> => {
    const request = new Request(input, init);
    const path = new URL(request.url).pathname;
    if (!this.isReachable) throw new TypeError('Failed to fetch');
    const usesCookies = request.credentials === 'include' && request.headers.get('X-Auth-Transport') === 'cookie';
    const sent = usesCookies ? { ...this.jar } : null;
    const body = await request.text();
    const {
      requestDelay: there = 1,
      responseDelay: back = 1,
      lost,
      status,
      after,
    } = path === '/auth/token/refresh/' ? this.delivery() : {};
    const backDelay = this.latency[path] ?? back;
    await this.time.wait(there);
    if (lost === 'request') throw new TypeError('fetch failed');
    const bearer = /^Bearer (.+)$/.exec(request.headers.get('Authorization') ?? '')?.[1] ?? null;
    const isAnswered = status === undefined || after;
    let answer = isAnswered ? this.answer(path, bearer, body, request.method, sent) : new Response('{}', { status });
    await this.time.wait(backDelay);
    if (lost === 'answer') throw new TypeError('fetch failed');
    if (status !== undefined) return new Response('{}', { status });
    if (sent) answer = await this.setCookies(answer, sent);
    return answer;
  };

  /** Ends every session, as an administrator does. */
  endAll(): void {
    this.sessions.clear();
  }

  /** Expires every access token. */
  expireAccessTokens(): void {
    for (const session of this.sessions.values()) session.accessEnd = 0;
  }

  private answer(path: string, bearer: string | null, body: string, method: string, sent: CookieJar | null): Response {
    this.requests.push({ path, token: bearer, body });
    if (method === 'HEAD') return new Response(null, { status: 404 });
    const given = (body.startsWith('{') ? JSON.parse(body) : {}) as Record<string, string>;
    if (path === '/auth/login/') return this.login();
    if (path === '/auth/token/refresh/')
      return this.refresh(sent ? sent.refresh : given['refresh_token'], sent?.access);
    const token = sent ? sent.access : bearer;
    const sessions = [...this.sessions.values()];
    const session =
      sessions.find((one) => one.access === token && this.time.now() < one.accessEnd) ??
      (path === '/auth/logout/' ? sessions.find((one) => sent?.refresh && knows(one, sent.refresh)) : undefined);
    // The browser removes an expired cookie.
    if (!session && sent) return missing();
    if (!session) return refusal(401, { detail: 'Invalid or expired access token.', code: 'access_token_invalid' });
    if (path === '/auth/logout/' || path === '/auth/logout/all/') {
      this.sessions.delete(session.id);
      if (sent) this.jar = {};
      return Response.json({ detail: 'Revoked 1 session(s).' });
    }
    if (path === '/auth/password/change/') return Response.json(this.pair(session));
    if (path === '/auth/sessions/') {
      const at = new Date(this.time.now()).toISOString();
      return Response.json([{ id: session.id, is_current: true, created_at: at, last_activity: at }]);
    }
    return Response.json({ session_id: session.id, method, body });
  }

  /** Moves the tokens of a response to the cookie jar. Returns the response without tokens. */
  private async setCookies(answer: Response, sent: CookieJar): Promise<Response> {
    const body = (await answer.clone().json()) as Record<string, string>;
    if (answer.status === 400 && ![...this.sessions.values()].some((one) => knows(one, sent.refresh ?? ''))) {
      this.jar = {};
    }
    if (!body['access_token']) return answer;
    this.jar = { access: body['access_token'], refresh: body['refresh_token']! };
    return Response.json(body['session_id'] ? { session_id: body['session_id'] } : {});
  }

  private login(): Response {
    const session: FakeSession = { id: `session-${++this.count}`, access: '', refresh: '', accessEnd: 0, used: [] };
    this.sessions.set(session.id, session);
    return Response.json({ ...this.pair(session), session_id: session.id });
  }

  private refresh(presented = '', access?: string): Response {
    const refused = refusal(400, { non_field_errors: ['Invalid or expired refresh token.'] });
    const live = [...this.sessions.values()].find(({ refresh }) => refresh === presented);
    if (live && access === live.access && this.isRecent(live)) return Response.json(read(live));
    if (live) {
      this.refreshes++;
      live.used.push({ token: presented, at: this.time.now() });
      return Response.json(this.pair(live));
    }
    const family = [...this.sessions.values()].find(({ used }) => used.some(({ token }) => token === presented));
    if (!family) return refused;
    const last = family.used.at(-1)!;
    if (last.token === presented && this.time.now() - last.at < this.graceMs) return Response.json(read(family));
    this.reuses++;
    this.endAll();
    return refused;
  }

  /** Returns whether the last refresh of the session is within the grace period. */
  private isRecent({ used }: FakeSession): boolean {
    return this.time.now() - (used.at(-1)?.at ?? -Infinity) < this.graceMs;
  }

  private pair(session: FakeSession): object {
    session.access = `access-${++this.count}`;
    session.refresh = `refresh-${this.count}`;
    session.accessEnd = this.time.now() + this.accessTtlMs;
    return read(session);
  }
}

interface FakeSession {
  readonly id: string;
  access: string;
  refresh: string;
  accessEnd: number;
  readonly used: { readonly token: string; readonly at: number }[];
}

function read({ access, refresh }: FakeSession): object {
  return { access_token: access, refresh_token: refresh, token_type: 'Bearer' };
}

function knows({ refresh, used }: FakeSession, presented: string): boolean {
  return refresh === presented || used.some(({ token }) => token === presented);
}

function missing(): Response {
  const headers = { 'WWW-Authenticate': 'Bearer realm="api"' };
  const body = { detail: 'Authentication credentials were not provided.', code: 'credentials_missing' };
  return Response.json(body, { status: 401, headers });
}

function refusal(status: number, body: object): Response {
  return Response.json(body, {
    status,
    headers: status === 401 ? { 'WWW-Authenticate': 'Bearer realm="api", error="invalid_token"' } : {},
  });
}
