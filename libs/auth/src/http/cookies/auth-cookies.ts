import { AuthError } from '../../domain/errors';
import type { TokenPair } from '../../domain/tokens';
import type { AuthPrincipal } from '../../services/sessions/authentication';
import { clientInfoOf, type AuthRequest, type AuthResponse } from '../platform/request';
import type { CookieSessions } from '../../services/sessions/cookie-sessions';
import { excludeCaches } from './caching';
import type { CookieAuthentication } from './cookie-authentication';
import type { CookieRefresh } from './cookie-refresh';

/** What cookie mode consists of. */
interface CookieParts {
  readonly authentication: CookieAuthentication;
  readonly refreshing: CookieRefresh;
}

/**
 * The cookies of sessions that the application opens itself, and of server-rendered pages. Needs the
 * option `cookies`; without it every method throws an `Error` that says what to write. Requests and
 * responses are those of Express or Fastify.
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
  /** Provided by `AuthModule`. */
  constructor(
    private readonly sessions: Pick<CookieSessions, 'authenticateIssued'>,
    private readonly mode: CookieParts | null,
  ) {}

  /**
   * Sets the cookies of a pair: of `openSession`, `login`, `refresh`, `changePassword` or
   * `reauthenticate`. They last as long as its tokens. The response is `Cache-Control: no-store`.
   * @throws AuthError `cross_site_request`, whatever the method, so that no other site can log a user in
   */
  set(request: AuthRequest, response: AuthResponse, pair: TokenPair): void {
    const { cookies } = this.enabled().authentication;
    cookies.assertSameSite(request);
    excludeCaches(response);
    cookies.set(response, pair);
  }

  /** Removes the cookies from the browser. The session goes on until it ends otherwise. */
  clear(response: AuthResponse): void {
    this.enabled().authentication.cookies.clear(response);
  }

  /**
   * Refreshes by the cookies of a request, sets the new ones, and returns the principal; null where
   * there is no valid refresh cookie. Then the cookies are cleared, unless the session goes on: another
   * request has replaced them meanwhile. No shared cache stores the response: it is `Cache-Control: private` or `no-store`.
   * @throws AuthError `credentials_ambiguous` for two cookies of one name; `cross_site_request`, but not
   * for GET and HEAD, since pages are opened from other sites
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
      "AuthCookies needs cookie mode, which is off. Add to the options of AuthModule: cookies: { mode: 'optional' }",
    );
  }
}
