import { BadRequestException } from '@nestjs/common';
import type { ClientInfo } from '../../domain/client';
import type { AuthPrincipal } from '../../services/sessions/authentication';

/** The parts of a request that the library uses. They are the same on Express and Fastify. */
export interface AuthRequest {
  readonly ip?: string | undefined;
  readonly url: string;
  readonly method?: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly params?: unknown;
  readonly body?: unknown;
  readonly raw?: { readonly rawHeaders: readonly string[] };
  readonly rawHeaders?: readonly string[];
  /** Set by `BearerAuthGuard`; null on a route with `@OptionalAuth()` where no token is sent. */
  auth?: AuthPrincipal | null;
  /** Loads the application's user object for `@CurrentUser()`. Set by a guard of the application in place of `BearerAuthGuard`. */
  loadUser?: () => Promise<unknown>;
}

/** The parts of a response that the library uses. They are the same on Express and Fastify. */
export interface AuthResponse {
  /** Sets a header; with Fastify it adds to `Set-Cookie`. */
  header(name: string, value: string | string[]): unknown;
  /** Returns a header that is set, or undefined. */
  getHeader(name: string): unknown;
  /** Removes a header. */
  removeHeader(name: string): unknown;
  /** Node's own response, with Fastify. Middleware of the application sets headers there. */
  readonly raw?: Pick<AuthResponse, 'getHeader'>;
}

/** Returns the client of a request. The platform resolves the address, not this library. */
export function clientInfoOf(request: Pick<AuthRequest, 'ip' | 'headers'>): ClientInfo {
  const { ipAddress, userAgent } = new LazyClientInfo(request);
  return { ipAddress, userAgent };
}

/** The parts of a request that show whether its client is still connected. */
interface Connected {
  readonly socket?: { readonly destroyed?: boolean; readonly localAddress?: string | undefined } | undefined;
}

/**
 * Returns the client of a request to a route of the library. One that has reset its connection before its address was
 * read has none, and would act outside every bound for networks and leave no trace: nobody reads the response.
 * @throws BadRequestException for such a client
 */
export function clientOfLibraryRoute(request: AuthRequest): ClientInfo {
  const client = clientInfoOf(request);
  const { socket } = request as Connected;
  // Connections without addresses, such as those of a Unix socket, have no local one either.
  const isGone = client.ipAddress === null && (socket?.destroyed === true || socket?.localAddress !== undefined);
  if (isGone) throw new BadRequestException('The client has closed the connection.');
  return client;
}

/** Reads the address on demand: Express resolves it at each access, and the guard rarely needs it. */
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

/** Whether a header was sent more than once. Node joins or drops those, so raw headers are read. */
export function hasRepeatedHeader(request: Pick<AuthRequest, 'raw' | 'rawHeaders'>, name: string): boolean {
  return timesSent(request, name) === 2;
}

/**
 * Whether a header arrived with the request. `headers` may have others: mercurius adds those in the first message of a
 * WebSocket, which any page can choose.
 */
export function wasSent(request: Pick<AuthRequest, 'raw' | 'rawHeaders'>, name: string): boolean {
  return timesSent(request, name) !== 0;
}

/** Returns 0, 1, or 2 for more; null where the raw headers are unknown, as they may be without a server of Node's. */
function timesSent({ rawHeaders, raw }: Pick<AuthRequest, 'raw' | 'rawHeaders'>, name: string): number | null {
  const lines = rawHeaders ?? raw?.rawHeaders;
  if (!lines?.length) return null;
  let times = 0;
  for (let index = 0; index < lines.length && times < 2; index += 2) {
    const line = lines[index]!;
    if (line.length === name.length && line.toLowerCase() === name) times += 1;
  }
  return times;
}

/** Returns the principal that the guard has set. */
export function principalOf(request: AuthRequest): AuthPrincipal {
  if (!request.auth) throw new Error('No authenticated user. Is `BearerAuthGuard` applied to this route?');
  return request.auth;
}
