import { AuthError } from '../../base/errors';
import type { AuthPrincipal } from '../../sessions/authenticate';
import type { CookieSessions } from '../../sessions/cookie-sessions';
import type { TokenPair } from '../../tokens/tokens';
import { type AuthRequest, type AuthResponse, clientInfoOf } from '../request';
import { type CookieAuthentication, type CookieRefresh, excludeCaches } from './cookie-mode';

/** The parts of cookie mode that `AuthCookies` uses. */
interface CookieParts {
  readonly authentication: CookieAuthentication;
  readonly refreshing: CookieRefresh;
}

/**
 * Sets, clears and refreshes the cookies of a session in your own routes. Use this class for sessions that
 * your application opens itself, and for server-rendered pages. Without the option `cookies`, every method
 * fails with an `Error`. Pass the request and response of Express or Fastify.
 *
 * @example
 * ```ts
 * @Post('sign-in')
 * @Redirect('/')
 * async signIn(@Req() request: Request, @Res({ passthrough: true }) response: Response): Promise<void> {
 *   const opened = await this.auth.openSession(await this.userOf(request), clientInfoOf(request));
 *   this.cookies.set(request, response, opened);
 * }
 * ```
 */
export class AuthCookies {
  /** @internal */
  constructor(
    private readonly sessions: Pick<CookieSessions, 'authenticateIssued'>,
    private readonly mode: CookieParts | null,
  ) {}

  /**
   * Sets the cookies of a token pair that `openSession`, `login`, `refresh`, `changePassword`,
   * `reauthenticate` or `confirmIdentity` returned. Each cookie expires with its token. Also sets
   * `Cache-Control: no-store`.
   * @throws AuthError `cross_site_request` if the request comes from another origin that is not in
   * `trustedOrigins`, has neither `Origin` nor `Sec-Fetch-Site`, or is not for localhost although
   * `cookies.secure` is false. Requests with any HTTP method are checked, because another site
   * must not be able to log a user in
   */
  set(request: AuthRequest, response: AuthResponse, pair: TokenPair): void {
    const { cookies } = this.enabled().authentication;
    cookies.assertSameSite(request);
    excludeCaches(response);
    cookies.set(response, pair);
  }

  /** Removes the cookies from the browser. Does not end the session. */
  clear(response: AuthResponse): void {
    this.enabled().authentication.cookies.clear(response);
  }

  /**
   * Refreshes with the access and refresh cookies of a request, sets the new cookies, and returns the
   * principal. Returns null if the refresh cookie is missing or refused. In that case, also clears the
   * cookies that the request has, unless a refresh cookie contains the id of an active session, for
   * example because another request has replaced the cookies. Also returns null if the session ends
   * during the call. For a request with these cookies, sets `Cache-Control: private`, unless the
   * response already has `no-store`.
   * @throws AuthError `credentials_ambiguous` if the refresh cookie, or with it the access cookie, was
   * sent more than once; `cross_site_request` as in `set`. GET, HEAD and OPTIONS requests without an
   * `Upgrade` header are not checked, because other sites link to pages
   */
  async refresh(request: AuthRequest, response: AuthResponse): Promise<AuthPrincipal | null> {
    const { authentication, refreshing } = this.enabled();
    const { cookies } = authentication;
    if (!authentication.hasTokens(request)) return null;
    cookies.assertSameSiteIfUnsafe(request);
    cookies.markAuthenticated(request);
    authentication.keepPrivate(request, response);
    const client = clientInfoOf(request);
    try {
      const pair = await refreshing.refresh(request, response, client);
      return await this.sessions.authenticateIssued(pair, client);
    } catch (error) {
      if (error instanceof AuthError && error.code === 'invalid_refresh_token') return null;
      throw error;
    }
  }

  private enabled(): CookieParts {
    if (this.mode) return this.mode;
    throw new Error(
      "AuthCookies requires cookie mode, which is off. Set cookies: { mode: 'optional' } in the options of AuthModule.",
    );
  }
}
