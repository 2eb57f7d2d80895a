import { Inject, Injectable } from '@nestjs/common';
import type { ClientInfo } from '../../adapters/second-factor';
import { Clock } from '../../base/clock';
import { AuthError, credentialsMissing, invalidAccessToken, invalidRefreshToken } from '../../base/errors';
import type { Client } from '../../history/event-log';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from '../../options/auth-options';
import { Authenticate, type AuthPrincipal, MAX_TOKENS } from '../../sessions/authenticate';
import { Refresh } from '../../sessions/refresh';
import type { OpenedSession, TokenPair } from '../../tokens/tokens';
import {
  asksForCookies,
  type AuthRequest,
  type AuthResponse,
  type CookieRequest,
  markAsCookieRequest,
  usesCookies,
} from '../request';
import { CrossSiteCheck } from './cross-site-check';

/** The part of the package `cookie` that this file uses. Version 0.7 contains no types. */
interface CookiePackage {
  readonly parse: (text: string, options: { readonly decode: (value: string) => string }) => Record<string, string>;
  readonly serialize: (name: string, value: string, attributes: Readonly<Record<string, unknown>>) => string;
}

// eslint-disable-next-line @typescript-eslint/no-require-imports -- see `CookiePackage`
const { parse, serialize } = require('cookie') as CookiePackage;

/** Disables decoding, because a text that equals a token only after decoding is no token. */
const AS_SENT = { decode: (value: string): string => value };

/** A request or handshake from which cookies are read. */
type WithCookies = Pick<AuthRequest, 'headers'>;

/**
 * Returns all values of a cookie, in the order in which the client sent them. Names are case-sensitive, because not
 * every browser protects the prefix `__host-` like `__Host-`.
 */
export function cookieValues({ headers }: WithCookies, name: string): string[] {
  const header = headers['cookie'];
  if (typeof header !== 'string' || !header.includes(name)) return [];
  // Each pair is parsed separately, because the parser keeps only the first of several cookies with the same name.
  return header.split(';').flatMap((pair) => parse(pair, AS_SENT)[name] ?? []);
}

/**
 * Returns the value of a cookie, or null if it is missing or empty.
 * @throws AuthError `credentials_ambiguous` if several cookies have this name, because another host may have set one
 */
export function onlyCookieValue(request: WithCookies, name: string): string | null {
  const [value = '', ...others] = cookieValues(request, name);
  if (others.length > 0) throw new AuthError('credentials_ambiguous', `More than one cookie ${name} was sent.`);
  return value === '' ? null : value;
}

/** Returns whether a cookie, also of the application, contains the token, in any form that cookie parsers decode. */
export function occursInCookies({ headers }: WithCookies, token: string): boolean {
  const pairs = String(headers['cookie'] ?? '').split(';');
  return pairs.some((pair) => pair.includes(token) || decoded(pair).includes(token));
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The body of a response whose tokens are in cookies. */
export interface Delivered {
  readonly session_id?: string;
}

/**
 * Reads, sets and clears the cookies of a session by the rules of the option `cookies`. Reads none if the option is
 * off. Each method that makes the cross-site check throws the `AuthError` `cross_site_request`.
 */
@Injectable()
export class CookieRules {
  /** The mode of the option `cookies`. */
  readonly mode: ResolvedAuthOptions['cookies']['mode'];
  private readonly isSecure: boolean;
  private readonly accessName: string;
  private readonly refreshName: string;

  constructor(
    @Inject(AUTH_OPTIONS) { cookies }: Pick<ResolvedAuthOptions, 'cookies'>,
    private readonly check: CrossSiteCheck,
    private readonly authentication: Authenticate,
    private readonly refreshing: Refresh,
    private readonly clock: Clock,
  ) {
    this.mode = cookies.mode;
    this.isSecure = cookies.secure;
    // Browsers accept cookies with this prefix only from the host itself and over HTTPS, so no sibling subdomain can
    // set them.
    const prefix = cookies.secure ? '__Host-' : '';
    this.accessName = `${prefix}${cookies.name}_access`;
    this.refreshName = `${prefix}${cookies.name}_refresh`;
  }

  /**
   * Returns the access token in the cookies, or null, after the cross-site check.
   * @throws AuthError `credentials_ambiguous`
   */
  accessToken(request: CookieRequest, isHandshake: boolean): string | null {
    const token = this.onlyValue(request, this.accessName);
    if (token !== null) this.acceptCookie(request, isHandshake);
    return token;
  }

  /** Returns all access tokens and refresh tokens in the cookies. */
  allTokens(request: WithCookies): { readonly access: readonly string[]; readonly refresh: readonly string[] } {
    const valuesOf = (name: string): string[] =>
      this.reads(request) ? cookieValues(request, name).filter((value) => value !== '') : [];
    return { access: valuesOf(this.accessName), refresh: valuesOf(this.refreshName) };
  }

  /**
   * Makes the cross-site check for a request that a cookie authenticates, and marks the request as such.
   * @param isHandshake whether the request opened a socket: such a request is checked with every method, because
   *   socket.io handshakes begin with a GET request
   */
  acceptCookie(request: CookieRequest, isHandshake: boolean): void {
    if (isHandshake) this.check.assert(request);
    else this.check.assertUnlessSafe(request);
    markAsCookieRequest(request);
  }

  /** Makes the cross-site check for a request whose response sets cookies. */
  assertMaySet(request: CookieRequest): void {
    this.check.assert(request);
  }

  /**
   * Makes the cross-site check for a logout with the header `X-Auth-Transport: cookie`. The guard checks logouts that a
   * cookie authenticates. In the mode `only`, a client can log out with its bearer token, which needs no check.
   */
  assertMayClear(request: CookieRequest): void {
    if (this.mode && asksForCookies(request)) this.check.assert(request);
  }

  /** Removes the cookies if the response uses cookies and the cross-site check allows the request. */
  clearIfAllowed(request: CookieRequest, response: AuthResponse): void {
    if (usesCookies(request, this.mode) && this.check.allows(request)) this.clear(response);
  }

  /** Removes the access cookie and the refresh cookie from the browser. */
  clear(response: AuthResponse): void {
    this.replaceCookies(response, [this.cookie(this.accessName, '', 0), this.cookie(this.refreshName, '', 0)]);
  }

  /**
   * Sets the access cookie and the refresh cookie of a pair. Each cookie expires with its token.
   * @returns the body of the response
   */
  set(response: AuthResponse, pair: TokenPair | OpenedSession): Delivered {
    const secondsUntil = (end: Date): number => Math.max(0, Math.ceil((end.getTime() - this.clock.now()) / 1000));
    this.replaceCookies(response, [
      this.cookie(this.accessName, pair.accessToken, secondsUntil(pair.accessTokenExpiresAt)),
      this.cookie(this.refreshName, pair.refreshToken, secondsUntil(pair.refreshTokenExpiresAt)),
    ]);
    return 'sessionId' in pair ? { session_id: pair.sessionId } : {};
  }

  /**
   * Refreshes with the tokens in the cookies, and sets the cookies of the returned pair. If the refresh is refused,
   * clears the cookies, unless a refresh token in the cookies contains the id of an active session, for example because
   * another browser tab has replaced the cookies.
   * @throws AuthError `credentials_ambiguous`; `invalid_refresh_token` if the cookie is missing or refused
   */
  async refresh(request: CookieRequest, response: AuthResponse, client: Client): Promise<TokenPair> {
    try {
      const refreshToken = this.onlyValue(request, this.refreshName);
      if (refreshToken === null) throw invalidRefreshToken();
      const accessToken = this.onlyValue(request, this.accessName);
      const pair = await this.refreshing.refresh(refreshToken, client, 'cookie', accessToken);
      this.set(response, pair);
      return pair;
    } catch (error) {
      const isRefusal = error instanceof AuthError && error.getStatus() === 400;
      if (isRefusal && !(await this.authentication.namesActiveSession(this.allTokens(request).refresh)))
        this.clear(response);
      throw error;
    }
  }

  /**
   * Returns the principal of a logout with cookies: of the first valid access token, or otherwise of the first refresh
   * token of the current family of an active session, even if that token was already used. Tries at most 10 tokens of
   * each kind.
   * @throws AuthError `credentials_missing` or `access_token_invalid`
   */
  async principalOfLogout(request: CookieRequest, client: ClientInfo): Promise<AuthPrincipal> {
    const { access, refresh } = this.allTokens(request);
    if (access.length + refresh.length === 0) throw credentialsMissing();
    this.acceptCookie(request, true);
    for (const token of access.slice(0, MAX_TOKENS)) {
      const found = await this.authentication.authenticate(token, client);
      if (found) return found;
    }
    const principal = await this.authentication.byRefreshTokens(refresh, client);
    if (principal) return principal;
    throw access.length === 0 ? credentialsMissing() : invalidAccessToken();
  }

  private reads(request: WithCookies): boolean {
    return this.mode !== false && this.check.mayUseCookies(request);
  }

  private onlyValue(request: WithCookies, name: string): string | null {
    return this.reads(request) ? onlyCookieValue(request, name) : null;
  }

  private cookie(name: string, value: string, maxAge: number): string {
    return serialize(name, value, { maxAge, path: '/', httpOnly: true, secure: this.isSecure, sameSite: 'lax' });
  }

  /** Adds the library's cookies to the response, in place of those already set. Keeps the application's cookies. */
  private replaceCookies(response: AuthResponse, cookies: readonly string[]): void {
    const isOfLibrary = (cookie: string): boolean =>
      cookie.startsWith(`${this.accessName}=`) || cookie.startsWith(`${this.refreshName}=`);
    const set = [response.raw, response].map((one) => one?.getHeader('set-cookie') ?? []);
    const present = [...new Set(set.flat().map(String))];
    // The header is removed first, because `header()` adds to `Set-Cookie` on Fastify but replaces it on Express.
    response.removeHeader('set-cookie');
    response.header('set-cookie', [...present.filter((cookie) => !isOfLibrary(cookie)), ...cookies]);
  }
}

/** Matches the directives that let shared caches store a response, and empty ones. (RFC 9111, section 5.2.2) */
const SHARED = /^(?:public|s-maxage\b.*|must-understand|)$/i;

/**
 * Adds `private` to `Cache-Control`, so that no shared cache stores the response. Has no effect if the response already
 * has `private`, or has `no-store`, which `must-understand` can override.
 */
export function excludeSharedCaches(response: AuthResponse): void {
  const header = response.getHeader('cache-control') as string | string[] | undefined;
  const directives = String(header ?? '')
    .split(',')
    .map((directive) => directive.trim());
  const has = (name: string): boolean => directives.some((directive) => directive.toLowerCase() === name);
  if (has('private') || (has('no-store') && !has('must-understand'))) return;
  const kept = directives.filter((directive) => !SHARED.test(directive));
  response.header('Cache-Control', [...kept, 'private'].join(', '));
}
