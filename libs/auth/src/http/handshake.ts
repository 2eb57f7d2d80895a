import { AuthError } from '../domain/errors';
import type { PresentedToken } from '../domain/ports/token-source';
import { tokenInHeader } from './authorization-header';
import { clientOf, type AuthRequest } from './request';

/** The HTTP request that a socket began as. */
export type Handshake = Pick<AuthRequest, 'headers' | 'rawHeaders' | 'ip'>;

/** What is used of a client of socket.io. */
interface SocketIoClient {
  readonly request?: Handshake;
  readonly handshake?: { readonly auth?: { readonly token?: unknown } };
}

const HANDSHAKES = new WeakMap<object, Handshake>();

/**
 * Keeps the request that a `ws` client began with, which `ws` itself forgets: in the gateway,
 * `handleConnection(client, request) { keepHandshake(client, request); }`. socket.io needs no such call.
 */
export function keepHandshake(client: object, request: Handshake): void {
  HANDSHAKES.set(client, request);
}

/**
 * The token that a socket was opened with: in the `Authorization` header of its handshake or, of socket.io, in `auth.token`.
 * Neither the address nor a cookie of the handshake is read.
 * @throws AuthError `credentials_missing`, `credentials_ambiguous` where there is more than one
 */
export function tokenOfSocket(client: object): PresentedToken {
  const { request: kept, handshake } = client as SocketIoClient;
  const request = HANDSHAKES.get(client) ?? kept ?? { headers: {} };
  const info = clientOf(request);
  const token = handshake?.auth?.token;
  if (typeof token !== 'string' || token === '') return { accessToken: tokenInHeader(request), client: info };
  if (request.headers['authorization'] !== undefined) {
    throw new AuthError('credentials_ambiguous', 'A token was sent in the header and in the handshake.');
  }
  return { accessToken: token, client: info };
}
