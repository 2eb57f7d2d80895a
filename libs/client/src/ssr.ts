// For servers that render pages, such as Next, Nuxt and SvelteKit. The session is in the cookies of the browser.
import { ClientError } from './errors.js';
import { discard, json, refusalOf, rethrow } from './requests.js';

/** The options of a `ServerSession`. */
export interface ServerSessionOptions {
  /** The URL at which the rendering server reaches the API. */
  readonly baseUrl: string;
  /** The path of the endpoints below `baseUrl`: the API's global prefix and its option `path`. Default: `auth`. */
  readonly authPath?: string;
  /** The origin of the pages, such as `https://app.example.com`. One of the API's `cookies.trustedOrigins`. */
  readonly origin: string;
  /** The headers of the browser's request. */
  readonly headers: Pick<Headers, 'get'>;
  /** The API's option `cookies.name`. Default: `auth`. */
  readonly cookieName?: string;
}

/**
 * The headers of the browser's request that reach the API. `Origin` and `Sec-Fetch-Site` let the API refuse requests that
 * another site has initiated.
 */
const FORWARDED = ['origin', 'sec-fetch-site', 'user-agent', 'x-forwarded-for'];

/** The session of one request to a server that renders pages. Create one for each request, never one for all. */
export class ServerSession {
  readonly #base: URL;
  #cookie: string;
  #refreshing: Promise<readonly string[]> | null = null;

  constructor(private readonly options: ServerSessionOptions) {
    this.#base = new URL(options.baseUrl.replace(/\/?$/, '/'));
    this.#cookie = options.headers.get('cookie') ?? '';
  }

  /** The header `Cookie` of requests to the API. After a refresh, it has the new cookies. */
  get cookie(): string {
    return this.#cookie;
  }

  /**
   * Refreshes the session if the browser has only the refresh cookie, because the access cookie has expired. Call it
   * before anything of the response is sent: if the browser does not get the new cookies, it presents the used refresh
   * token again, which is reuse after the grace period. Further calls do not refresh again.
   * @returns the values of `Set-Cookie` for the response to the browser
   * @throws ClientError if the API neither refreshes nor refuses, `no_answer` if it cannot be reached, `cross_site_request` if it does not trust `origin`
   */
  refresh(): Promise<readonly string[]> {
    this.#refreshing ??= this.#has('refresh') && !this.#has('access') ? this.#exchange() : Promise.resolve([]);
    return this.#refreshing;
  }

  /**
   * Sends a request with the cookies of the browser. Does not refresh.
   * @throws ClientError `foreign_origin` if the URL is not one of the API
   */
  async fetch(input: string | URL, init: RequestInit = {}): Promise<Response> {
    const { origin, href } = new URL(input, this.#base);
    if (origin !== this.#base.origin) throw new ClientError('foreign_origin', `Use global fetch for ${origin}.`);
    const headers = this.#headers(init.headers);
    // A cached response could belong to another user.
    return fetch(href, { cache: 'no-store', ...init, headers } as RequestInit);
  }

  async #exchange(): Promise<readonly string[]> {
    const { origin, authPath = 'auth' } = this.options;
    const headers = this.#headers({ 'X-Auth-Transport': 'cookie' });
    // A page may be opened from another site, which gets no token. See "What is not defended" in docs/threats.md.
    headers.delete('sec-fetch-site');
    headers.set('origin', origin);
    const url = new URL(`./${authPath.replace(/^\/+|\/+$/g, '')}/token/refresh`, this.#base);
    const response = await fetch(url, { ...json('POST'), cache: 'no-store', headers } as RequestInit).catch(rethrow);
    // A 400 refuses the refresh token, and removes the cookies.
    if (!response.ok && response.status !== 400) throw await refusalOf(response);
    discard(response);
    const lines = response.headers.getSetCookie();
    for (const line of lines) this.#apply(line);
    return lines;
  }

  /** Replaces or removes a cookie of later requests. */
  #apply(line: string): void {
    const [pair = ''] = line.split(';');
    const name = pair.slice(0, pair.indexOf('=') + 1);
    const others = this.#cookie.split(/; */).filter((one) => one !== '' && !one.startsWith(name));
    this.#cookie = [...others, ...(/; *max-age=0/i.test(line) ? [] : [pair])].join('; ');
  }

  #headers(given?: RequestInit['headers']): Headers {
    const headers = new Headers(given);
    for (const name of FORWARDED) {
      const value = this.options.headers.get(name);
      if (value !== null) headers.set(name, value);
    }
    headers.set('cookie', this.#cookie);
    return headers;
  }

  #has(kind: 'access' | 'refresh'): boolean {
    const { cookieName = 'auth', origin } = this.options;
    const name = `${cookieName}_${kind}=`;
    // With HTTPS, a cookie without the prefix is not from the API: another host of the site can set it.
    const names = [`__Host-${name}`, ...(origin.startsWith('https:') ? [] : [name])];
    return this.#cookie.split(/; */).some((one) => names.some((prefix) => one.startsWith(prefix)));
  }
}
