import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../../adapters/second-factor';
import { AuthError, credentialsMissing, invalidAccessToken, invalidRefreshToken } from '../../base/errors';
import { ClientInspector } from '../../history/client';
import { Authenticate, type AuthPrincipal, MAX_TOKENS } from '../../sessions/authenticate';
import { Refresh } from '../../sessions/refresh';
import type { OpenedSession, TokenPair } from '../../tokens/tokens';
import type { AuthResponse } from '../request';
import { CookieJar } from './cookie-jar';
import { type CookieRequest, CrossSiteCheck } from './cross-site-check';

/** The body of a response whose tokens are in cookies. */
export interface Delivered {
  readonly session_id?: string;
}

/**
 * The rules of the option `cookies`: which requests are authenticated by cookies, which responses contain cookies
 * instead of tokens, and when cookies are cleared.
 */
@Injectable()
export class CookieRules {
  private readonly authenticated = new WeakSet<object>();

  constructor(
    private readonly jar: CookieJar,
    private readonly check: CrossSiteCheck,
    private readonly authentication: Authenticate,
    private readonly refreshing: Refresh,
    private readonly clients: ClientInspector,
  ) {}

  /** Whether cookie mode is on. */
  get isOn(): boolean {
    return this.jar.mode !== false;
  }

  /**
   * Returns the access token in the cookies, or null.
   * @throws AuthError `credentials_ambiguous`; `cross_site_request` as in `acceptCookie`
   */
  accessToken(request: CookieRequest, isHandshake: boolean): string | null {
    const token = this.jar.accessToken(request);
    if (token !== null) this.acceptCookie(request, isHandshake);
    return token;
  }

  /**
   * Makes the cross-site check for a request that a cookie authenticates, and marks the request as such.
   * @param isHandshake whether the request opened a socket: such a request is checked with every method, because
   *   socket.io handshakes begin with a GET request
   * @throws AuthError `cross_site_request`
   */
  acceptCookie(request: CookieRequest, isHandshake: boolean): void {
    if (isHandshake) this.check.assert(request);
    else this.check.assertUnlessSafe(request);
    this.authenticated.add(request);
  }

  /** Returns whether the response to the request contains tokens in cookies instead of the body. */
  usesCookies(request: CookieRequest): boolean {
    if (!this.isOn) return false;
    return this.jar.mode === 'only' || asksForCookies(request) || this.authenticated.has(request);
  }

  /**
   * Makes the cross-site check if the response to the request would set cookies. Call this method before all other
   * work of the handler.
   * @throws AuthError `cross_site_request`
   */
  assertMaySet(request: CookieRequest): void {
    if (this.usesCookies(request)) this.check.assert(request);
  }

  /**
   * Makes the cross-site check for a logout with the header `X-Auth-Transport: cookie`. The guard checks logouts that a
   * cookie authenticates. In the mode `only`, a client can log out with its bearer token, which needs no check.
   * @throws AuthError `cross_site_request`
   */
  assertMayClear(request: CookieRequest): void {
    if (this.isOn && asksForCookies(request)) this.check.assert(request);
  }

  /** Removes the cookies if the response uses cookies and the cross-site check allows the request. */
  clear(request: CookieRequest, response: AuthResponse): void {
    if (this.usesCookies(request) && this.check.allows(request)) this.jar.clear(response);
  }

  /** Returns `body`, or, if the response uses cookies, sets the cookies of the pair and returns a body without tokens. */
  deliver<Body>(
    request: CookieRequest,
    response: AuthResponse,
    pair: TokenPair | OpenedSession,
    body: Body,
  ): Body | Delivered {
    if (!this.usesCookies(request)) return body;
    this.jar.set(response, pair);
    return 'sessionId' in pair ? { session_id: pair.sessionId } : {};
  }

  /**
   * Refreshes with the tokens in the cookies, and sets the cookies of the returned pair. If the refresh is refused,
   * clears the cookies, unless a refresh token in the cookies contains the id of an active session, for example because
   * another browser tab has replaced the cookies.
   * @throws AuthError `credentials_ambiguous`; `invalid_refresh_token` if the cookie is missing or refused
   */
  async refresh(request: CookieRequest, response: AuthResponse, client: ClientInfo): Promise<TokenPair> {
    try {
      const refreshToken = this.jar.refreshToken(request);
      if (refreshToken === null) throw invalidRefreshToken();
      const accessToken = this.jar.accessToken(request);
      const presentation = { transport: 'cookie', accessToken } as const;
      const pair = await this.refreshing.refresh(refreshToken, this.clients.inspect(client), presentation);
      this.jar.set(response, pair);
      return pair;
    } catch (error) {
      const isRefusal = error instanceof AuthError && error.getStatus() === 400;
      if (isRefusal && !(await this.namesActiveSession(request))) this.jar.clear(response);
      throw error;
    }
  }

  /**
   * Returns the principal of a logout with cookies: of the first valid access token, or otherwise of the first refresh
   * token of the current family of an active session, even if that token was already used. Tries at most 10 tokens of
   * each kind.
   * @throws AuthError `cross_site_request`; `credentials_missing` or `access_token_invalid`
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

  /** Returns whether the cookies contain an access token or a refresh token. */
  hasTokens(request: CookieRequest): boolean {
    const { access, refresh } = this.jar.allTokens(request);
    return access.length + refresh.length > 0;
  }

  /** Excludes the response from shared caches if a cookie has authenticated the request. */
  keepPrivate(request: CookieRequest, response: AuthResponse | undefined): void {
    if (response && this.authenticated.has(request)) excludeSharedCaches(response);
  }

  private async namesActiveSession(request: CookieRequest): Promise<boolean> {
    for (const token of this.jar.allTokens(request).refresh.slice(0, MAX_TOKENS)) {
      if (await this.authentication.namesActiveSession(token)) return true;
    }
    return false;
  }
}

/** Returns whether the header `X-Auth-Transport` asks for cookies. Node.js joins repeated headers with commas. */
function asksForCookies({ headers }: CookieRequest): boolean {
  return /(?:^|,)\s*cookie\s*(?:,|$)/i.test(String(headers['x-auth-transport']));
}

/** Matches the directives that `excludeSharedCaches` removes. (RFC 9111, section 5.2.2) */
const SHARED = /^(?:public|s-maxage\b.*|must-understand)$/i;

/**
 * Adds `private` to `Cache-Control`, and removes the directives that `SHARED` matches, so that no shared cache stores
 * the response. Has no effect if the response already has `private`, or has `no-store` without `must-understand`.
 */
function excludeSharedCaches(response: AuthResponse): void {
  const directives = directivesOf(response);
  if (has(directives, 'private') || isNeverStored(directives)) return;
  const kept = directives.filter((directive) => !SHARED.test(directive));
  response.header('Cache-Control', [...kept, 'private'].join(', '));
}

/** Sets `Cache-Control: no-store` on a response with tokens. (OWASP Session Management Cheat Sheet) */
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
