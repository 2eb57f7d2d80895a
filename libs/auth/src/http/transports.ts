import type { ExecutionContext } from '@nestjs/common';
import type { PresentedToken, TransportCall } from '../adapters/token-source';
import { AuthError, credentialsMissing } from '../base/errors';
import { type AuthPrincipal, requestUserOf } from '../sessions/authenticate';
import { type CookieAuthentication, requestToken } from './cookies/cookie-mode';
import {
  type AuthRequest,
  type AuthResponse,
  bearerToken,
  clientInfoOf,
  hasBearerHeader,
  refuseMissing,
} from './request';
import { isOptionalRoute } from './route-rules';

/** The cookie authentication of each HTTP server, for functions that cannot inject it. */
const AUTHENTICATION_BY_SERVER = new WeakMap<object, CookieAuthentication>();

/** Enables cookie authentication for WebSocket handshakes with this server. */
export function readCookiesOfHandshakes(server: object, authentication: CookieAuthentication): void {
  AUTHENTICATION_BY_SERVER.set(server, authentication);
}

/**
 * Returns the cookie authentication that is enabled for the server of a handshake, or null if there is none, for
 * example because cookie mode is off. Node.js stores the server in the handshake's socket.
 */
export function handshakeCookies(handshake: object): CookieAuthentication | null {
  const { server } = (handshake as { readonly socket?: { readonly server?: object } }).socket ?? {};
  return (server && AUTHENTICATION_BY_SERVER.get(server)) ?? null;
}

/** The authenticated user of a call. */
export interface Caller {
  readonly principal: AuthPrincipal;
  /** Loads the application's user object. */
  readonly loadUser: () => Promise<unknown>;
}

/** Lets a subclass add its private fields to an existing object. */
class PrivateFieldStamp {
  constructor(object: object) {
    return object;
  }
}

/** The request for which the guard verified a principal, and the function that loads the user. */
interface Verification {
  readonly request: object;
  readonly loadUser: () => Promise<unknown>;
}

/**
 * Marks a principal that the guard has verified, and stores the request of the principal. The mark is a
 * private field, which other code cannot set. A private field is faster than another property of the
 * request or an entry in a `WeakMap`.
 */
class VerifiedPrincipal extends PrivateFieldStamp {
  #verification: Verification;

  private constructor(principal: AuthPrincipal, verification: Verification) {
    super(principal);
    this.#verification = verification;
  }

  static mark(principal: AuthPrincipal, verification: Verification): void {
    if (#verification in principal) principal.#verification = verification;
    else new VerifiedPrincipal(principal, verification);
  }

  static verificationOf(principal: unknown): Verification | undefined {
    if (typeof principal !== 'object' || principal === null || !(#verification in principal)) return undefined;
    return principal.#verification;
  }
}

/**
 * Returns `request.auth` if the guard has verified this principal for this request. Other code may also
 * set `request.auth`.
 */
export function verifiedPrincipal(request: AuthRequest): AuthPrincipal | undefined {
  const { auth } = request;
  return auth && VerifiedPrincipal.verificationOf(auth)?.request === request ? auth : undefined;
}

/** Stores the caller of an HTTP request for the handler and for further guards. */
export function storeHttpCaller(request: AuthRequest, { principal, loadUser }: Caller): void {
  VerifiedPrincipal.mark(principal, { request, loadUser });
  request.auth = principal;
}

/** The callers, by the call and the slot that `keysOf` returns. Null if the caller is not authenticated. */
const CALLERS = new WeakMap<object, WeakMap<object, Caller | null>>();

/** The verified principals by context. All guards of a call share its context, and no other call has this context. */
const VERIFIED = new WeakMap<ExecutionContext, AuthPrincipal>();

/** Returns the principal that an earlier guard has verified for the same call, for transports other than HTTP. */
export function verifiedPrincipalOfCall(context: ExecutionContext): AuthPrincipal | undefined {
  return VERIFIED.get(context);
}

/**
 * Stores the caller of a call over a transport other than HTTP.
 * @param isFromMessage whether a `TokenSource` found the token, which may be in the message
 */
export function storeCaller(context: ExecutionContext, caller: Caller, isFromMessage: boolean): void {
  const [call, slot] = keysOf(context);
  if (isFromMessage && context.getType() === 'ws' && call === context.getArgByIndex(0)) {
    throw new Error('If a tokenSource finds the token of a message, the message must be an object. Send an object.');
  }
  callersOf(call).set(slot, caller);
  VERIFIED.set(context, caller.principal);
}

/** Records that the caller of an optional route is not authenticated, for transports other than HTTP. */
export function storeAnonymous(context: ExecutionContext): void {
  const [call, slot] = keysOf(context);
  const callers = callersOf(call);
  // Another query of the same GraphQL operation may already have stored a caller.
  if (slot !== CALLERS || !callers.get(slot)) callers.set(slot, null);
}

function callersOf(call: object): WeakMap<object, Caller | null> {
  const callers = CALLERS.get(call) ?? new WeakMap<object, Caller | null>();
  CALLERS.set(call, callers);
  return callers;
}

/**
 * Returns the caller, or null if an optional route or an optional GraphQL query admitted the call without
 * authentication. Over HTTP, the principal is `request.auth`, which the application's guard may have set.
 * @param decorator the name of the decorator, for error messages
 * @throws Error if there is no caller, and neither the route nor the GraphQL query is optional
 */
export function callerOf(context: ExecutionContext, decorator: string): Caller | null {
  if (context.getType() === 'http') {
    const request = context.switchToHttp().getRequest<AuthRequest>();
    const { auth: principal } = request;
    if (!principal) return anonymousCaller(context, decorator);
    // The loader of a verified principal takes precedence, because `request.loadUser` may load another user.
    const loadUser = VerifiedPrincipal.verificationOf(principal)?.loadUser ?? request.loadUser;
    return { principal, loadUser: loadUser ?? noLoader };
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

function noLoader(): never {
  throw new Error(
    '`@CurrentUser()` cannot load the user, because `request.auth` was set without `request.loadUser`. Set both in ' +
      'your guard.',
  );
}

/**
 * Returns the keys under which the caller of a call is stored. A GraphQL operation has one caller, which its unguarded
 * fields can also read. Over other transports, each handler has its own caller. A call to a gateway
 * is identified by its message if the message is an object, and otherwise by its socket. A call to
 * a microservice is identified by its context.
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
  if (!found)
    throw new Error(
      'The caller cannot be stored, because no argument of the handler is an object. Send an object as the message.',
    );
  return found;
}

/**
 * The users that the library has stored in `request.user`. The library replaces only these users, because a user from
 * another source belongs to the application. Replacing is necessary because many GraphQL operations over a socket
 * share one request.
 */
const STORED = new WeakSet<object>();

/**
 * Sets `request.user`, unless other code has set it or the principal has no user. Guards of the
 * application, such as the `RolesGuard` in Nest's documentation, read this property.
 */
export function storeRequestUser(request: object, principal: AuthPrincipal): void {
  const user = requestUserOf(principal);
  if (user === null || isSetElsewhere(request)) return;
  STORED.add(user);
  // Has no effect if the application defines an accessor without a setter.
  Reflect.set(request, 'user', user);
}

/** Removes `request.user` if the library has set it, because a later operation on the same socket may have no user. */
export function removeRequestUser(request: object): void {
  if (!isSetElsewhere(request)) Reflect.set(request, 'user', undefined);
}

function isSetElsewhere(request: object): boolean {
  const { user } = request as { readonly user?: unknown };
  return user !== undefined && user !== null && !(typeof user === 'object' && STORED.has(user));
}

/** The HTTP request that opened a WebSocket. */
export type Handshake = Pick<AuthRequest, 'headers' | 'rawHeaders' | 'ip'>;

/** The parts of a socket.io client that this file reads. */
interface SocketIoClient {
  readonly request?: Handshake;
  readonly handshake?: { readonly auth?: { readonly token?: unknown } };
}

const HANDSHAKES = new WeakMap<object, Handshake>();

/**
 * Stores the handshake of a `ws` client, because `ws` itself does not. Call this function in the gateway:
 * `handleConnection(client, request) { rememberHandshake(client, request); }`. Not needed with socket.io.
 */
export function rememberHandshake(client: object, request: Handshake): void {
  HANDSHAKES.set(client, request);
}

/**
 * Returns the access token with which a socket was opened, and the client. Reads the `Authorization` header of the
 * handshake, with socket.io also `auth.token`, and in cookie mode also the cookie of a handshake with the
 * application's HTTP server. Never reads the query string.
 * @throws AuthError `credentials_missing`; `credentials_ambiguous` if the header or cookie was sent
 * twice, or if both the header and `auth.token` were sent; `cross_site_request`
 */
export function socketAccessToken(client: object): PresentedToken {
  return socketToken(client, handshakeCookies(handshakeOf(client)));
}

function socketToken(client: object, cookies: CookieAuthentication | null): PresentedToken {
  const request = handshakeOf(client);
  const info = clientInfoOf(request);
  const token = authTokenOf(client);
  if (token === null) return { accessToken: handshakeToken(request, cookies), client: info };
  if (cookies ? hasBearerHeader(request) : request.headers['authorization'] !== undefined) {
    throw new AuthError(
      'credentials_ambiguous',
      'A token was sent both in the `Authorization` header and in `auth.token`. Send only one.',
    );
  }
  return { accessToken: token, client: info };
}

function handshakeOf(client: object): Handshake {
  return HANDSHAKES.get(client) ?? (client as SocketIoClient).request ?? { headers: {} };
}

function handshakeToken(request: Handshake, cookies: CookieAuthentication | null): string {
  if (!cookies || hasBearerHeader(request)) return bearerToken(request);
  return cookies.tokenOfHandshake(request) ?? refuseMissing();
}

/** The properties of the GraphQL context that may contain the request or response. `graphql-ws` uses `extra`. */
interface GraphQLContext {
  readonly req?: AuthRequest & { readonly res?: AuthResponse };
  readonly res?: AuthResponse;
  readonly request?: AuthRequest;
  readonly reply?: AuthResponse & { readonly request?: AuthRequest };
  readonly extra?: { readonly request?: AuthRequest };
}

/**
 * Returns the token of a call over a transport other than HTTP. The token belongs to the socket, or to the
 * request in the GraphQL context.
 * @throws AuthError `credentials_ambiguous`, `cross_site_request`; `credentials_missing` if there
 * is no token, or if the transport is neither a WebSocket nor GraphQL
 */
export function presentedToken(call: TransportCall, cookies: CookieAuthentication | null): PresentedToken {
  const type = call.getType<string>();
  if (type === 'ws') return socketToken(call.getArgByIndex<object>(0), cookies);
  const context = type === 'graphql' ? call.getArgByIndex<GraphQLContext | undefined>(2) : undefined;
  const request = graphqlRequest(context);
  if (!request) throw credentialsMissing();
  const accessToken = requestToken(request, cookies);
  cookies?.keepPrivate(request, graphqlResponse(context));
  return { accessToken, client: clientInfoOf(request) };
}

/** Returns the token that a socket.io client sent as `auth.token`, or null. */
function authTokenOf(client: object): string | null {
  const token = (client as SocketIoClient).handshake?.auth?.token;
  return typeof token === 'string' && token !== '' ? token : null;
}

/** Returns whether `presentedToken` reads the token of a call from a cookie if cookie mode is on. */
export function isTokenInCookie(call: TransportCall): boolean {
  const type = call.getType<string>();
  if (type === 'ws') {
    const client = call.getArgByIndex<SocketIoClient>(0);
    return authTokenOf(client) === null && !hasBearerHeader(handshakeOf(client));
  }
  const request = requestOfOperation(call);
  return request !== undefined && !hasBearerHeader(request);
}

/**
 * Returns the HTTP request of a GraphQL operation, or undefined for other transports or if the context
 * contains no request.
 */
export function requestOfOperation(call: TransportCall): AuthRequest | undefined {
  return call.getType<string>() === 'graphql' ? graphqlRequest(call.getArgByIndex(2)) : undefined;
}

/**
 * Returns the response to the HTTP request of a GraphQL operation, or undefined if the context contains no
 * response.
 */
function graphqlResponse(context: GraphQLContext | undefined): AuthResponse | undefined {
  const candidates = [context?.res, context?.reply, context?.req?.res];
  return candidates.find((response) => typeof response?.getHeader === 'function' && 'header' in response);
}

function graphqlRequest(context: GraphQLContext | undefined): AuthRequest | undefined {
  const candidates = [context?.req, context?.request, context?.reply?.request, context?.extra?.request];
  return candidates.find((request) => typeof request?.headers === 'object' && request.headers !== null);
}
