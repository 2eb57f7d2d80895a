import type { DrivenTime } from './time';

export interface Delivery {
  readonly requestDelay?: number;
  readonly responseDelay?: number;
  readonly lost?: 'request' | 'answer';
  /** The status of the response. Its body is that of a body parser for 400, and that of a proxy for other statuses. */
  readonly status?: number;
  /** Whether the server rotates the token before it responds with `status`. */
  readonly after?: boolean;
}

interface CookieJar {
  access?: string;
  refresh?: string;
}

interface RecordedRequest {
  readonly path: string;
  readonly method: string;
  readonly token: string | null;
  readonly body: string;
  readonly redirect: string;
}

/** A server with single-use refresh tokens, a grace period and reuse detection, for tokens and for cookies. */
export class FakeServer {
  /** The number of requests with a used refresh token outside its grace period. A correct client never sends one. */
  reuses = 0;
  refreshes = 0;
  readonly requests: RecordedRequest[] = [];
  jar: CookieJar = {};
  isReachable = true;
  /** The status of the response to a probe. Without the application, it is the status of a proxy. */
  probeStatus = 204;
  probeDelay = 0;
  delivery: () => Delivery = () => ({});
  /** The latency of responses in milliseconds, by path. */
  readonly latency: Record<string, number> = {};
  private sessions: FakeSession[] = [];
  private count = 0;

  constructor(
    private readonly time: DrivenTime,
    private readonly graceMs: number,
    private readonly accessTtlMs: number,
  ) {}

  readonly fetch = async (input: string | Request, init?: RequestInit): Promise<Response> => {
    const request = new Request(input, init);
    const path = new URL(request.url).pathname;
    if (!this.isReachable) throw new TypeError('Failed to fetch');
    // The client asks whether the application can be reached.
    if (request.method === 'HEAD') {
      if (this.probeDelay > 0) await this.time.wait(this.probeDelay);
      return new Response(null, { status: this.probeStatus });
    }
    const usesCookies = request.credentials === 'include' && request.headers.get('X-Auth-Transport') === 'cookie';
    const sent = usesCookies ? { ...this.jar } : null;
    const body = await request.text();
    const delivery = path === '/auth/token/refresh' ? this.delivery() : {};
    const { requestDelay = 1, responseDelay = this.latency[path] ?? 1, lost, status, after } = delivery;
    await this.time.wait(requestDelay);
    if (lost === 'request') throw new TypeError('fetch failed');
    const answer = status === undefined || after ? this.answer(request, path, body, sent) : Response.json({});
    await this.time.wait(responseDelay);
    if (lost === 'answer') throw new TypeError('fetch failed');
    if (status === 400) return Response.json({ detail: 'Malformed JSON.' }, { status });
    if (status !== undefined) return new Response('<h1>Proxy</h1>', { status });
    return sent ? this.setCookies(answer, sent) : answer;
  };

  get paths(): string[] {
    return this.requests.map(({ path }) => path);
  }

  endAll(): void {
    this.sessions = [];
  }

  expireAccessTokens(): void {
    for (const session of this.sessions) session.accessEnd = 0;
  }

  private answer({ method, redirect, headers }: Request, path: string, body: string, sent: CookieJar | null): Response {
    const bearer = /^Bearer (.+)$/.exec(headers.get('Authorization') ?? '')?.[1] ?? null;
    this.requests.push({ path, method, token: bearer, body, redirect });
    if (path === '/auth/login') return this.login();
    if (path === '/auth/token/refresh') {
      if (sent) return this.refresh(sent.refresh, sent.access);
      return this.refresh((JSON.parse(body) as { refresh_token: string }).refresh_token);
    }
    const token = sent ? sent.access : bearer;
    const session =
      this.sessions.find((one) => one.access === token && this.time.now() < one.accessEnd) ??
      (path === '/auth/logout' ? this.sessions.find((one) => knows(one, sent?.refresh)) : undefined);
    // The browser removes an expired cookie.
    if (!session) return sent ? refusal('credentials_missing', '') : refusal('access_token_invalid', INVALID_TOKEN);
    if (path === '/auth/logout') {
      this.sessions = this.sessions.filter((one) => one !== session);
      if (sent) this.jar = {};
      return Response.json({ detail: 'Logged out successfully.' });
    }
    if (path === '/auth/password/change') return Response.json(this.pair(session));
    if (path === '/auth/sessions') {
      const at = new Date(this.time.now()).toISOString();
      return Response.json([{ id: session.id, is_current: true, created_at: at, last_activity: at }]);
    }
    return Response.json({ session_id: session.id, method, body });
  }

  /** Moves the tokens of a response to the cookie jar. Returns the response without tokens. */
  private async setCookies(answer: Response, sent: CookieJar): Promise<Response> {
    const body = (await answer.clone().json()) as Record<string, string>;
    if (answer.status === 400 && !this.sessions.some((one) => knows(one, sent.refresh))) this.jar = {};
    if (!body['access_token']) return answer;
    this.jar = { access: body['access_token'], refresh: body['refresh_token']! };
    return Response.json(body['session_id'] ? { session_id: body['session_id'] } : {});
  }

  private login(): Response {
    const session: FakeSession = { id: `session-${++this.count}`, access: '', refresh: '', accessEnd: 0, used: [] };
    this.sessions.push(session);
    return Response.json({ ...this.pair(session), session_id: session.id });
  }

  private refresh(presented = '', access?: string): Response {
    const live = this.sessions.find(({ refresh }) => refresh === presented);
    if (live && access === live.access && this.isRecent(live)) return Response.json(pairOf(live));
    if (live) {
      this.refreshes++;
      live.used.push({ token: presented, at: this.time.now() });
      return Response.json(this.pair(live));
    }
    const family = this.sessions.find((one) => knows(one, presented));
    if (family?.used.at(-1)?.token === presented && this.isRecent(family)) return Response.json(pairOf(family));
    if (family) {
      this.reuses++;
      this.endAll();
    }
    return Response.json({ non_field_errors: ['Invalid or expired refresh token.'] }, { status: 400 });
  }

  private isRecent({ used }: FakeSession): boolean {
    return this.time.now() - (used.at(-1)?.at ?? -Infinity) < this.graceMs;
  }

  private pair(session: FakeSession): object {
    session.access = `access-${++this.count}`;
    session.refresh = `refresh-${this.count}`;
    session.accessEnd = this.time.now() + this.accessTtlMs;
    return pairOf(session);
  }
}

interface FakeSession {
  readonly id: string;
  access: string;
  refresh: string;
  accessEnd: number;
  readonly used: { readonly token: string; readonly at: number }[];
}

function pairOf({ access, refresh }: FakeSession): object {
  return { access_token: access, refresh_token: refresh, token_type: 'Bearer' };
}

/** Returns whether a refresh token belongs to the session, as its current token or as a used one. */
function knows({ refresh, used }: FakeSession, presented: string | undefined): boolean {
  return presented !== undefined && (refresh === presented || used.some(({ token }) => token === presented));
}

const INVALID_TOKEN = ', error="invalid_token"';

function refusal(code: string, challenge: string): Response {
  const headers = { 'WWW-Authenticate': `Bearer realm="api"${challenge}` };
  return Response.json({ detail: 'Refused.', code }, { status: 401, headers });
}
