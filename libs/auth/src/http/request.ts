import { BadRequestException } from '@nestjs/common';
import type { ClientInfo } from '../adapters/second-factor';
import { AuthError } from '../base/errors';
import type { SessionInfo } from '../history/signals';
import type { AuthPrincipal } from '../sessions/authenticate';

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
  /** Sets a header. With Fastify, `Set-Cookie` is added to existing values. */
  header(name: string, value: string | string[]): unknown;
  /** Returns the value of a header, or undefined if the header is not set. */
  getHeader(name: string): unknown;
  /** Removes a header. */
  removeHeader(name: string): unknown;
  /** The Node.js response, on Fastify only. The application's middleware sets headers on this response. */
  readonly raw?: Pick<AuthResponse, 'getHeader'>;
}

/** The headers of a request or handshake. */
export type SentHeaders = Pick<AuthRequest, 'headers' | 'raw' | 'rawHeaders'>;

const BEARER = /^bearer(?:[ \t]+|$)/i;

/**
 * Returns the token of the `Authorization: Bearer` header, or null. The scheme name is case-insensitive. (RFC 6750,
 * section 2.1)
 * @throws AuthError `credentials_ambiguous` if the header is repeated
 */
export function bearerToken(request: SentHeaders): string | null {
  if (timesSent(request, 'authorization') === 2) {
    throw new AuthError('credentials_ambiguous', 'More than one Authorization header was sent.');
  }
  return hasBearerHeader(request) ? String(request.headers['authorization']).replace(BEARER, '') || null : null;
}

/**
 * Returns whether the token of a request is read from its `Authorization` header instead of a cookie. Cookie mode
 * ignores schemes other than `Bearer`. A repeated header also counts, so that it is refused in cookie mode too.
 */
export function hasBearerHeader(request: SentHeaders): boolean {
  const header = request.headers['authorization'];
  return typeof header === 'string' && (BEARER.test(header) || timesSent(request, 'authorization') === 2);
}

/**
 * Returns whether a header was part of the HTTP request. `headers` may contain further headers: mercurius adds headers
 * from the first message of a WebSocket, whose content any page can choose. Returns true if the raw headers are
 * unknown.
 */
export function wasSent(request: SentHeaders, name: string): boolean {
  return timesSent(request, name) !== 0;
}

/**
 * Returns how often a header was sent: 0, 1, or 2 for twice or more. Returns null if the raw headers are unknown, for
 * example without a Node.js server. Reads raw headers, because Node.js joins or drops repeated headers.
 */
function timesSent({ rawHeaders, raw }: SentHeaders, name: string): number | null {
  const lines = rawHeaders ?? raw?.rawHeaders;
  if (!lines?.length) return null;
  let times = 0;
  for (let index = 0; index < lines.length && times < 2; index += 2) {
    const line = lines[index]!;
    if (line.length === name.length && line.toLowerCase() === name) times += 1;
  }
  return times;
}

/**
 * The client of a request. The address is read on demand, because Express resolves the address at each access and the
 * guard rarely needs the address.
 */
export class LazyClientInfo implements ClientInfo {
  constructor(private readonly request: Pick<AuthRequest, 'ip' | 'headers'>) {}

  get ipAddress(): string | null {
    return this.request.ip ?? null;
  }

  get userAgent(): string | null {
    const userAgent = this.request.headers['user-agent'];
    return typeof userAgent === 'string' ? userAgent : null;
  }
}

/** Returns the IP address (the platform's `request.ip`) and the User-Agent of a request. Each is null if unknown. */
export function clientInfoOf(request: Pick<AuthRequest, 'ip' | 'headers'>): ClientInfo {
  const { ipAddress, userAgent } = new LazyClientInfo(request);
  return { ipAddress, userAgent };
}

/**
 * Returns the client of a request to one of the library's routes. The address is unknown if the client reset its
 * connection before the address was read. Such a request is refused, because the limits of its network would not
 * apply, and because no client receives the response.
 * @throws BadRequestException if the client has closed the connection and its address is unknown
 */
export function clientOfLibraryRoute(request: AuthRequest): ClientInfo {
  const client = clientInfoOf(request);
  const { socket } = request as { readonly socket?: { readonly destroyed?: boolean; readonly localAddress?: string } };
  // Connections that never have a remote address, such as those over a Unix socket, have no local address either.
  const isReset = socket?.destroyed === true || socket?.localAddress !== undefined;
  if (client.ipAddress !== null || !isReset) return client;
  throw new BadRequestException('The client has closed the connection.');
}

/** Returns the principal that the guard has set. @throws Error if no guard has set a principal */
export function principalOf(request: AuthRequest): AuthPrincipal {
  if (request.auth) return request.auth;
  throw new Error('No authenticated user on this request. Add `@UseGuards(BearerAuthGuard)` to the route.');
}
