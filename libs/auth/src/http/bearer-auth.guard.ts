import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { AuthService } from '../auth.service';
import { AuthError, credentialsMissing, invalidAccessToken, standardError } from '../base/errors';
import { ClientInspector } from '../history/event-log';
import { Authenticate, type AuthPrincipal } from '../sessions/authenticate';
import { AuthenticateApiKeys } from '../sessions/authenticate-api-keys';
import { AuthenticateFormerTokens } from '../sessions/former-tokens';
import { OpenSockets } from '../sessions/open-sockets';
import { isToken } from '../tokens/tokens';
import { Caller, forgetCaller, type Principal, storeCaller, storedCaller, verifiedPrincipal } from './callers';
import { CookieRules, excludeSharedCaches } from './cookies/cookie-rules';
import { closeWithSession } from './open-streams';
import { AccessGuard, type RouteRules, rulesOf } from './route-rules';
import { hasBearerHeader } from './request';
import { AccessTokens, type FoundToken, requestOf, responseOf } from './transports';
import { exceptionFor } from './wire-format';

/**
 * Admits calls with a valid access token of an active user, over HTTP, GraphQL, WebSockets and microservices. Also admits
 * tokens that `formerTokens` accepts, and API keys where `@AllowApiKey()` applies. Sets `request.auth` over HTTP, and
 * `request.user` over HTTP and GraphQL, unless other code has set it. Exceptions are GraphQL operations over a WebSocket,
 * and those whose token a `TokenSource` has found. A GraphQL subscription or a stream of server-sent events ends with its
 * session. To require more, add another guard. Do not extend this class.
 */
@Injectable()
@AccessGuard()
export class BearerAuthGuard implements CanActivate {
  /** The rules by handler and class. */
  private readonly rules = new WeakMap<object, WeakMap<object, RouteRules>>();

  /** @internal */
  constructor(
    private readonly auth: AuthService,
    private readonly authentication: Authenticate,
    private readonly formerTokens: AuthenticateFormerTokens,
    private readonly apiKeys: AuthenticateApiKeys,
    private readonly tokens: AccessTokens,
    private readonly cookies: CookieRules,
    private readonly sockets: OpenSockets,
    private readonly clients: ClientInspector,
  ) {}

  /** Admits the call, or throws the `AuthError` of the refusal, over WebSockets and microservices as their exception. */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const rules = this.rulesOf(context);
    if (rules.isPublic) return true;
    try {
      const principal = verifiedPrincipal(context, this.clients) ?? (await this.authenticate(context, rules));
      if (principal && !rules.requiredRoles.every((roles) => roles.some((role) => principal.roles.includes(role))))
        throw standardError('insufficient_role');
      for (const { withinSeconds, methods } of rules.recentLogins) {
        // An `ExternalPrincipal` has no recent login.
        if (principal) this.auth.assertRecentLogin(principal as AuthPrincipal, withinSeconds, methods);
      }
      if (principal && rules.opensStream) closeWithSession(this.sockets, context, principal);
      return true;
    } catch (error) {
      this.cleanUp(context, rules, error);
      throw exceptionFor(context, error);
    }
  }

  private async authenticate(context: ExecutionContext, rules: RouteRules): Promise<Principal | null> {
    // For a logout, each of several cookies is tried, and a refresh cookie counts too.
    const request = requestOf(context);
    const isCookieLogout = rules.acceptsRefreshCookie && this.cookies.mode !== false && !hasBearerHeader(request!);
    const token = await this.tokens.find(context, !isCookieLogout);
    const principal =
      !token && isCookieLogout
        ? await this.cookies.principalOfLogout(request!, this.clients.realmOf(context))
        : await this.principalOf(context, token, rules);
    if (token) protectFromCaches(context, token);
    const caller = principal && (storedCaller(context, principal) ?? new Caller(principal, this.auth));
    storeCaller(context, caller, token?.isFromSource ?? false, this.clients);
    return principal;
  }

  /** Returns null if the route is optional and the call counts as without a token. */
  private async principalOf(
    context: ExecutionContext,
    token: FoundToken | null,
    { isOptional, apiKeyScopes }: RouteRules,
  ): Promise<Principal | null> {
    const principal = token && (await this.byToken(context, token, apiKeyScopes));
    if (principal || (isOptional && (!token || token.isCookie))) return principal;
    throw token ? invalidAccessToken() : credentialsMissing();
  }

  /** A cookie is sent with every request to its site, so it must not contain a key. */
  private async byToken(
    context: ExecutionContext,
    { accessToken, client, isCookie }: FoundToken,
    apiKeyScopes: RouteRules['apiKeyScopes'],
  ): Promise<Principal | null> {
    // Not the realm that a `TokenSource` may return with the client.
    const realm = this.clients.realmOf(context);
    if (!isCookie && isToken('api_key', accessToken))
      return this.apiKeys.authenticate(accessToken, apiKeyScopes, client, realm);
    const principal = await this.authentication.authenticate(accessToken, client, realm);
    return principal ?? this.formerTokens.authenticate(accessToken, context, realm);
  }

  /** Removes the cookies of a refused logout, and the caller of a refused GraphQL execution. */
  private cleanUp(context: ExecutionContext, rules: RouteRules, error: unknown): void {
    if (!(error instanceof AuthError && error.getStatus() === 401)) return;
    if (rules.acceptsRefreshCookie) this.cookies.clearIfAllowed(requestOf(context)!, responseOf(context)!);
    if (context.getType() !== 'http') forgetCaller(context);
  }

  private rulesOf(context: ExecutionContext): RouteRules {
    const handler = context.getHandler();
    const type = context.getClass();
    const known = this.rules.get(handler)?.get(type);
    if (known) return known;
    const rules = rulesOf(context);
    this.rules.set(handler, (this.rules.get(handler) ?? new WeakMap()).set(type, rules));
    return rules;
  }
}

/** Shared caches recognize only `Authorization`, and store even such a response if middleware has allowed it. (RFC 9111) */
function protectFromCaches(context: ExecutionContext, { isCookie, isFromSource }: FoundToken): void {
  const response = responseOf(context);
  if (response && (isCookie || isFromSource || response.getHeader('cache-control'))) excludeSharedCaches(response);
}
