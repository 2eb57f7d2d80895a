import { Injectable } from '@nestjs/common';
import { AuthService } from '../../auth.service';
import { AuthError } from '../../base/errors';
import { ClientInspector } from '../../history/event-log';
import { Authenticate, type AuthPrincipal } from '../../sessions/authenticate';
import type { TokenPair } from '../../tokens/tokens';
import { type AuthRequest, type AuthResponse, hasTokenOutsideCookies, operationOf } from '../request';
import { Caller, storeHttpCaller } from '../callers';
import { CookieRules, excludeSharedCaches } from './cookie-rules';
import { CrossSiteCheck } from './cross-site-check';

/**
 * Sets, clears and refreshes the cookies of a session in your own routes, for sessions that your application opens
 * itself and for server-rendered pages. Without the option `cookies`, every method throws an `Error`.
 */
@Injectable()
export class AuthCookies {
  /** @internal */
  constructor(
    private readonly check: CrossSiteCheck,
    private readonly rules: CookieRules,
    private readonly auth: AuthService,
    private readonly clients: ClientInspector,
    private readonly authentication: Authenticate,
  ) {}

  /**
   * Checks from which site a request comes, whatever its method. Call this method before your own login, so that other
   * sites can neither log a visitor in nor count failed logins against the visitor.
   * @throws AuthError `cross_site_request` if another origin is not in `trustedOrigins`, if `Origin` and `Sec-Fetch-Site`
   * are missing, or if the request is not for localhost although `cookies.secure` is false
   */
  assertSameSite(request: AuthRequest): void {
    this.assertOn();
    this.check.assert(request);
  }

  /**
   * Sets the cookies of a token pair, and `Cache-Control: no-store`. Each cookie expires with its token, or with the
   * browser if `persistent` of the pair is false.
   * @throws AuthError `cross_site_request` as in `assertSameSite`
   */
  set(request: AuthRequest, response: AuthResponse, pair: TokenPair): void {
    this.assertSameSite(request);
    if (typeof pair.refreshToken !== 'string')
      throw new Error(
        'AuthCookies.set() received no token pair. The token of an impersonation works only as a bearer token.',
      );
    response.header('Cache-Control', 'no-store');
    this.rules.set(response, pair);
  }

  /** Removes the cookies from the browser. Does not end the session. */
  clear(response: AuthResponse): void {
    this.assertOn();
    this.rules.clear(response);
  }

  /**
   * Refreshes with the cookies of a request, sets the new cookies, and returns the principal, with which
   * `BearerAuthGuard` then admits the request. Returns null if the refresh cookie is missing or refused, and clears the
   * cookies then, unless one names an active session, because another request has replaced it. Returns null for a request
   * with a bearer token, too, or for which the guard has found a token by a `TokenSource`, and leaves its cookies unchanged.
   * @throws AuthError `credentials_ambiguous`; `cross_site_request`, except for GET, HEAD and OPTIONS
   */
  async refresh(request: AuthRequest, response: AuthResponse): Promise<AuthPrincipal | null> {
    this.assertOn();
    const { access, refresh } = this.rules.allTokens(request);
    // A bearer token takes precedence, even if it is not valid: the cookies can be those of another user.
    if (access.length + refresh.length === 0 || hasTokenOutsideCookies(request)) return null;
    this.rules.acceptCookie(request, false);
    excludeSharedCaches(response);
    const { client } = operationOf(request, this.clients);
    try {
      const pair = await this.rules.refresh(request, response, client);
      // Not the first use of the token, because the response with the cookies can still be lost.
      const principal = await this.authentication.authenticate(pair.accessToken, client.info, client.realm, false);
      if (!principal) return null;
      // The guard may have refused the request before.
      response.removeHeader('WWW-Authenticate');
      storeHttpCaller(request, new Caller(principal, this.auth));
      return principal;
    } catch (error) {
      if (error instanceof AuthError && error.code === 'invalid_refresh_token') return null;
      throw error;
    }
  }

  private assertOn(): void {
    if (!this.rules.mode) throw new Error("AuthCookies requires cookie mode. Set cookies: { mode: 'optional' }.");
  }
}
