import type { ClientInfo } from '../../domain/client';
import type { OpenedSession, TokenPair } from '../../domain/tokens';
import type { AuthRequest, AuthResponse } from '../platform/request';
import type { CookieRefresh } from './cookie-refresh';
import type { CookieTransport } from './cookie-transport';

/** Gives tokens to the client of an endpoint: in the body or, in cookie mode, in cookies and in no body. */
export class TokenDelivery {
  /** @param mode what cookie mode needs; null where it is off */
  constructor(
    private readonly mode: { readonly cookies: CookieTransport; readonly refreshing: CookieRefresh } | null,
  ) {}

  /** Whether the endpoint answers this request with cookies. */
  usesCookies(request: AuthRequest): boolean {
    return this.mode?.cookies.answersWithCookies(request) ?? false;
  }

  /**
   * Call it before anything is done for a request that leads to tokens.
   * @throws AuthError `cross_site_request` for one that is answered with cookies
   */
  assertAllowed(request: AuthRequest): void {
    if (this.usesCookies(request)) this.mode!.cookies.assertSameSite(request);
  }

  /** Returns the body for a pair, or sets the cookies and returns a body without tokens. */
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

  /** Refreshes by the cookies of the request. @throws AuthError as `CookieRefresh.refresh` */
  async refreshCookies(request: AuthRequest, response: AuthResponse, client: ClientInfo): Promise<Delivered> {
    await this.mode!.refreshing.refresh(request, response, client);
    return {};
  }

  /** Call it before a logout. @throws AuthError `cross_site_request` */
  assertMayClear(request: AuthRequest): void {
    // Under `only` a client without cookies, which needs no check, logs out by its bearer token.
    if (this.mode?.cookies.asksForCookies(request)) this.mode.cookies.assertSameSite(request);
  }

  /** Removes the cookies, if the client has any. */
  clear(request: AuthRequest, response: AuthResponse): void {
    this.mode?.cookies.clearIfAllowed(request, response);
  }
}

/** The body where the tokens are in cookies. */
export interface Delivered {
  readonly session_id?: string;
}
