import { Logger } from '@nestjs/common';
import { parse, serialize } from 'cookie';
import type { Clock } from '../../base/clock';
import { AuthError } from '../../base/errors';
import type { ResolvedAuthOptions } from '../../options/auth-options';
import type { TokenPair } from '../../tokens/tokens';
import type { AuthRequest, AuthResponse } from '../request';
import { crossSiteRefusal, mayUseCookies, publicHostOf } from './cross-site-check';

/** Disables decoding: tokens need no decoding, and a text that equals a token only after decoding is no token. */
const AS_SENT = { decode: (value: string): string => value };

/**
 * Returns all values of a cookie, in the order in which the client sent them. Node.js joins several `Cookie` headers,
 * including those of HTTP/2. Names are case-sensitive, because not every browser protects the prefix `__host-` like
 * `__Host-`.
 */
export function cookieValues({ headers }: Pick<AuthRequest, 'headers'>, name: string): string[] {
  const header = headers['cookie'];
  if (typeof header !== 'string' || !header.includes(name)) return [];
  // Each pair is parsed separately, because the parser keeps only the first of several cookies with the same name.
  return header.split(';').flatMap((pair) => {
    const value = parse(pair, AS_SENT)[name];
    return value === undefined ? [] : [value];
  });
}

/**
 * Returns the value of a cookie, or null if it is missing or empty.
 * @throws AuthError `credentials_ambiguous` if several cookies have this name, because another host may
 * have set one of them
 */
export function onlyCookieValue(request: Pick<AuthRequest, 'headers'>, name: string): string | null {
  const [value = '', ...others] = cookieValues(request, name);
  if (others.length > 0) throw new AuthError('credentials_ambiguous', `More than one cookie ${name} was sent.`);
  return value === '' ? null : value;
}

/** The settings of cookie mode, derived from the option `cookies`. */
export interface CookieSettings {
  /**
   * Whether every client receives tokens in cookies, instead of only clients that send
   * `X-Auth-Transport: cookie` or authenticate with a cookie.
   */
  readonly isOnlyTransport: boolean;
  readonly accessName: string;
  readonly refreshName: string;
  readonly isSecure: boolean;
  readonly trustedOrigins: ReadonlySet<string>;
}

/** Returns the settings of cookie mode, or null if cookie mode is off. */
export function cookieSettings({ cookies }: Pick<ResolvedAuthOptions, 'cookies'>): CookieSettings | null {
  const { mode, name, secure, trustedOrigins } = cookies;
  if (mode === false) return null;
  // Browsers accept cookies with this prefix only from the host itself and over HTTPS, so no sibling subdomain can set
  // them.
  const prefix = secure ? '__Host-' : '';
  return {
    isOnlyTransport: mode === 'only',
    accessName: `${prefix}${name}_access`,
    refreshName: `${prefix}${name}_refresh`,
    isSecure: secure,
    trustedOrigins: new Set(trustedOrigins),
  };
}

/** Returns the `Set-Cookie` headers of a token pair. Each cookie expires with its token. */
export function cookiesOf(settings: CookieSettings, pair: TokenPair, now: number): string[] {
  const secondsUntil = (end: Date): number => Math.max(0, Math.ceil((end.getTime() - now) / 1000));
  return [
    cookieOf(settings, settings.accessName, pair.accessToken, secondsUntil(pair.accessTokenExpiresAt)),
    cookieOf(settings, settings.refreshName, pair.refreshToken, secondsUntil(pair.refreshTokenExpiresAt)),
  ];
}

/** Returns the `Set-Cookie` headers that remove the access cookie and the refresh cookie. */
export function expiredCookies(settings: CookieSettings): string[] {
  return [settings.accessName, settings.refreshName].map((name) => cookieOf(settings, name, '', 0));
}

function cookieOf({ isSecure }: CookieSettings, name: string, value: string, maxAge: number): string {
  return serialize(name, value, { maxAge, path: '/', httpOnly: true, secure: isSecure, sameSite: 'lax' });
}

/** The parts of a request or handshake that cookie mode reads. */
export type CookieRequest = Pick<AuthRequest, 'headers' | 'method' | 'raw' | 'rawHeaders'>;

/** The safe methods except TRACE. Safe methods only read. (RFC 9110, section 9.2.1) */
const SAFE_METHODS: readonly (string | undefined)[] = ['GET', 'HEAD', 'OPTIONS'];

/** Reads tokens from cookies, checks from which site a request comes, and sets cookies in responses. */
export class CookieTransport {
  private readonly logger = new Logger('AuthModule');
  private readonly authenticated = new WeakSet<object>();
  private hasWarned = false;

  constructor(
    readonly settings: CookieSettings,
    private readonly clock: Clock,
  ) {}

  /** Returns whether the header `X-Auth-Transport` asks for cookies. */
  asksForCookies({ headers }: CookieRequest): boolean {
    // Node.js joins repeated headers with commas.
    return /(?:^|,)\s*cookie\s*(?:,|$)/i.test(String(headers['x-auth-transport']));
  }

  /** Returns whether the response to the request contains tokens in cookies instead of the body. */
  respondsWithCookies(request: CookieRequest): boolean {
    return this.settings.isOnlyTransport || this.asksForCookies(request) || this.isAuthenticated(request);
  }

  /** Returns whether the tokens of the request, valid or not, were taken from its cookies. */
  isAuthenticated(request: CookieRequest): boolean {
    return this.authenticated.has(request);
  }

  /** Records that the tokens of the request are taken from its cookies. */
  markAuthenticated(request: CookieRequest): void {
    this.authenticated.add(request);
  }

  /** Returns the access token in the cookies, or null. @throws AuthError `credentials_ambiguous` */
  accessToken(request: CookieRequest): string | null {
    return this.reads(request) ? onlyCookieValue(request, this.settings.accessName) : null;
  }

  /** Returns the refresh token in the cookies, or null. @throws AuthError `credentials_ambiguous` */
  refreshToken(request: CookieRequest): string | null {
    return this.reads(request) ? onlyCookieValue(request, this.settings.refreshName) : null;
  }

  /** Returns all access tokens and refresh tokens in the cookies. */
  allTokens(request: CookieRequest): { readonly access: readonly string[]; readonly refresh: readonly string[] } {
    const { accessName, refreshName } = this.settings;
    if (!this.reads(request)) return { access: [], refresh: [] };
    const valuesOf = (name: string): string[] => cookieValues(request, name).filter((value) => value !== '');
    return { access: valuesOf(accessName), refresh: valuesOf(refreshName) };
  }

  /** Returns whether the cross-site check allows the request to use cookies. */
  isSameSite(request: CookieRequest): boolean {
    return crossSiteRefusal(request, this.settings) === null;
  }

  /** Checks that the request may use cookies. @throws AuthError `cross_site_request` */
  assertSameSite(request: CookieRequest): void {
    const refusal = crossSiteRefusal(request, this.settings);
    if (!refusal) return;
    this.warnIfUnusable(request);
    throw refusal;
  }

  /**
   * Calls `assertSameSite`, unless the method is GET, HEAD or OPTIONS. A WebSocket handshake is always checked.
   * @throws AuthError `cross_site_request`
   */
  assertSameSiteIfUnsafe(request: CookieRequest): void {
    const isSafe = SAFE_METHODS.includes(request.method) && request.headers['upgrade'] === undefined;
    if (!isSafe) this.assertSameSite(request);
  }

  /** Sets the access cookie and the refresh cookie of a token pair. */
  set(response: AuthResponse, pair: TokenPair): void {
    this.addCookies(response, cookiesOf(this.settings, pair, this.clock.now()));
  }

  /** Removes the access cookie and the refresh cookie from the browser. */
  clear(response: AuthResponse): void {
    this.addCookies(response, expiredCookies(this.settings));
  }

  /**
   * Removes the access cookie and the refresh cookie if the response uses cookies and the cross-site check
   * allows the request.
   */
  clearIfAllowed(request: CookieRequest, response: AuthResponse): void {
    if (this.respondsWithCookies(request) && this.isSameSite(request)) this.clear(response);
  }

  private reads(request: CookieRequest): boolean {
    return mayUseCookies(request.headers, this.settings);
  }

  /**
   * Adds cookies to the response. Replaces the library's cookies that are already set, and keeps the application's
   * cookies.
   */
  private addCookies(response: AuthResponse, cookies: readonly string[]): void {
    const { accessName, refreshName } = this.settings;
    const isOfLibrary = (cookie: string): boolean =>
      cookie.startsWith(`${accessName}=`) || cookie.startsWith(`${refreshName}=`);
    const set = [response.raw, response].map((one) => one?.getHeader('set-cookie') ?? []);
    const present = [...new Set(set.flat().map(String))];
    // The header is removed first, because `header()` adds to `Set-Cookie` on Fastify but replaces
    // `Set-Cookie` on Express.
    response.removeHeader('set-cookie');
    response.header('set-cookie', [...present.filter((cookie) => !isOfLibrary(cookie)), ...cookies]);
  }

  private warnIfUnusable({ headers }: CookieRequest): void {
    const host = publicHostOf(headers, this.settings);
    if (this.hasWarned || host === null) return;
    this.hasWarned = true;
    this.logger.warn(
      `Cookies were refused for a request whose host or origin is ${JSON.stringify(host.slice(0, 100))}, because ` +
        '`cookies.secure` is false, which works only on localhost. If your application has this host, serve it over ' +
        'HTTPS and remove `secure: false`.',
    );
  }
}
