import type { ClientInfo } from '../../domain/client';
import type { OpenedSession, TokenPair } from '../../domain/tokens';
import type { AuthRequest, AuthResponse } from '../platform/request';
import type { CookieRefresh } from './cookie-refresh';
import type { CookieTransport } from './cookie-transport';

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
