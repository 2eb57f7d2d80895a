import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../../adapters/second-factor';
import { AuthError, credentialsMissing, invalidAccessToken, invalidRefreshToken } from '../../base/errors';
import type { Client } from '../../history/event-log';
import { Authenticate, type AuthPrincipal, MAX_TOKENS } from '../../sessions/authenticate';
import { Refresh } from '../../sessions/refresh';
import type { OpenedSession, TokenPair } from '../../tokens/tokens';
import { asksForCookies, type AuthResponse, type CookieRequest, markAsCookieRequest, usesCookies } from '../request';
import { CookieJar } from './cookie-jar';
import { CrossSiteCheck } from './cross-site-check';

/** The body of a response whose tokens are in cookies. */
export interface Delivered {
  readonly session_id?: string;
}

/**
 * The rules of the option `cookies`: which requests cookies authenticate, and when cookies are set and cleared. Each
 * method that makes the cross-site check throws the `AuthError` `cross_site_request`.
 */
@Injectable()
export class CookieRules {
  /** The mode of the option `cookies`. */
  readonly mode: CookieJar['mode'];

  constructor(
    private readonly jar: CookieJar,
    private readonly check: CrossSiteCheck,
    private readonly authentication: Authenticate,
    private readonly refreshing: Refresh,
  ) {
    this.mode = jar.mode;
  }

  /** Returns the access token in the cookies, or null. @throws AuthError `credentials_ambiguous` */
  accessToken(request: CookieRequest, isHandshake: boolean): string | null {
    const token = this.jar.accessToken(request);
    if (token !== null) this.acceptCookie(request, isHandshake);
    return token;
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
  clear(request: CookieRequest, response: AuthResponse): void {
    if (usesCookies(request, this.mode) && this.check.allows(request)) this.jar.clear(response);
  }

  /** Sets the cookies of a pair, and returns the body of the response. */
  deliver(response: AuthResponse, pair: TokenPair | OpenedSession): Delivered {
    this.jar.set(response, pair);
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
      const refreshToken = this.jar.refreshToken(request);
      if (refreshToken === null) throw invalidRefreshToken();
      const accessToken = this.jar.accessToken(request);
      const presentation = { transport: 'cookie', accessToken } as const;
      const pair = await this.refreshing.refresh(refreshToken, client, presentation);
      this.jar.set(response, pair);
      return pair;
    } catch (error) {
      const isRefusal = error instanceof AuthError && error.getStatus() === 400;
      if (isRefusal && !(await this.authentication.namesActiveSession(this.jar.allTokens(request).refresh)))
        this.jar.clear(response);
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
    const { access, refresh } = this.jar.allTokens(request);
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
