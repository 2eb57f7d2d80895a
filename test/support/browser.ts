import type { Response, Test } from 'supertest';
import { CREDENTIALS, type TestApplication } from './test-application';

/** The names of the cookies. */
export const ACCESS = '__Host-auth_access';
export const REFRESH = '__Host-auth_refresh';

/** Where a request originates: the origin of a page, or `null` for an opaque origin. */
export type Initiator = `http${'s' | ''}://${string}` | 'null';

export interface BrowserRequest {
  readonly method?: 'GET' | 'POST' | 'DELETE';
  /** Default: the API's own origin. */
  readonly from?: Initiator;
  /** Whether the address of the tab changes, as for a link, a form or `location.href`. Default: false. */
  readonly navigates?: boolean;
  readonly body?: object | string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Returns the `Set-Cookie` headers of a response. */
export function cookiesIn({ headers }: { readonly headers: Record<string, unknown> }): string[] {
  return [(headers['set-cookie'] as string[] | undefined) ?? []].flat();
}

/** Returns the status, the body and the `Set-Cookie` headers of a response. */
export const answerOf = (response: Response): [number, unknown, string[]] => {
  return [response.status, response.body, cookiesIn(response)];
};

interface StoredCookie {
  readonly name: string;
  readonly value: string;
  /** The domain, if another host of the site has set the cookie. Null for a cookie of this host only. */
  readonly domain: string | null;
  readonly isLax: boolean;
}

/**
 * Simulates how a browser handles cookies and the headers `Origin` and `Sec-Fetch-Site`: RFC 6265bis with
 * `SameSite` and `__Host-`, Fetch, and Fetch Metadata. CORS, which decides whether a page can read a response,
 * is not included.
 */
export class Browser {
  private cookies: StoredCookie[] = [];

  /** @param isOld whether the browser sends no Fetch Metadata, as Safari before 16.4 */
  constructor(
    private readonly app: TestApplication,
    readonly origin: string = 'https://api.example.com',
    private readonly isOld = false,
  ) {}

  get hostname(): string {
    return new URL(this.origin).host;
  }

  /** The cookies by name. Of several cookies with the same name, contains the last one. */
  get jar(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.cookies.map(({ name, value }) => [name, value]));
  }

  /** Replaces or removes the stored cookies with a name. */
  put(name: string, value: string | null): void {
    this.cookies = this.cookies.filter((cookie) => cookie.name !== name);
    if (value !== null) this.cookies.push({ name, value, domain: null, isLax: true });
  }

  /**
   * Stores a cookie that another host of the site sets for all hosts of the site, with a long path, so that it
   * is sent first.
   */
  setFromSibling(name: string, value: string): void {
    this.cookies.unshift({ name, value, domain: siteOf(this.origin), isLax: false });
  }

  /** Returns the headers that this browser adds to a request, including the cookies. */
  headersOf({ method = 'GET', from = this.own, navigates = false }: BrowserRequest): Record<string, string> {
    const relation = this.relationTo(from);
    const sent = this.cookies.filter(({ isLax }) => !isLax || isSentBy(relation, method, navigates));
    const hasOrigin = !['GET', 'HEAD'].includes(method) || (relation !== 'same-origin' && !navigates);
    return {
      Host: this.hostname,
      ...(hasOrigin ? { Origin: from } : {}),
      ...(this.isOld ? {} : { 'Sec-Fetch-Site': relation }),
      ...(sent.length > 0 ? { Cookie: sent.map(({ name, value }) => `${name}=${value}`).join('; ') } : {}),
    };
  }

  /** Returns the headers of a WebSocket handshake, which always has an origin. */
  handshakeFrom(from: Initiator): Record<string, string> {
    return { ...this.headersOf({ from }), Origin: from };
  }

  async send(path: string, request: BrowserRequest = {}): Promise<Response> {
    const { method = 'GET', from = this.own, navigates = false, body, headers = {} } = request;
    const test: Test = this.app.http[method.toLowerCase() as 'get'](path);
    test.set({ ...this.headersOf(request), ...headers });
    const response = body === undefined ? await test : await test.send(body);
    // A response to a page of another site sets cookies with `SameSite` only if the response becomes the page.
    if (isStoredFor(this.relationTo(from), navigates)) this.store(response);
    return response;
  }

  /** Calls the API as the page of a front end does, with the header that asks for cookies. */
  call(path: string, body?: object, request: BrowserRequest = {}): Promise<Response> {
    const headers = { 'X-Auth-Transport': 'cookie', ...request.headers };
    return this.send(path, { method: 'POST', ...request, headers, ...(body ? { body } : {}) });
  }

  /** Logs alice in with cookies, and returns the id of the session. */
  async logIn(): Promise<string> {
    return (await this.call('/auth/login', CREDENTIALS)).body.session_id as string;
  }

  private get own(): Initiator {
    return this.origin as Initiator;
  }

  private store(response: Response): void {
    for (const line of cookiesIn(response)) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (name.startsWith('__Host-') && !/; Path=\/;.*; Secure/.test(line)) throw new Error(`refused: ${line}`);
      this.cookies = this.cookies.filter((cookie) => cookie.name !== name || cookie.domain !== null);
      const isLax = line.includes('SameSite=Lax');
      if (!line.includes('Max-Age=0;')) this.cookies.push({ name, value, domain: null, isLax });
    }
  }

  private relationTo(from: Initiator): string {
    if (from === this.origin) return 'same-origin';
    return from !== 'null' && siteOf(from) === siteOf(this.origin) ? 'same-site' : 'cross-site';
  }
}

function siteOf(origin: string): string {
  return new URL(origin).hostname.split('.').slice(-2).join('.');
}

function isSentBy(relation: string, method: string, navigates: boolean): boolean {
  return relation !== 'cross-site' || (navigates && method === 'GET');
}

function isStoredFor(relation: string, navigates: boolean): boolean {
  return relation !== 'cross-site' || navigates;
}
