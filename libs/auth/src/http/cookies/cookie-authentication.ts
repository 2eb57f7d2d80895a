import { credentialsMissing, invalidAccessToken, isTokenRefused } from '../../domain/errors';
import type { ClientInfo } from '../../domain/client';
import type { AuthService } from '../../services/auth.service';
import type { AuthPrincipal } from '../../services/sessions/authentication';
import { type CookieSessions, MAX_TOKENS } from '../../services/sessions/cookie-sessions';
import type { AuthResponse } from '../platform/request';
import { excludeSharedCaches } from './caching';
import type { CookieRequest, CookieTransport } from './cookie-transport';

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
