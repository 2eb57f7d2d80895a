import { FakeAuthServer } from 'nestjs-session-auth-client/testing';
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

interface RecordedRequest {
  readonly path: string;
  readonly token: string | null;
  readonly redirect: string;
}

interface Tokens {
  readonly access_token?: string;
  readonly refresh_token?: string;
  readonly session_id?: string;
}

const REFRESH = '/auth/token/refresh';

const tokensIn = async (message: Request | Response): Promise<Tokens> => (await message.clone().json()) as Tokens;

/**
 * The server of the testing kit behind a network. Its access tokens expire, and it has a grace period and reuse
 * detection, for tokens and for cookies.
 */
export class FakeServer {
  /** The number of requests with a used refresh token outside its grace period. A correct client never sends one. */
  reuses = 0;
  readonly requests: RecordedRequest[] = [];
  /** The cookies of the browser. */
  jar: Tokens = {};
  isReachable = true;
  /** The status of the response to a probe. Without the application, it is the status of a proxy. */
  probeStatus = 204;
  probeDelay = 0;
  delivery: () => Delivery = () => ({});
  /** The latency of responses in milliseconds, by path. */
  readonly latency: Record<string, number> = {};
  private readonly app = new FakeAuthServer({
    users: { alice: 'secret', bob: 'secret' },
    respond: async (request, username) =>
      Response.json({ username, method: request.method, body: await request.text() }),
  });
  private readonly rotations: { readonly used: string | undefined; readonly next: Tokens; readonly at: number }[] = [];
  /** When each access token expires. */
  private readonly expiries = new Map<string, number>();

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
    const sent = usesCookies ? this.jar : null;
    const delivery = path === REFRESH ? this.delivery() : {};
    const { requestDelay = 1, responseDelay = this.latency[path] ?? 1, lost, status, after } = delivery;
    await this.time.wait(requestDelay);
    if (lost === 'request') throw new TypeError('fetch failed');
    const answer = status === undefined || after ? await this.answer(request, path, sent) : Response.json({});
    await this.time.wait(responseDelay);
    if (lost === 'answer') throw new TypeError('fetch failed');
    if (status === 400) return Response.json({ detail: 'Malformed JSON.' }, { status });
    if (status !== undefined) return new Response('<h1>Proxy</h1>', { status });
    return sent ? this.setCookies(answer, path) : answer;
  };

  get paths(): string[] {
    return this.requests.map(({ path }) => path);
  }

  get refreshes(): number {
    return this.rotations.length;
  }

  endAll(): void {
    this.app.endSessions();
  }

  expireAccessTokens(): void {
    this.app.expireAccessTokens();
  }

  private async answer(request: Request, path: string, sent: Tokens | null): Promise<Response> {
    const { method, redirect, headers, url } = request;
    const bearer = /^Bearer (.+)$/.exec(headers.get('Authorization') ?? '')?.[1];
    this.requests.push({ path, token: bearer ?? null, redirect });
    const token = sent ? sent.access_token : bearer;
    // A logout with cookies accepts the refresh token instead.
    const isValid = this.time.now() < (this.expiries.get(token ?? '') ?? 0) || (sent && path === '/auth/logout');
    // The browser removes an expired cookie.
    const presented = isValid ? token : bearer && 'expired';
    const forwarded = new Request(url, {
      method,
      headers: presented ? { Authorization: `Bearer ${presented}` } : {},
      body: sent && path === REFRESH ? JSON.stringify(sent) : (await request.text()) || null,
    });
    if (path === REFRESH) return this.refresh(forwarded, sent?.access_token);
    return this.respond(forwarded);
  }

  /** @param access the access token of a request with cookies */
  private async refresh(request: Request, access: string | undefined): Promise<Response> {
    const { refresh_token: used } = await tokensIn(request);
    const rotation = this.rotations.find((one) => one.used === used);
    const latest =
      rotation ?? this.rotations.find(({ next }) => next.refresh_token === used && next.access_token === access);
    const isRecent =
      latest &&
      this.time.now() - latest.at < this.graceMs &&
      !this.rotations.some((one) => one.used === latest.next.refresh_token);
    if (isRecent && (await this.isActive(latest.next))) return Response.json(latest.next);
    if (rotation && !isRecent) {
      this.reuses++;
      this.endAll();
    }
    const response = await this.respond(request);
    if (response.ok) this.rotations.push({ used, next: await tokensIn(response), at: this.time.now() });
    return response;
  }

  private async isActive({ access_token }: Tokens): Promise<boolean> {
    const headers = { Authorization: `Bearer ${access_token}` };
    return (await this.app.respond(new Request('http://localhost/me', { headers }))).ok;
  }

  private async respond(request: Request): Promise<Response> {
    const response = await this.app.respond(request);
    const { access_token } = await tokensIn(response);
    if (access_token) this.expiries.set(access_token, this.time.now() + this.accessTtlMs);
    return response;
  }

  /** Moves the tokens of a response to the cookie jar. Returns the response without tokens. */
  private async setCookies(answer: Response, path: string): Promise<Response> {
    const { access_token, refresh_token, session_id } = await tokensIn(answer);
    if (access_token && refresh_token) {
      this.jar = { access_token, refresh_token };
      return Response.json({ session_id });
    }
    if (path === REFRESH || (path === '/auth/logout' && answer.ok)) this.jar = {};
    return answer;
  }
}
