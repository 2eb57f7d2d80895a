import { Logger } from '@nestjs/common';
import type { Clock } from '../../domain/ports/platform';
import type { TokenPair } from '../../domain/tokens';
import type { AuthRequest, AuthResponse } from '../platform/request';
import { cookieValues, onlyCookieValue } from './cookie-reader';
import { cookiesOf, expiredCookies, type CookieSettings } from './cookie-settings';
import { crossSiteRefusal, mayUseCookies, publicHostOf } from './cross-site-check';

/** The parts of a request or handshake that cookie mode reads. */
export type CookieRequest = Pick<AuthRequest, 'headers' | 'method' | 'raw' | 'rawHeaders'>;

/** The methods that change nothing. (RFC 9110, section 9.2.1) */
const SAFE_METHODS: readonly (string | undefined)[] = ['GET', 'HEAD', 'OPTIONS'];

/** Reads tokens from the cookies of requests, checks where requests come from, and sets cookies in responses. */
export class CookieTransport {
  private readonly logger = new Logger('AuthModule');
  private readonly authenticated = new WeakSet<object>();
  private hasWarned = false;

  constructor(
    readonly settings: CookieSettings,
    private readonly clock: Clock,
  ) {}

  /** Whether the header `X-Auth-Transport` asks for cookies. */
  asksForCookies({ headers }: CookieRequest): boolean {
    // Node joins repeated headers.
    return /(?:^|,)\s*cookie\s*(?:,|$)/i.test(String(headers['x-auth-transport']));
  }

  /** Whether the response carries tokens in cookies, and never in its body. */
  answersWithCookies(request: CookieRequest): boolean {
    return this.settings.isOnlyTransport || this.asksForCookies(request) || this.isAuthenticated(request);
  }

  /** Whether an access token or a logout was taken from cookies of this request. */
  isAuthenticated(request: CookieRequest): boolean {
    return this.authenticated.has(request);
  }

  /** Remembers that the request is authenticated by its cookies. */
  markAuthenticated(request: CookieRequest): void {
    this.authenticated.add(request);
  }

  /** @throws AuthError `credentials_ambiguous` */
  accessToken(request: CookieRequest): string | null {
    return this.reads(request) ? onlyCookieValue(request, this.settings.accessName) : null;
  }

  /** @throws AuthError `credentials_ambiguous` */
  refreshToken(request: CookieRequest): string | null {
    return this.reads(request) ? onlyCookieValue(request, this.settings.refreshName) : null;
  }

  /** Returns every access token and refresh token among the cookies, however many there are. */
  allTokens(request: CookieRequest): { readonly access: readonly string[]; readonly refresh: readonly string[] } {
    const { accessName, refreshName } = this.settings;
    if (!this.reads(request)) return { access: [], refresh: [] };
    const valuesOf = (name: string): string[] => cookieValues(request, name).filter((value) => value !== '');
    return { access: valuesOf(accessName), refresh: valuesOf(refreshName) };
  }

  /** Whether the request may act by cookies, and be answered with them. */
  isSameSite(request: CookieRequest): boolean {
    return crossSiteRefusal(request, this.settings) === null;
  }

  /** @throws AuthError `cross_site_request` */
  assertSameSite(request: CookieRequest): void {
    const refusal = crossSiteRefusal(request, this.settings);
    if (!refusal) return;
    this.warnIfUnusable(request);
    throw refusal;
  }

  /** The same for a request that can change something: a handshake and an unknown method can. @throws as above */
  assertSameSiteIfUnsafe(request: CookieRequest): void {
    const isSafe = SAFE_METHODS.includes(request.method) && request.headers['upgrade'] === undefined;
    if (!isSafe) this.assertSameSite(request);
  }

  /** Sets both cookies. */
  set(response: AuthResponse, pair: TokenPair): void {
    this.addCookies(response, cookiesOf(this.settings, pair, this.clock.now()));
  }

  /** Removes both cookies from the browser. */
  clear(response: AuthResponse): void {
    this.addCookies(response, expiredCookies(this.settings));
  }

  /** Removes them where the request is answered with cookies, and not from another site. */
  clearIfAllowed(request: CookieRequest, response: AuthResponse): void {
    if (this.answersWithCookies(request) && this.isSameSite(request)) this.clear(response);
  }

  private reads(request: CookieRequest): boolean {
    return mayUseCookies(request.headers, this.settings);
  }

  /** Keeps cookies of the application, and replaces those that were set for the same response before. */
  private addCookies(response: AuthResponse, cookies: readonly string[]): void {
    const { accessName, refreshName } = this.settings;
    const isOurs = (cookie: string): boolean =>
      cookie.startsWith(`${accessName}=`) || cookie.startsWith(`${refreshName}=`);
    const set = [response.raw, response].map((one) => one?.getHeader('set-cookie') ?? []);
    const present = [...new Set(set.flat().map(String))];
    // Fastify adds to this header; Express replaces it.
    response.removeHeader('set-cookie');
    response.header('set-cookie', [...present.filter((cookie) => !isOurs(cookie)), ...cookies]);
  }

  private warnIfUnusable({ headers }: CookieRequest): void {
    const host = publicHostOf(headers, this.settings);
    if (this.hasWarned || host === null) return;
    this.hasWarned = true;
    this.logger.warn(
      `Cookies are off for the host ${JSON.stringify(host.slice(0, 100))}: \`cookies.secure\` is ` +
        'false, which is for localhost only. Serve the application over HTTPS, and leave `secure` out.',
    );
  }
}
