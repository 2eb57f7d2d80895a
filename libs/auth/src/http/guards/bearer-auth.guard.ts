import { Inject, Injectable, Optional, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { AuthError, credentialsMissing, invalidAccessToken, isTokenRefused } from '../../domain/errors';
import { TokenSource } from '../../domain/ports/platform';
import { AuthService } from '../../services/auth.service';
import { requestUserOf, type AuthPrincipal } from '../../services/sessions/authentication';
import { CookieAuthentication } from '../cookies/cookie-authentication';
import { exceptionFor } from '../endpoints/transport-exceptions';
import { LazyClientInfo, type AuthRequest, type AuthResponse } from '../platform/request';
import {
  storeCaller,
  storeHttpCaller,
  storeNobody,
  verifiedPrincipal,
  verifiedPrincipalOfCall,
  type Caller,
} from './caller';
import {
  ACCEPTS_REFRESH_COOKIE,
  AccessTokenGuard,
  isFollowedByOwnGuard,
  isOptionalRoute,
  isPublicRoute,
  RECENT_LOGIN,
  RECENT_METHODS,
} from './route-access';
import { removeRequestUser, storeRequestUser } from './request-user';
import { hasBearerHeader, isTokenInCookie, presentedToken, requestOfOperation, requestToken } from './token-extraction';

/** What the decorators of a handler, or else of its class, say. */
interface RouteRules {
  readonly isPublic: boolean;
  readonly isOptional: boolean;
  readonly recentLoginSeconds: number | undefined;
  readonly recentMethods: readonly string[];
  /** Whether this guard leaves calls without a token to the next one, which may find it elsewhere. */
  readonly isFollowed: boolean;
  readonly acceptsRefreshCookie: boolean;
}

/** The calls that were left to the next guard. A global guard leaves them to the one on the route, which does not. */
const LEFT_TO_NEXT = new WeakSet<ExecutionContext>();

/**
 * Admits calls with a valid access token of an active user: HTTP requests, whose principal it sets
 * as `request.auth`, GraphQL resolvers, and messages to gateways and microservices. Each call is
 * checked against the database. Calls of handlers marked `@Public()` pass unchecked, and so do those
 * of handlers marked `@OptionalAuth()` that have no token. With the option `cookies` the token may be in
 * a cookie; then a request that can change something must not come from another site.
 */
@Injectable()
export class BearerAuthGuard extends AccessTokenGuard {
  /** By handler and class. Decorators do not change, so they are read once. */
  private readonly rules = new WeakMap<object, WeakMap<object, RouteRules>>();

  /** Reads cookies. A property, so that constructors of subclasses need not pass it on; null without the option. */
  @Optional()
  @Inject(CookieAuthentication)
  private readonly cookieAuthentication: CookieAuthentication | null = null;

  constructor(
    protected readonly auth: AuthService,
    protected readonly reflector: Reflector,
    /** The application's token source, from the option `tokenSource`. */
    @Optional() @Inject(TokenSource) protected readonly tokens: TokenSource | null = null,
  ) {
    super();
  }

  /** Admits the call, or throws what its transport reports to the client. */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    if (this.isPublic(context)) return true;
    try {
      if (context.getType() !== 'http') return await this.admitCall(context);
      const request = this.getRequest(context);
      // Another guard may have verified the request already.
      const principal = verifiedPrincipal(request) ?? (await this.principalOf(request, context));
      storeHttpCaller(request, this.callerFrom(context, principal));
      storeRequestUser(request, principal);
      return true;
    } catch (error) {
      const operation = isTokenRefused(error) ? requestOfOperation(context) : undefined;
      if (operation) removeRequestUser(operation);
      return this.admitsNobody(context, error) || this.leavesToNext(context, error) || refuse(context, error);
    }
  }

  /** Whether the handler, or else its class, is declared open: see `@Public()`. */
  protected isPublic(context: ExecutionContext): boolean {
    return this.rulesOf(context).isPublic;
  }

  /** The seconds given to `@RequireRecentLogin()` on the handler, or else on its class. */
  protected recentLoginSeconds(context: ExecutionContext): number | undefined {
    return this.rulesOf(context).recentLoginSeconds;
  }

  /** Returns the HTTP request of a context. */
  protected getRequest(context: ExecutionContext): AuthRequest {
    return context.switchToHttp().getRequest<AuthRequest>();
  }

  /**
   * Returns the token of a request.
   * @throws AuthError `credentials_missing`, `credentials_ambiguous`, `cross_site_request`
   */
  protected getToken(request: AuthRequest): string {
    return requestToken(request, this.cookieAuthentication);
  }

  /** Returns the principal of a request. @throws AuthError as `getToken`, `access_token_invalid` */
  protected async principalFor(request: AuthRequest): Promise<AuthPrincipal> {
    return requireFound(await this.auth.authenticate(this.getToken(request), new LazyClientInfo(request)));
  }

  private principalOf(request: AuthRequest, context: ExecutionContext): Promise<AuthPrincipal> {
    return this.cookieAuthentication
      ? this.principalWithCookies(this.cookieAuthentication, request, context)
      : this.principalFor(request);
  }

  private async principalWithCookies(
    cookies: CookieAuthentication,
    request: AuthRequest,
    context: ExecutionContext,
  ): Promise<AuthPrincipal> {
    const response = context.switchToHttp().getResponse<AuthResponse>();
    const isLogout = this.rulesOf(context).acceptsRefreshCookie;
    const principal = isLogout
      ? await this.principalOfLogout(cookies, request, response)
      : await this.principalFor(request);
    cookies.keepPrivate(request, response);
    return principal;
  }

  private async principalOfLogout(
    cookies: CookieAuthentication,
    request: AuthRequest,
    response: AuthResponse,
  ): Promise<AuthPrincipal> {
    if (!hasBearerHeader(request) && cookies.hasTokens(request)) {
      return cookies.principalOfLogout(request, response, new LazyClientInfo(request));
    }
    try {
      return await this.principalFor(request);
    } catch (error) {
      cookies.clearAfterRefusal(error, request, response);
      throw error;
    }
  }

  private async admitCall(context: ExecutionContext): Promise<true> {
    const verified = verifiedPrincipalOfCall(context);
    if (verified) {
      this.callerFrom(context, verified);
      return true;
    }
    const found = (await this.tokens?.find(context)) ?? null;
    const { accessToken, client } = found ?? presentedToken(context, this.cookieAuthentication);
    const principal = (await this.auth.authenticate(accessToken, client)) ?? this.refuseToken(context, found !== null);
    storeCaller(context, this.callerFrom(context, principal), found !== null);
    // A token of another place may differ between the operations of one request.
    const request = found || !requestUserOf(principal) ? undefined : requestOfOperation(context);
    if (request) storeRequestUser(request, principal);
    return true;
  }

  /** @throws AuthError `recent_login_required` */
  private callerFrom(context: ExecutionContext, principal: AuthPrincipal): Caller {
    const withinSeconds = this.recentLoginSeconds(context);
    if (withinSeconds !== undefined) {
      this.auth.assertRecentLogin(principal, withinSeconds, this.rulesOf(context).recentMethods);
    }
    const loadUser = (): Promise<unknown> =>
      this.auth.loadUser(principal).catch((error: unknown) => refuse(context, error));
    return { principal, loadUser };
  }

  /** @throws AuthError `access_token_invalid`; `credentials_missing` for a cookie, where none is needed */
  private refuseToken(context: ExecutionContext, isFromTokenSource: boolean): never {
    const mayBeCookie = this.cookieAuthentication !== null && !isFromTokenSource;
    const countsAsNone = mayBeCookie && this.rulesOf(context).isOptional && isTokenInCookie(context);
    throw countsAsNone ? credentialsMissing() : invalidAccessToken();
  }

  /** Whether a call without a token goes on, because its route needs none. An invalid cookie counts as none. */
  private admitsNobody(context: ExecutionContext, error: unknown): boolean {
    if (!(error instanceof AuthError) || !this.rulesOf(context).isOptional) return false;
    const request = context.getType() === 'http' ? this.getRequest(context) : null;
    const isOfCookie = request !== null && this.cookieAuthentication?.cookies.isAuthenticated(request) === true;
    const isInvalidCookie = isOfCookie && error.code === 'access_token_invalid';
    if (error.code !== 'credentials_missing' && !isInvalidCookie) return false;
    if (request) request.auth = null;
    else storeNobody(context);
    return true;
  }

  /** Whether a refusal for want of a token is left to a guard of the application that follows on the route. */
  private leavesToNext(context: ExecutionContext, error: unknown): boolean {
    const isMissing = error instanceof AuthError && error.code === 'credentials_missing';
    // What extends this guard decides itself.
    if (!isMissing || this.constructor !== BearerAuthGuard || !this.rulesOf(context).isFollowed) return false;
    const isFirst = !LEFT_TO_NEXT.has(context);
    LEFT_TO_NEXT.add(context);
    return isFirst;
  }

  private rulesOf(context: ExecutionContext): RouteRules {
    const handler = context.getHandler();
    const type = context.getClass();
    const known = this.rules.get(handler)?.get(type);
    if (known) return known;
    const isOptional = isOptionalRoute(context);
    const read = <T>(key: string): T | undefined =>
      this.reflector.getAllAndOverride<T | undefined>(key, [handler, type]);
    // `@OptionalAuth()` on the handler replaces what its class requires.
    const recentLoginSeconds = isOptional ? undefined : read<number>(RECENT_LOGIN);
    const recentMethods = read<string[]>(RECENT_METHODS) ?? [];
    const isFollowed = isFollowedByOwnGuard(BearerAuthGuard, context);
    const acceptsRefreshCookie = this.reflector.get<boolean | undefined>(ACCEPTS_REFRESH_COOKIE, handler) ?? false;
    const isPublic = isPublicRoute(context);
    const rules = { isPublic, isOptional, recentLoginSeconds, recentMethods, isFollowed, acceptsRefreshCookie };
    const ofHandler = this.rules.get(handler) ?? new WeakMap<object, RouteRules>();
    this.rules.set(handler, ofHandler.set(type, rules));
    return rules;
  }
}

function requireFound(principal: AuthPrincipal | null): AuthPrincipal {
  if (!principal) throw invalidAccessToken();
  return principal;
}

function refuse(context: ExecutionContext, error: unknown): never {
  throw error instanceof AuthError ? exceptionFor(context, error) : error;
}
