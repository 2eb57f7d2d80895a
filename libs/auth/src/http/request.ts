import { BadRequestException } from '@nestjs/common';
import type { EventEmitter } from 'node:events';
import type { ClientInfo } from '../adapters/second-factor';
import type { TransportCall } from '../adapters/token-source';
import { AuthError } from '../base/errors';
import type { ClientInspector, Operation } from '../history/event-log';
import type { SessionInfo } from '../history/signals';
import { assertSession, type AuthPrincipal } from '../sessions/authenticate';

/** The parts of an Express or Fastify request that the library uses. */
export interface AuthRequest {
  readonly ip?: string | undefined;
  readonly url: string;
  readonly method?: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly params?: unknown;
  readonly body?: unknown;
  readonly raw?: { readonly rawHeaders: readonly string[] };
  readonly rawHeaders?: readonly string[];
  /** The principal, set by `BearerAuthGuard`. Null if `@OptionalAuth()` admitted the request without authentication. */
  auth?: AuthPrincipal | null;
  /** Loads your user object for `@CurrentUser()`. A guard that replaces `BearerAuthGuard` sets both this and `auth`. */
  loadUser?: () => Promise<unknown>;
  /** Loads the session for `@CurrentSession()`. A guard that replaces `BearerAuthGuard` sets both this and `auth`. */
  loadSession?: () => Promise<SessionInfo>;
}

/** The parts of an Express or Fastify response that the library uses. */
export interface AuthResponse {
  /** Sets a header. On Fastify, adds to `Set-Cookie`. */
  header(name: string, value: string | string[]): unknown;
  /** Returns the value of a header, or undefined. */
  getHeader(name: string): unknown;
  /** Removes a header. */
  removeHeader(name: string): unknown;
  /** Whether the response has been sent, on Express. On Fastify, see `raw`. */
  readonly writableEnded?: boolean;
  /** The Node.js response, on Fastify only, on which middleware sets headers. */
  readonly raw?: Pick<AuthResponse, 'getHeader' | 'writableEnded'>;
}

export type SentHeaders = Pick<AuthRequest, 'headers' | 'raw' | 'rawHeaders'>;

/** The parts of a request or handshake that cookie mode reads. */
export type CookieRequest = SentHeaders & Pick<AuthRequest, 'method'>;

const BEARER = /^bearer(?:[ \t]+|$)/i;

/**
 * Returns the token of the `Authorization: Bearer` header, or null. (RFC 6750, section 2.1)
 * @throws AuthError `credentials_ambiguous` if the header is repeated
 */
export function bearerToken(request: SentHeaders): string | null {
  assertSingleAuthorization(request);
  return hasBearerHeader(request) ? String(request.headers['authorization']).replace(BEARER, '') || null : null;
}

/** @throws AuthError `credentials_ambiguous` if the `Authorization` header is repeated */
export function assertSingleAuthorization(request: SentHeaders): void {
  if (!isAuthorizationRepeated(request)) return;
  throw new AuthError('credentials_ambiguous', 'More than one Authorization header was sent.');
}

/** Returns whether the token is in the `Authorization` header. A repeated header counts, so that it is refused. */
export function hasBearerHeader(request: SentHeaders): boolean {
  const header = request.headers['authorization'];
  return typeof header === 'string' && (BEARER.test(header) || isAuthorizationRepeated(request));
}

/** The requests with a token that a `TokenSource` has found outside the cookies. */
export const BY_SOURCE = new WeakSet<object>();

/** Returns whether the request has a token in the `Authorization` header, or elsewhere outside the cookies. */
export function hasTokenOutsideCookies(request: SentHeaders): boolean {
  return hasBearerHeader(request) || BY_SOURCE.has(request);
}

/**
 * Returns the value of a header as it was sent, or the one in `headers` if the raw headers are unknown. mercurius, and
 * some applications, add values from the first message of a WebSocket to `headers`, which any page can choose.
 */
export function sentHeader(request: SentHeaders, name: string): string | string[] | undefined {
  const values = sentValues(request, name);
  if (!values) return request.headers[name];
  return values.length === 0 ? undefined : values.join(name === 'cookie' ? '; ' : ', ');
}

/** Returns whether the header was repeated. `headers` is of no use, because Node.js joins or drops repeated headers. */
function isAuthorizationRepeated(request: SentHeaders): boolean {
  return (sentValues(request, 'authorization')?.length ?? 0) > 1;
}

/** Returns the values of a header as they were sent, or null if the raw headers are unknown. */
function sentValues({ rawHeaders, raw }: SentHeaders, name: string): readonly string[] | null {
  const lines = rawHeaders ?? raw?.rawHeaders;
  if (!lines?.length) return null;
  const values: string[] = [];
  for (let index = 0; index < lines.length; index += 2) {
    const line = lines[index]!;
    if (line.length === name.length && line.toLowerCase() === name) values.push(lines[index + 1]!);
  }
  return values;
}

/** Reads the address of each connection. Node.js caches it, so it is known after the client has reset the connection. */
export function cachePeerAddresses(server: EventEmitter): void {
  const read = (socket: { readonly remoteAddress?: string }): void => void socket.remoteAddress;
  // With TLS, `request.socket` is the TLS socket, which has its own cache.
  for (const event of ['connection', 'secureConnection']) server.prependListener(event, read);
}

/** Calls `report` once, at the first request with `X-Forwarded-For`. */
export function onFirstForwardedRequest(server: EventEmitter, report: () => void): void {
  const check = ({ headers }: Pick<AuthRequest, 'headers'>): void => {
    if (headers['x-forwarded-for'] === undefined) return;
    server.off('request', check);
    report();
  };
  server.on('request', check);
}

/** Returns the IP address (the platform's `request.ip`) and the User-Agent of a request. Each is null if unknown. */
export function clientInfoOf(request: Pick<AuthRequest, 'ip' | 'headers'>): ClientInfo {
  const userAgent = request.headers['user-agent'];
  return { ipAddress: request.ip ?? null, userAgent: typeof userAgent === 'string' ? userAgent : null };
}

/**
 * Returns the operation that a request to one of the library's routes requests, in the realm of the request.
 * @throws BadRequestException if the client reset its connection before the address was read: no limit would apply
 */
export function operationOf(request: AuthRequest, clients: ClientInspector): Operation {
  const call = { getType: () => 'http', getArgByIndex: (index: number) => [request][index] } as TransportCall;
  const realm = clients.realmOf(call);
  const client = clients.inspect({ ...clientInfoOf(request), ...(realm === null ? {} : { realm }) });
  const { socket } = request as { readonly socket?: { readonly destroyed?: boolean; readonly localAddress?: string } };
  // Connections that never have a remote address, such as those over a Unix socket, have no local address either.
  const isReset = socket?.destroyed === true || socket?.localAddress !== undefined;
  if (client.info.ipAddress === null && isReset) throw new BadRequestException('The client has closed the connection.');
  return { client, tx: null };
}

/** Returns the principal that the guard has set. @throws Error if no guard has; AuthError `session_required` */
export function principalOf({ auth }: AuthRequest): AuthPrincipal {
  if (!auth) throw new Error('No authenticated user on this request. Add `@UseGuards(BearerAuthGuard)` to the route.');
  assertSession(auth);
  return auth;
}
