import { type ExecutionContext, Inject, Injectable, Logger, Optional } from '@nestjs/common';
import { type PresentedToken, TokenSource, type TransportCall } from '../adapters/token-source';
import type { AuthService } from '../auth.service';
import { Clock, OncePerMinute } from '../base/clock';
import { AuthError, credentialsMissing, invalidAccessToken } from '../base/errors';
import { toFailureReport } from '../base/failures';
import type { SessionInfo } from '../history/signals';
import { type AuthPrincipal, requestUserOf } from '../sessions/authenticate';
import { CookieRules, occursInCookies } from './cookies/cookie-rules';
import {
  type AuthRequest,
  type AuthResponse,
  bearerToken,
  clientInfoOf,
  hasBearerHeader,
  LazyClientInfo,
} from './request';
import { isOptionalRoute } from './route-rules';

/** The HTTP request that opened a WebSocket. */
export type Handshake = Pick<AuthRequest, 'headers' | 'rawHeaders' | 'ip'>;

interface SocketIoClient {
  readonly request?: Handshake;
  readonly handshake?: { readonly auth?: { readonly token?: unknown } };
}

const HANDSHAKES = new WeakMap<object, Handshake>();

/** Stores the handshake of a `ws` client, because `ws` does not. Call it in `handleConnection(client, request)`. */
export function rememberHandshake(client: object, request: Handshake): void {
  HANDSHAKES.set(client, request);
}

function handshakeOf(client: object): Handshake {
  return HANDSHAKES.get(client) ?? (client as SocketIoClient).request ?? { headers: {} };
}

/** The cookie rules by HTTP server, for `socketAccessToken`, which cannot inject them. */
const COOKIES_BY_SERVER = new WeakMap<object, CookieRules>();

/** Lets `socketAccessToken` read the cookies of handshakes with this server. */
export function readCookiesOfHandshakes(server: object, cookies: CookieRules): void {
  COOKIES_BY_SERVER.set(server, cookies);
}

/**
 * Returns the access token with which a socket was opened, and the client. Reads the `Authorization` header of the
 * handshake, with socket.io also `auth.token`, and in cookie mode also the cookie of a handshake with the application's
 * HTTP server.
 * @throws AuthError `credentials_missing`; `credentials_ambiguous` if the header or cookie was sent twice, or if both
 *   the header and `auth.token` were sent; `cross_site_request`
 */
export function socketAccessToken(client: object): PresentedToken {
  const handshake = handshakeOf(client);
  const { server = {} } = (handshake as { readonly socket?: { readonly server?: object } }).socket ?? {};
  const found = tokenOfSocket(client, COOKIES_BY_SERVER.get(server) ?? null);
  if (!found) throw credentialsMissing();
  return { accessToken: found.accessToken, client: clientInfoOf(handshake) };
}

/** The access token of a call, and whether it was in a cookie, or was found by the application's `TokenSource`. */
export interface FoundToken extends Required<PresentedToken> {
  readonly isCookie: boolean;
  readonly isFromSource: boolean;
}

/** Finds the access token of a call over any transport. */
@Injectable()
export class AccessTokens {
  private readonly logger = new Logger('AuthTokens');
  private readonly logLimit: OncePerMinute;

  constructor(
    private readonly cookies: CookieRules,
    @Optional() @Inject(TokenSource) private readonly source: TokenSource | null,
    clock: Clock,
  ) {
    this.logLimit = new OncePerMinute(clock);
  }

  /**
   * Returns the token that the `TokenSource` finds, or the one in the usual places of the transport, or null.
   * @param readsCookies whether the library's own cookies are among the usual places of an HTTP request
   * @throws AuthError `access_token_invalid` if the `TokenSource` throws; `credentials_ambiguous`, `cross_site_request`
   */
  async find(call: TransportCall, readsCookies: boolean): Promise<FoundToken | null> {
    const found = this.source && (await this.fromSource(this.source, call));
    if (found) return found;
    if (call.getType() === 'ws') return tokenOfSocket(call.getArgByIndex(0), this.cookies);
    const request = requestOf(call);
    return request ? tokenOfRequest(request, readsCookies ? this.cookies : null, false) : null;
  }

  private async fromSource(source: TokenSource, call: TransportCall): Promise<FoundToken | null> {
    const found = await this.ask(source, call);
    if (!found) return null;
    const isSocket = call.getType() === 'ws';
    const request = isSocket ? handshakeOf(call.getArgByIndex(0)) : requestOf(call);
    const isCookie = request !== undefined && occursInCookies(request, found.accessToken);
    if (isCookie) this.cookies.acceptCookie(request, isSocket);
    const client = found.client ?? (request ? new LazyClientInfo(request) : {});
    return { accessToken: found.accessToken, client, isCookie, isFromSource: true };
  }

  private async ask(source: TokenSource, call: TransportCall): Promise<PresentedToken | null> {
    try {
      return await source.find(call);
    } catch (error) {
      if (!(error instanceof AuthError)) {
        this.logLimit.run(() => {
          const { summary, stack } = toFailureReport(error);
          const effect = 'so the call is refused with 401. This error is logged at most once a minute.';
          this.logger.error(`The token source failed, ${effect} ${summary}`, stack);
        });
      }
      throw invalidAccessToken();
    }
  }
}

function tokenOfRequest(request: Handshake, cookies: CookieRules | null, isHandshake: boolean): FoundToken | null {
  const isCookie = Boolean(cookies?.mode) && !hasBearerHeader(request);
  const accessToken = isCookie ? cookies!.accessToken(request, isHandshake) : bearerToken(request);
  if (accessToken === null) return null;
  return { accessToken, client: new LazyClientInfo(request), isCookie, isFromSource: false };
}

function tokenOfSocket(client: object, cookies: CookieRules | null): FoundToken | null {
  const request = handshakeOf(client);
  const { token } = (client as SocketIoClient).handshake?.auth ?? {};
  if (typeof token !== 'string' || token === '') return tokenOfRequest(request, cookies, true);
  if (cookies?.mode ? hasBearerHeader(request) : request.headers['authorization'] !== undefined) {
    const problem = 'A token was sent both in the `Authorization` header and in `auth.token`. Send only one.';
    throw new AuthError('credentials_ambiguous', problem);
  }
  return { accessToken: token, client: new LazyClientInfo(request), isCookie: false, isFromSource: false };
}

/** The properties of the GraphQL context that may contain the request or response. `graphql-ws` uses `extra`. */
interface GraphQLContext {
  readonly req?: AuthRequest & { readonly res?: AuthResponse };
  readonly res?: AuthResponse;
  readonly request?: AuthRequest;
  readonly reply?: AuthResponse & { readonly request?: AuthRequest };
  readonly extra?: { readonly request?: AuthRequest };
}

function graphqlContext(call: TransportCall): GraphQLContext {
  return (call.getType<string>() === 'graphql' && call.getArgByIndex<GraphQLContext | undefined>(2)) || {};
}

/** Returns the HTTP request of a call over HTTP or GraphQL. Returns undefined if there is none. */
export function requestOf(call: TransportCall): AuthRequest | undefined {
  if (call.getType() === 'http') return call.getArgByIndex<AuthRequest>(0);
  const { req, request, reply, extra } = graphqlContext(call);
  const candidates = [req, request, reply?.request, extra?.request];
  return candidates.find((one) => typeof one?.headers === 'object' && one.headers !== null);
}

/** Returns the HTTP response of a call over HTTP or GraphQL. Returns undefined if there is none. */
export function responseOf(call: TransportCall): AuthResponse | undefined {
  if (call.getType() === 'http') return call.getArgByIndex<AuthResponse>(1);
  const { res, reply, req } = graphqlContext(call);
  return [res, reply, req?.res].find((one) => typeof one?.getHeader === 'function' && 'header' in one);
}

/** The authenticated caller. Loads the user and the session on demand, each at most once. */
export class Caller {
  private user: Promise<unknown> | undefined;
  private session: Promise<SessionInfo> | undefined;

  constructor(
    readonly principal: AuthPrincipal,
    private readonly auth: Pick<AuthService, 'loadUser' | 'currentSession'>,
  ) {}

  loadUser(): Promise<unknown> {
    return (this.user ??= this.auth.loadUser(this.principal));
  }

  loadSession(): Promise<SessionInfo> {
    return (this.session ??= this.auth.currentSession(this.principal));
  }
}

/** The caller, or what a replacement of `BearerAuthGuard` has set on the request. */
export type CurrentCaller = Pick<Caller, 'principal' | 'loadUser' | 'loadSession'>;

/** The key of the caller of an HTTP request. A property is faster than an entry in a `WeakMap`. */
const CALLER = Symbol('nestjs-session-auth:caller');

interface AuthenticatedRequest extends AuthRequest {
  [CALLER]?: { readonly request: object; readonly caller: Caller };
}

/** Stores the caller of an HTTP request for the handler and for further guards. */
export function storeHttpCaller(request: AuthenticatedRequest, caller: Caller): void {
  request[CALLER] = { request, caller };
  request.auth = caller.principal;
}

/**
 * Returns the caller that the library has authenticated for this request. Returns undefined for a copy of the request,
 * and if other code has set `request.auth`.
 */
export function verifiedCaller(request: AuthenticatedRequest): Caller | undefined {
  const stored = request[CALLER];
  return stored?.request === request && stored.caller.principal === request.auth ? stored.caller : undefined;
}

/** The callers by the keys that `keysOf` returns. Null if the caller is not authenticated. */
const CALLERS = new WeakMap<object, WeakMap<object, Caller | null>>();

/** The verified callers by context. All guards of a call share its context, and no other call has this context. */
const VERIFIED = new WeakMap<ExecutionContext, Caller>();

/** Returns the principal that an earlier guard has verified for the same call. Sets `request.user` over HTTP. */
export function verifiedPrincipal(context: ExecutionContext): AuthPrincipal | undefined {
  if (context.getType() !== 'http') return VERIFIED.get(context)?.principal;
  const request = requestOf(context)!;
  const principal = verifiedCaller(request)?.principal;
  if (principal) storeRequestUser(request, principal);
  return principal;
}

/**
 * Stores the caller of a call for the handler and for further guards. Null records that the call is not authenticated.
 * @param isFromSource whether a `TokenSource` found the token, which may be in the message
 */
export function storeCaller(context: ExecutionContext, caller: Caller | null, isFromSource: boolean): void {
  const request = requestOf(context);
  const isHttp = context.getType() === 'http';
  if (!isHttp) storeMessageCaller(context, caller, isFromSource);
  else if (caller) storeHttpCaller(request!, caller);
  else request!.auth = null;
  // A token from the token source may differ between the operations of one request.
  if (caller && request && (isHttp || !isFromSource)) storeRequestUser(request, caller.principal);
}

function storeMessageCaller(context: ExecutionContext, caller: Caller | null, isFromSource: boolean): void {
  const [call, slot] = keysOf(context);
  if (caller && isFromSource && context.getType() === 'ws' && call === context.getArgByIndex(0)) {
    throw new Error('If a tokenSource finds the token of a message, the message must be an object. Send an object.');
  }
  const callers = CALLERS.get(call) ?? new WeakMap<object, Caller | null>();
  CALLERS.set(call, callers);
  // Another query of the same GraphQL operation may already have stored a caller.
  if (caller || slot !== CALLERS || !callers.get(slot)) callers.set(slot, caller);
  if (caller) VERIFIED.set(context, caller);
}

/**
 * Returns the caller, or null if an optional route or an optional GraphQL query admitted the call without
 * authentication. Over HTTP, the principal is `request.auth`, which the application's guard may have set.
 * @throws Error that names the decorator, if there is no caller and neither the route nor the query is optional
 */
export function callerOf(context: ExecutionContext, decorator: string): CurrentCaller | null {
  if (context.getType() === 'http') {
    const request = context.switchToHttp().getRequest<AuthRequest>();
    if (!request.auth) return anonymousCaller(context, decorator);
    return verifiedCaller(request) ?? callerOfOtherGuard(request, request.auth, decorator);
  }
  const [call, slot] = keysOf(context);
  const caller = CALLERS.get(call)?.get(slot);
  // The fields of an optional GraphQL query do not have `@OptionalAuth()` themselves.
  return caller === undefined ? anonymousCaller(context, decorator) : caller;
}

function anonymousCaller(context: ExecutionContext, decorator: string): null {
  if (isOptionalRoute(context)) return null;
  const isHttp = context.getType() === 'http';
  throw new Error(
    `${decorator} found no authenticated user in ${context.getClass().name}.${context.getHandler().name}: no guard ` +
      `authenticated the call${isHttp ? ', or a replacement of BearerAuthGuard did not set `request.auth`' : ''}. ` +
      'Add @UseGuards(BearerAuthGuard) to the handler or its class. If the route admits calls without a token, use ' +
      '@OptionalAuth() instead of @Public(). The value is null for such calls.',
  );
}

function callerOfOtherGuard(request: AuthRequest, principal: AuthPrincipal, decorator: string): CurrentCaller {
  const missing = (name: string) => () => {
    throw new Error(
      `\`${decorator}\` requires \`request.${name}\`. Set it in your guard, together with \`request.auth\`.`,
    );
  };
  const { loadUser = missing('loadUser'), loadSession = missing('loadSession') } = request;
  return { principal, loadUser, loadSession };
}

/**
 * Returns the keys under which the caller of a call is stored. A GraphQL operation has one caller, which its unguarded
 * fields can also read. Over other transports, each handler has its own caller, of the message to a gateway, or of the
 * socket if the message is no object, or of the context of a microservice.
 */
function keysOf(context: ExecutionContext): readonly [call: object, slot: object] {
  const args = context.getArgs<unknown[]>();
  if (context.getType<string>() === 'graphql') return [firstObject([args[2]]), CALLERS];
  const [first, second, ...others] = args;
  const inOrder = ['ws', 'rpc'].includes(context.getType()) ? [second, first] : [first, second, ...others];
  return [firstObject(inOrder), context.getHandler()];
}

function firstObject(values: readonly unknown[]): object {
  const found = values.find((value) => typeof value === 'object' && value !== null);
  if (found) return found;
  throw new Error(
    'The caller cannot be stored, because no argument of the handler is an object. Send an object as the message.',
  );
}

/** The users that the library has stored in `request.user`. Any other user belongs to the application. */
const STORED = new WeakSet<object>();

/** Sets `request.user`, for the application's guards, unless other code has set it or the principal has no user. */
function storeRequestUser(request: object, principal: AuthPrincipal): void {
  const user = requestUserOf(principal);
  if (user === null || isSetElsewhere(request)) return;
  STORED.add(user);
  // Has no effect if the application defines an accessor without a setter.
  Reflect.set(request, 'user', user);
}

/** Removes `request.user` if the library has set it for an earlier operation on the same socket. */
export function removeRequestUser(request: object): void {
  if (!isSetElsewhere(request)) Reflect.set(request, 'user', undefined);
}

function isSetElsewhere(request: object): boolean {
  const { user } = request as { readonly user?: unknown };
  return user !== undefined && user !== null && !(typeof user === 'object' && STORED.has(user));
}
