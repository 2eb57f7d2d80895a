import { type ExecutionContext, Inject, Injectable, Optional } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { TokenSource } from '../adapters/token-source';
import { AuthService } from '../auth.service';
import { AuthError, credentialsMissing, invalidAccessToken, isTokenRefused } from '../base/errors';
import { type AuthPrincipal, requestUserOf } from '../sessions/authenticate';
import { CookieAuthentication, requestToken } from './cookies/cookie-mode';
import { exceptionFor } from './filters';
import { type AuthRequest, type AuthResponse, hasBearerHeader, LazyClientInfo } from './request';
import {
  ACCEPTS_REFRESH_COOKIE,
  AccessTokenGuard,
  isFollowedBySubclassGuard,
  isOptionalRoute,
  isPublicRoute,
  RECENT_LOGIN,
  RECENT_METHODS,
} from './route-rules';
import {
  type Caller,
  isTokenInCookie,
  presentedToken,
  removeRequestUser,
  requestOfOperation,
  storeAnonymous,
  storeCaller,
  storeHttpCaller,
  storeRequestUser,
  verifiedPrincipal,
  verifiedPrincipalOfCall,
} from './transports';

/** The rules that the decorators of a handler and of its class set. */
interface RouteRules {
  readonly isPublic: boolean;
  readonly isOptional: boolean;
  readonly recentLoginSeconds: number | undefined;
  readonly recentMethods: readonly string[];
  /** Whether a guard that extends `BearerAuthGuard` follows, which may read the token from another source. */
  readonly isFollowed: boolean;
  readonly acceptsRefreshCookie: boolean;
}

/**
 * The calls that this guard has left to the next guard. Each call is left only once: if the guard
 * is also a global guard, the guard on the route refuses the call.
 */
const DELEGATED_CALLS = new WeakSet<ExecutionContext>();

/**
 * Admits calls with a valid access token of an active user: HTTP requests, GraphQL resolvers, and messages to
 * gateways and microservices. Each call with a well-formed token reads the database. On an HTTP request, the guard
 * sets the principal as `request.auth`. On an HTTP request, and on the request of a GraphQL operation, it sets the
 * user as `request.user`, unless other code has set `request.user` or a `TokenSource` has found the token.
 *
 * Handlers with `@Public()` are not checked. Handlers with `@OptionalAuth()` also admit calls without a token. With
 * the option `cookies`, the token may be in a cookie. In that case, WebSocket handshakes, and requests with methods
 * other than GET, HEAD and OPTIONS, must pass the cross-site check.
 */
@Injectable()
export class BearerAuthGuard extends AccessTokenGuard {
  /** The rules by handler and class, read only once because decorators do not change. */
  private readonly rules = new WeakMap<object, WeakMap<object, RouteRules>>();

  /**
   * Reads tokens from cookies, or null without the option `cookies`. Injected as a property, so that the constructors
   * of subclasses do not have to pass it.
   */
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

  /** Admits the call, or throws the `AuthError` of the refusal as an exception of the call's transport. */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    if (this.isPublic(context)) return true;
    try {
      if (context.getType() !== 'http') return await this.admitCall(context);
      const request = this.getRequest(context);
      // Another guard may already have verified the request.
      const principal = verifiedPrincipal(request) ?? (await this.principalOf(request, context));
      storeHttpCaller(request, this.callerFrom(context, principal));
      storeRequestUser(request, principal);
      return true;
    } catch (error) {
      const operation = isTokenRefused(error) ? requestOfOperation(context) : undefined;
      if (operation) removeRequestUser(operation);
      return (
        this.admitsAnonymous(context, error) || this.delegatesToNextGuard(context, error) || refuse(context, error)
      );
    }
  }

  /** Returns whether the route of the call is public. See `isPublicRoute`. */
  protected isPublic(context: ExecutionContext): boolean {
    return this.rulesOf(context).isPublic;
  }

  /** Returns `withinSeconds` of the `@RequireRecentLogin()` that applies to the route, or undefined if none applies. */
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

  /** Returns the principal of a request. @throws AuthError, such as `access_token_invalid` or a code of `getToken` */
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
    // A token from the token source may differ between the operations of one request.
    const request = found || !requestUserOf(principal) ? undefined : requestOfOperation(context);
    if (request) storeRequestUser(request, principal);
    return true;
  }

  /** Returns the caller if the last login is recent enough. @throws AuthError `recent_login_required` */
  private callerFrom(context: ExecutionContext, principal: AuthPrincipal): Caller {
    const withinSeconds = this.recentLoginSeconds(context);
    if (withinSeconds !== undefined) {
      this.auth.assertRecentLogin(principal, withinSeconds, this.rulesOf(context).recentMethods);
    }
    const loadUser = (): Promise<unknown> =>
      this.auth.loadUser(principal).catch((error: unknown) => refuse(context, error));
    return { principal, loadUser };
  }

  /** @throws AuthError `access_token_invalid`; `credentials_missing` for a cookie on a route with `@OptionalAuth()` */
  private refuseToken(context: ExecutionContext, isFromTokenSource: boolean): never {
    const mayBeCookie = this.cookieAuthentication !== null && !isFromTokenSource;
    const countsAsNone = mayBeCookie && this.rulesOf(context).isOptional && isTokenInCookie(context);
    throw countsAsNone ? credentialsMissing() : invalidAccessToken();
  }

  /**
   * Admits a call without a token if its route has `@OptionalAuth()`. An invalid cookie counts as no
   * token. Returns whether the call was admitted.
   */
  private admitsAnonymous(context: ExecutionContext, error: unknown): boolean {
    if (!(error instanceof AuthError) || !this.rulesOf(context).isOptional) return false;
    const request = context.getType() === 'http' ? this.getRequest(context) : null;
    const isFromCookie = request !== null && this.cookieAuthentication?.cookies.isAuthenticated(request) === true;
    const isInvalidCookie = isFromCookie && error.code === 'access_token_invalid';
    if (error.code !== 'credentials_missing' && !isInvalidCookie) return false;
    if (request) request.auth = null;
    else storeAnonymous(context);
    return true;
  }

  /** Leaves a call without a token to the application's guard that follows on the route, and then returns true. */
  private delegatesToNextGuard(context: ExecutionContext, error: unknown): boolean {
    const isMissing = error instanceof AuthError && error.code === 'credentials_missing';
    // A subclass of this guard refuses the call itself.
    if (!isMissing || this.constructor !== BearerAuthGuard || !this.rulesOf(context).isFollowed) return false;
    const isFirst = !DELEGATED_CALLS.has(context);
    DELEGATED_CALLS.add(context);
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
    // `@OptionalAuth()` on the handler overrides the requirements of its class.
    const recentLoginSeconds = isOptional ? undefined : read<number>(RECENT_LOGIN);
    const recentMethods = read<string[]>(RECENT_METHODS) ?? [];
    const isFollowed = isFollowedBySubclassGuard(BearerAuthGuard, context);
    const acceptsRefreshCookie = this.reflector.get<boolean | undefined>(ACCEPTS_REFRESH_COOKIE, handler) ?? false;
    const isPublic = isPublicRoute(context);
    const rules = { isPublic, isOptional, recentLoginSeconds, recentMethods, isFollowed, acceptsRefreshCookie };
    const rulesByClass = this.rules.get(handler) ?? new WeakMap<object, RouteRules>();
    this.rules.set(handler, rulesByClass.set(type, rules));
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
