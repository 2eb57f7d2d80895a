import type { ClientInfo } from '../../adapters/second-factor';
import type { AuthService } from '../../auth.service';
import {
  AuthError,
  credentialsMissing,
  invalidAccessToken,
  invalidRefreshToken,
  isTokenRefused,
} from '../../base/errors';
import { type AuthPrincipal, MAX_TOKENS } from '../../sessions/authenticate';
import type { CookieSessions } from '../../sessions/cookie-sessions';
import type { OpenedSession, TokenPair } from '../../tokens/tokens';
import { type AuthRequest, type AuthResponse, bearerToken, hasBearerHeader, refuseMissing } from '../request';
import type { CookieRequest, CookieTransport } from './cookie-jar';

/** Matches the directives that `excludeSharedCaches` removes. (RFC 9111, section 5.2.2) */
const SHARED = /^(?:public|s-maxage\b.*|must-understand)$/i;

/**
 * Adds `private` to `Cache-Control`, and removes the directives that `SHARED` matches, so that no shared cache stores
 * the response. Has no effect if the response already has `private`, or has `no-store` without `must-understand`.
 */
export function excludeSharedCaches(response: AuthResponse): void {
  const directives = directivesOf(response);
  if (has(directives, 'private') || isNeverStored(directives)) return;
  response.header(
    'Cache-Control',
    [...directives.filter((directive) => !SHARED.test(directive)), 'private'].join(', '),
  );
}

/**
 * Sets `Cache-Control: no-store` on a response with tokens, so that no cache stores the tokens. (OWASP Session
 * Management Cheat Sheet)
 */
export function excludeCaches(response: AuthResponse): void {
  if (!isNeverStored(directivesOf(response))) response.header('Cache-Control', 'no-store');
}

/** Returns whether no cache stores the response. `must-understand` can override `no-store`. (RFC 9111, 5.2.2.3) */
function isNeverStored(directives: readonly string[]): boolean {
  return has(directives, 'no-store') && !has(directives, 'must-understand');
}

function has(directives: readonly string[], name: string): boolean {
  return directives.some((directive) => directive.toLowerCase() === name);
}

function directivesOf(response: AuthResponse): string[] {
  const directives = [response.getHeader('cache-control') ?? []].flat().map(String).join().split(',');
  return directives.map((directive) => directive.trim()).filter((directive) => directive !== '');
}

/** Authenticates requests and handshakes by their cookies. */
export class CookieAuthentication {
  constructor(
    readonly cookies: CookieTransport,
    private readonly auth: Pick<AuthService, 'authenticate'>,
    private readonly sessions: Pick<CookieSessions, 'authenticateByRefreshTokens'>,
  ) {}

  /**
   * Returns the access token in the cookies, or null.
   * @throws AuthError `credentials_ambiguous`; `cross_site_request` if the cross-site check of
   *   `CookieTransport.assertSameSiteIfUnsafe` refuses the request
   */
  tokenOfRequest(request: CookieRequest): string | null {
    const token = this.cookies.accessToken(request);
    if (token === null) return null;
    this.cookies.assertSameSiteIfUnsafe(request);
    this.cookies.markAuthenticated(request);
    return token;
  }

  /**
   * Returns the access token in the cookies of a handshake, or null. The site of every handshake with such a token is
   * checked, because any page can open a WebSocket, and because socket.io handshakes begin with a GET request.
   * @throws AuthError `credentials_ambiguous`, `cross_site_request`
   */
  tokenOfHandshake(request: CookieRequest): string | null {
    const token = this.cookies.accessToken(request);
    if (token !== null) this.cookies.assertSameSite(request);
    return token;
  }

  /** Returns whether the cookies contain an access token or a refresh token. */
  hasTokens(request: CookieRequest): boolean {
    const { access, refresh } = this.cookies.allTokens(request);
    return access.length + refresh.length > 0;
  }

  /** Calls `excludeSharedCaches` if the tokens of the request were taken from its cookies. */
  keepPrivate(request: CookieRequest, response: AuthResponse | undefined): void {
    if (response && this.cookies.isAuthenticated(request)) excludeSharedCaches(response);
  }

  /**
   * Removes the cookies, if `clearIfAllowed` allows it, when a logout with a bearer token or
   * without a token is refused with 401. `principalOfLogout` does so for its own 401 refusals.
   */
  clearAfterRefusal(error: unknown, request: CookieRequest, response: AuthResponse): void {
    if (isTokenRefused(error)) this.cookies.clearIfAllowed(request, response);
  }

  /**
   * Returns the principal of a logout with cookies: of the first valid access token, or otherwise of the
   * first refresh token of the current family of an active session, even if that token was already used.
   * Tries at most 10 tokens of each kind. If none is accepted, clears the cookies.
   * @throws AuthError `cross_site_request`; `credentials_missing` or `access_token_invalid`
   */
  async principalOfLogout(request: CookieRequest, response: AuthResponse, client: ClientInfo): Promise<AuthPrincipal> {
    const { access, refresh } = this.cookies.allTokens(request);
    this.cookies.assertSameSite(request);
    this.cookies.markAuthenticated(request);
    for (const token of access.slice(0, MAX_TOKENS)) {
      const found = await this.auth.authenticate(token, client);
      if (found) return found;
    }
    const principal = await this.sessions.authenticateByRefreshTokens(refresh, client);
    if (principal) return principal;
    this.cookies.clear(response);
    throw access.length === 0 ? credentialsMissing() : invalidAccessToken();
  }
}

/** Refreshes a session with the cookies of a request. */
export class CookieRefresh {
  constructor(
    private readonly cookies: CookieTransport,
    private readonly sessions: Pick<CookieSessions, 'refresh' | 'namesActiveSession'>,
  ) {}

  /**
   * Refreshes with the tokens in the cookies, and sets the cookies of the returned pair. If the refresh is
   * refused, clears the cookies, unless a refresh token in the cookies contains the id of an active session,
   * for example because another browser tab has replaced the cookies.
   * @throws AuthError `credentials_ambiguous`; `invalid_refresh_token` if the cookie is missing or its
   * token is refused
   */
  async refresh(request: CookieRequest, response: AuthResponse, client: ClientInfo): Promise<TokenPair> {
    try {
      const refreshToken = this.cookies.refreshToken(request);
      if (refreshToken === null) throw invalidRefreshToken();
      const accessToken = this.cookies.accessToken(request);
      const pair = await this.sessions.refresh({ refreshToken, accessToken }, client);
      this.cookies.set(response, pair);
      return pair;
    } catch (error) {
      if (isRefusal(error) && !(await this.namesActiveSession(request))) this.cookies.clear(response);
      throw error;
    }
  }

  private async namesActiveSession(request: CookieRequest): Promise<boolean> {
    const { refresh } = this.cookies.allTokens(request);
    for (const token of refresh.slice(0, MAX_TOKENS)) {
      if (await this.sessions.namesActiveSession(token)) return true;
    }
    return false;
  }
}

function isRefusal(error: unknown): boolean {
  return error instanceof AuthError && ['invalid_refresh_token', 'credentials_ambiguous'].includes(error.code);
}

/** Delivers the tokens of an endpoint in the body or in cookies, makes the cross-site check, and removes cookies. */
export class TokenDelivery {
  /** @param mode the parts of cookie mode, or null if cookie mode is off */
  constructor(
    private readonly mode: { readonly cookies: CookieTransport; readonly refreshing: CookieRefresh } | null,
  ) {}

  /** Returns whether the response to this request contains tokens in cookies. */
  usesCookies(request: AuthRequest): boolean {
    return this.mode?.cookies.respondsWithCookies(request) ?? false;
  }

  /**
   * Makes the cross-site check if the response to the request would set cookies. Call this method before all
   * other work of the handler.
   * @throws AuthError `cross_site_request`
   */
  assertAllowed(request: AuthRequest): void {
    if (this.usesCookies(request)) this.mode!.cookies.assertSameSite(request);
  }

  /**
   * Returns `body`, or, if the response uses cookies, sets the cookies of the pair and returns a
   * body without tokens.
   */
  deliver<Body>(
    request: AuthRequest,
    response: AuthResponse,
    pair: TokenPair | OpenedSession,
    body: Body,
  ): Body | Delivered {
    if (!this.usesCookies(request)) return body;
    this.mode!.cookies.set(response, pair);
    return 'sessionId' in pair ? { session_id: pair.sessionId } : {};
  }

  /**
   * Refreshes the session with the cookies of the request.
   * @throws AuthError with the codes of `CookieRefresh.refresh`
   */
  async refreshCookies(request: AuthRequest, response: AuthResponse, client: ClientInfo): Promise<Delivered> {
    await this.mode!.refreshing.refresh(request, response, client);
    return {};
  }

  /**
   * Makes the cross-site check for a logout with the header `X-Auth-Transport: cookie`. The guard
   * checks logouts that a cookie authenticates. Call this method before the logout.
   * @throws AuthError `cross_site_request`
   */
  assertMayClear(request: AuthRequest): void {
    // In the mode `only`, a client without cookies can log out with its bearer token, which needs no cross-site check.
    if (this.mode?.cookies.asksForCookies(request)) this.mode.cookies.assertSameSite(request);
  }

  /** Removes the cookies if the response uses cookies and the cross-site check allows the request. */
  clear(request: AuthRequest, response: AuthResponse): void {
    this.mode?.cookies.clearIfAllowed(request, response);
  }
}

/** The body of a response whose tokens are in cookies. */
export interface Delivered {
  readonly session_id?: string;
}

/**
 * Returns the token in the `Authorization: Bearer` header of a request. In cookie mode, returns the token
 * in the cookie if the request has no such header.
 * @throws AuthError `cross_site_request`, and the codes of `bearerToken`
 */
export function requestToken(request: AuthRequest, cookies: CookieAuthentication | null): string {
  if (!cookies || hasBearerHeader(request)) return bearerToken(request);
  return cookies.tokenOfRequest(request) ?? refuseMissing();
}
