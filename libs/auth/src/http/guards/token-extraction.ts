import { AuthError, credentialsMissing } from '../../domain/errors';
import type { PresentedToken, TransportCall } from '../../domain/ports/platform';
import type { CookieAuthentication } from '../cookies/cookie-authentication';
import { handshakeCookies } from '../cookies/handshake-cookies';
import { clientInfoOf, hasRepeatedHeader, type AuthRequest, type AuthResponse } from '../platform/request';

const BEARER = /^bearer[ \t]+/i;
const BEARER_SCHEME = /^bearer(?:[ \t]|$)/i;

/**
 * Returns the token of the `Authorization: Bearer` header, in any case. (RFC 6750, section 2.1)
 * @throws AuthError `credentials_missing`; `credentials_ambiguous` for a repeated header
 */
export function bearerToken(request: Pick<AuthRequest, 'headers' | 'raw' | 'rawHeaders'>): string {
  if (hasRepeatedHeader(request, 'authorization')) {
    throw new AuthError('credentials_ambiguous', 'More than one Authorization header was sent.');
  }
  const header = request.headers['authorization'];
  if (typeof header !== 'string') throw credentialsMissing();
  const token = header.replace(BEARER, '');
  if (token === '' || token === header) throw credentialsMissing();
  return token;
}

/**
 * Whether the token of a request is in its `Authorization` header, or else in a cookie: other schemes
 * than `Bearer` are ignored in cookie mode. A repeated header is refused as it is without cookies.
 */
export function hasBearerHeader(request: Pick<AuthRequest, 'headers' | 'raw' | 'rawHeaders'>): boolean {
  const header = request.headers['authorization'];
  return typeof header === 'string' && (BEARER_SCHEME.test(header) || hasRepeatedHeader(request, 'authorization'));
}

/**
 * Returns the token of a request: of its `Bearer` header or else, in cookie mode, of its cookie.
 * @throws AuthError as `bearerToken`, and `cross_site_request`
 */
export function requestToken(request: AuthRequest, cookies: CookieAuthentication | null): string {
  if (!cookies || hasBearerHeader(request)) return bearerToken(request);
  return cookies.tokenOfRequest(request) ?? refuseMissing();
}

/** The HTTP request that opened a WebSocket. */
export type Handshake = Pick<AuthRequest, 'headers' | 'rawHeaders' | 'ip'>;

/** The parts of a socket.io client that are read here. */
interface SocketIoClient {
  readonly request?: Handshake;
  readonly handshake?: { readonly auth?: { readonly token?: unknown } };
}

const HANDSHAKES = new WeakMap<object, Handshake>();

/**
 * Remembers the handshake of a `ws` client, which `ws` does not keep; socket.io does. In the
 * gateway: `handleConnection(client, request) { rememberHandshake(client, request); }`.
 */
export function rememberHandshake(client: object, request: Handshake): void {
  HANDSHAKES.set(client, request);
}

/**
 * Returns the access token that a socket was opened with: from the `Authorization` header of its
 * handshake, with socket.io from `auth.token` or, in cookie mode, from the cookie of a handshake with
 * the HTTP server of the application. The query string is never read, nor are cookies otherwise.
 * @throws AuthError `credentials_missing`; `credentials_ambiguous` for more than one token; `cross_site_request`
 */
export function socketAccessToken(client: object): PresentedToken {
  return socketToken(client, handshakeCookies(handshakeOf(client)));
}

function socketToken(client: object, cookies: CookieAuthentication | null): PresentedToken {
  const request = handshakeOf(client);
  const info = clientInfoOf(request);
  const token = (client as SocketIoClient).handshake?.auth?.token;
  if (typeof token !== 'string' || token === '') return { accessToken: handshakeToken(request, cookies), client: info };
  if (cookies ? hasBearerHeader(request) : request.headers['authorization'] !== undefined) {
    throw new AuthError('credentials_ambiguous', 'A token was sent both in the header and in `auth.token`.');
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

/** Where drivers and applications put the request in the GraphQL context; `graphql-ws`: `extra`. */
interface GraphQLContext {
  readonly req?: AuthRequest & { readonly res?: AuthResponse };
  readonly res?: AuthResponse;
  readonly request?: AuthRequest;
  readonly reply?: AuthResponse & { readonly request?: AuthRequest };
  readonly extra?: { readonly request?: AuthRequest };
}

/**
 * Returns the token of a call from the usual place of its transport, which is not HTTP.
 * @throws AuthError `credentials_missing`, also without a usual place; `credentials_ambiguous`
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

/** Whether `presentedToken` takes the token of a call from a cookie, in cookie mode. */
export function isTokenInCookie(call: TransportCall): boolean {
  const type = call.getType<string>();
  if (type === 'ws') {
    const client = call.getArgByIndex<SocketIoClient>(0);
    return !client.handshake?.auth?.token && !hasBearerHeader(handshakeOf(client));
  }
  const request = requestOfOperation(call);
  return request !== undefined && !hasBearerHeader(request);
}

/** Returns the HTTP request of a GraphQL operation, where its context has it; nothing over other transports. */
export function requestOfOperation(call: TransportCall): AuthRequest | undefined {
  return call.getType<string>() === 'graphql' ? graphqlRequest(call.getArgByIndex(2)) : undefined;
}

/** Returns the response to the HTTP request of a GraphQL operation, where its context has it. */
function graphqlResponse(context: GraphQLContext | undefined): AuthResponse | undefined {
  const candidates = [context?.res, context?.reply, context?.req?.res];
  return candidates.find((response) => typeof response?.getHeader === 'function' && 'header' in response);
}

function graphqlRequest(context: GraphQLContext | undefined): AuthRequest | undefined {
  const candidates = [context?.req, context?.request, context?.reply?.request, context?.extra?.request];
  return candidates.find((request) => typeof request?.headers === 'object' && request.headers !== null);
}

function refuseMissing(): never {
  throw credentialsMissing();
}
