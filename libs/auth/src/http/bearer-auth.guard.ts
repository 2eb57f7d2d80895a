import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { AuthService } from '../auth.service';
import { credentialsMissing, invalidAccessToken, isTokenRefused } from '../base/errors';
import type { AuthPrincipal } from '../sessions/authenticate';
import { CookieRules } from './cookies/cookie-rules';
import { exceptionFor } from './error-responses';
import { LazyClientInfo } from './request';
import { AccessGuard, type RouteRules, rulesOf } from './route-rules';
import {
  AccessTokens,
  Caller,
  removeRequestUser,
  requestOf,
  responseOf,
  storeAnonymous,
  storeCaller,
  storeHttpCaller,
  storeRequestUser,
  verifiedCaller,
  verifiedCallerOfMessage,
} from './transports';

/** A principal, and whether the application's `TokenSource` found its token. */
interface Authenticated {
  readonly principal: AuthPrincipal;
  readonly isFromSource: boolean;
}

/**
 * Admits calls with a valid access token of an active user: HTTP requests, GraphQL resolvers, and messages to
 * gateways and microservices. Each call with a well-formed token reads the database. On an HTTP request, the guard
 * sets the principal as `request.auth`. On an HTTP request, and on the request of a GraphQL operation, it sets the
 * user as `request.user`, unless other code has set `request.user`. On GraphQL, it does not if a `TokenSource` has
 * found the token.
 *
 * Handlers with `@Public()` are not checked. Handlers with `@OptionalAuth()` also admit calls without a token. With
 * the option `cookies`, the token may be in a cookie. In that case, WebSocket handshakes, and requests with methods
 * other than GET, HEAD and OPTIONS, must pass the cross-site check. To read the token from elsewhere, set the option
 * `tokenSource`. To require more than a token, add another guard. Do not extend this class.
 */
@Injectable()
@AccessGuard()
export class BearerAuthGuard implements CanActivate {
  /** The rules by handler and class, read only once because decorators do not change. */
  private readonly rules = new WeakMap<object, WeakMap<object, RouteRules>>();

  /** @internal */
  constructor(
    private readonly auth: AuthService,
    private readonly tokens: AccessTokens,
    private readonly cookies: CookieRules,
  ) {}

  /** Admits the call, or throws the `AuthError` of the refusal, over WebSockets and microservices as their exception. */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const rules = this.rulesOf(context);
    if (rules.isPublic) return true;
    try {
      const caller = await this.identify(context, rules);
      if (caller) this.assertRecentLogins(caller.principal, rules);
      return true;
    } catch (error) {
      this.cleanUp(context, rules, error);
      throw exceptionFor(context, error);
    }
  }

  /** Returns the caller, after storing it for the handler. Returns null if an optional route admits the call. */
  private async identify(context: ExecutionContext, rules: RouteRules): Promise<Caller | null> {
    const isHttp = context.getType() === 'http';
    const request = requestOf(context);
    // Another guard may already have verified the call.
    const verified = isHttp ? verifiedCaller(request!) : verifiedCallerOfMessage(context);
    if (verified) {
      if (isHttp) storeRequestUser(request!, verified.principal);
      return verified;
    }
    const found = await this.authenticate(context, rules);
    if (request) this.cookies.keepPrivate(request, responseOf(context));
    if (!found) {
      if (isHttp) request!.auth = null;
      else storeAnonymous(context);
      return null;
    }
    const { principal, isFromSource } = found;
    const caller = new Caller(principal, this.auth);
    if (isHttp) storeHttpCaller(request!, caller);
    else storeCaller(context, caller, isFromSource);
    // A token from the token source may differ between the operations of one request.
    if (request && (isHttp || !isFromSource)) storeRequestUser(request, principal);
    return caller;
  }

  /** Returns the principal of the call's token, or null if the route is optional and the call counts as without one. */
  private async authenticate(context: ExecutionContext, rules: RouteRules): Promise<Authenticated | null> {
    // For a logout, each of several cookies is tried, and a refresh cookie counts too.
    const isCookieLogout = rules.acceptsRefreshCookie && this.cookies.isOn;
    const token = await this.tokens.find(context, !isCookieLogout);
    if (token) {
      const { isFromSource, isCookie } = token;
      const principal = await this.auth.authenticate(token.accessToken, token.client);
      if (principal) return { principal, isFromSource };
      if (rules.isOptional && isCookie) return null;
      throw invalidAccessToken();
    }
    if (isCookieLogout) {
      const request = requestOf(context)!;
      const principal = await this.cookies.principalOfLogout(request, new LazyClientInfo(request));
      return { principal, isFromSource: false };
    }
    if (rules.isOptional) return null;
    throw credentialsMissing();
  }

  private assertRecentLogins(principal: AuthPrincipal, { recentLogins }: RouteRules): void {
    for (const { withinSeconds, methods } of recentLogins) {
      this.auth.assertRecentLogin(principal, withinSeconds, methods);
    }
  }

  /** Removes what must not stay after a refusal: the cookies of a logout, and the user of an earlier operation. */
  private cleanUp(context: ExecutionContext, rules: RouteRules, error: unknown): void {
    const request = isTokenRefused(error) ? requestOf(context) : undefined;
    if (!request) return;
    if (rules.acceptsRefreshCookie) this.cookies.clear(request, responseOf(context)!);
    if (context.getType() !== 'http') removeRequestUser(request);
  }

  private rulesOf(context: ExecutionContext): RouteRules {
    const handler = context.getHandler();
    const type = context.getClass();
    const known = this.rules.get(handler)?.get(type);
    if (known) return known;
    const rules = rulesOf(context);
    const rulesByClass = this.rules.get(handler) ?? new WeakMap<object, RouteRules>();
    this.rules.set(handler, rulesByClass.set(type, rules));
    return rules;
  }
}
