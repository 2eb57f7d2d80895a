import { AuthError, credentialsMissing } from '../../domain/errors';
import type { PresentedToken, TransportCall } from '../../domain/ports/platform';
import type { CookieAuthentication } from '../cookies/cookie-authentication';
import { handshakeCookies } from '../cookies/handshake-cookies';
import { clientInfoOf, hasRepeatedHeader, type AuthRequest, type AuthResponse } from '../platform/request';

const BEARER = /^bearer[ \t]+/i;
const BEARER_SCHEME = /^bearer(?:[ \t]|$)/i;

/**
 * Returns the token of the `Authorization: Bearer` header. The scheme name is case-insensitive. (RFC 6750, section 2.1)
 * @throws AuthError `credentials_missing`; `credentials_ambiguous` if the header is repeated
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
 * Returns whether the token of a request is read from its `Authorization` header instead of a cookie.
 * Cookie mode ignores schemes other than `Bearer`. A repeated header also counts, so that it is refused in
 * cookie mode too.
 */
export function hasBearerHeader(request: Pick<AuthRequest, 'headers' | 'raw' | 'rawHeaders'>): boolean {
  const header = request.headers['authorization'];
  return typeof header === 'string' && (BEARER_SCHEME.test(header) || hasRepeatedHeader(request, 'authorization'));
}

/**
 * Returns the token in the `Authorization: Bearer` header of a request. In cookie mode, returns the token
 * in the cookie if the request has no such header.
 * @throws AuthError `cross_site_request`, and the codes of `bearerToken`
 */
export function requestToken(request: AuthRequest, cookies: CookieAuthentication | null): string {
  if (!cookies || hasBearerHeader(request)) return bearerToken(request);
  return cookies.tokenOfRequest(request) ?? refuseMissing();
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

function refuseMissing(): never {
  throw credentialsMissing();
}
