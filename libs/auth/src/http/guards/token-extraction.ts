import { AuthError } from '../../domain/errors';
import type { PresentedToken, TransportCall } from '../../domain/ports/platform';
import { clientInfoOf, hasRepeatedHeader, type AuthRequest } from '../platform/request';

const BEARER = /^bearer[ \t]+/i;

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
 * handshake or, with socket.io, from `auth.token`. The query string and cookies are never read.
 * @throws AuthError `credentials_missing`; `credentials_ambiguous` for more than one token
 */
export function socketAccessToken(client: object): PresentedToken {
  const { request: kept, handshake } = client as SocketIoClient;
  const request = HANDSHAKES.get(client) ?? kept ?? { headers: {} };
  const info = clientInfoOf(request);
  const token = handshake?.auth?.token;
  if (typeof token !== 'string' || token === '') return { accessToken: bearerToken(request), client: info };
  if (request.headers['authorization'] !== undefined) {
    throw new AuthError('credentials_ambiguous', 'A token was sent both in the header and in `auth.token`.');
  }
  return { accessToken: token, client: info };
}

/** Where drivers and applications put the request in the GraphQL context; `graphql-ws`: `extra`. */
interface GraphQLContext {
  readonly req?: AuthRequest;
  readonly request?: AuthRequest;
  readonly reply?: { readonly request?: AuthRequest };
  readonly extra?: { readonly request?: AuthRequest };
}

/**
 * Returns the token of a call from the usual place of its transport, which is not HTTP.
 * @throws AuthError `credentials_missing`, also without a usual place; `credentials_ambiguous`
 */
export function presentedToken(call: TransportCall): PresentedToken {
  const type = call.getType<string>();
  if (type === 'ws') return socketAccessToken(call.getArgByIndex<object>(0));
  const request = type === 'graphql' ? graphqlRequest(call.getArgByIndex<GraphQLContext | undefined>(2)) : undefined;
  if (request) return { accessToken: bearerToken(request), client: clientInfoOf(request) };
  throw credentialsMissing();
}

function graphqlRequest(context: GraphQLContext | undefined): AuthRequest | undefined {
  const candidates = [context?.req, context?.request, context?.reply?.request, context?.extra?.request];
  return candidates.find((request) => typeof request?.headers === 'object' && request.headers !== null);
}

function credentialsMissing(): AuthError {
  return new AuthError('credentials_missing', 'Authentication credentials were not provided.');
}
