import type { DrivenTime } from './time';

/** How the network delivers one refresh. */
export interface Delivery {
  /** The latency of the request and of the response, in milliseconds. */
  readonly there?: number;
  readonly back?: number;
  readonly lost?: 'request' | 'answer';
  /** Answered with this status instead: `after` the exchange of the token, or without it. */
  readonly status?: number;
  readonly after?: boolean;
}

/** A server with single-use refresh tokens, a grace period and reuse detection. */
export class FakeServer {
  /** How often a used token was presented again, which a client must never do. */
  reuses = 0;
  refreshes = 0;
  requests: { readonly path: string; readonly token: string | null; readonly body: string }[] = [];
  delivery: () => Delivery = () => ({});
  /** The latency of the response to a password change. */
  passwordChangeBack = 1;
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
    const body = await request.text();
    const { there = 1, back = 1, lost, status, after } = path === '/auth/token/refresh/' ? this.delivery() : {};
    const wayBack = path === '/auth/password/change/' ? this.passwordChangeBack : back;
    await this.time.wait(there);
    if (lost === 'request') throw new TypeError('fetch failed');
    const token = /^Bearer (.+)$/.exec(request.headers.get('Authorization') ?? '')?.[1] ?? null;
    const answer =
      status !== undefined && !after ? new Response('{}', { status }) : this.answer(path, token, body, request.method);
    await this.time.wait(wayBack);
    if (lost === 'answer') throw new TypeError('fetch failed');
    return status === undefined ? answer : new Response('{}', { status });
  };

  /** Ends every session, as an administrator does. */
  endAll(): void {
    this.sessions.clear();
  }

  /** Expires every access token. */
  forgetAccess(): void {
    for (const session of this.sessions.values()) session.accessEnd = 0;
  }

  private answer(path: string, token: string | null, body: string, method: string): Response {
    this.requests.push({ path, token, body });
    const given = (body.startsWith('{') ? JSON.parse(body) : {}) as Record<string, string>;
    if (path === '/auth/login/') return this.login();
    if (path === '/auth/token/refresh/') return this.refresh(given['refresh_token'] ?? '');
    const session = [...this.sessions.values()].find((one) => one.access === token && this.time.now() < one.accessEnd);
    if (!session) return refusal(401, { detail: 'Invalid or expired access token.', code: 'access_token_invalid' });
    if (path === '/auth/logout/' || path === '/auth/logout/all/') {
      this.sessions.delete(session.id);
      return Response.json({ detail: 'Revoked 1 session(s).' });
    }
    if (path === '/auth/password/change/') return Response.json(this.pair(session));
    return Response.json({ session_id: session.id, method, body });
  }

  private login(): Response {
    const session: FakeSession = { id: `session-${++this.count}`, access: '', refresh: '', accessEnd: 0, used: [] };
    this.sessions.set(session.id, session);
    return Response.json({ ...this.pair(session), session_id: session.id });
  }

  private refresh(presented: string): Response {
    const refused = refusal(400, { non_field_errors: ['Invalid or expired refresh token.'] });
    const live = [...this.sessions.values()].find(({ refresh }) => refresh === presented);
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

function refusal(status: number, body: object): Response {
  return Response.json(body, {
    status,
    headers: status === 401 ? { 'WWW-Authenticate': 'Bearer realm="api", error="invalid_token"' } : {},
  });
}
