import type { ClientInfo } from '../domain/client';
import type { AuthPrincipal } from '../services/authentication';

/** What is used of a request: the same on Express and Fastify. */
export interface AuthRequest {
  readonly ip?: string | undefined;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly params?: unknown;
  readonly body?: unknown;
  readonly raw?: { readonly rawHeaders: readonly string[] };
  readonly rawHeaders?: readonly string[];
  /** Set by `BearerAuthGuard`. */
  auth?: AuthPrincipal;
  /** Loads the host's user object when it is asked for; set by the guard too. */
  loadUser?: () => Promise<unknown>;
}

/** Where a request came from. The address is the one that the platform resolved; no forwarding header is read here. */
export function clientOf(request: Pick<AuthRequest, 'ip' | 'headers'>): ClientInfo {
  const userAgent = request.headers['user-agent'];
  return { ipAddress: request.ip ?? null, userAgent: typeof userAgent === 'string' ? userAgent : null };
}

/** How many lines of this header were sent; Node itself joins or drops repeated ones. */
export function headerLines(request: Pick<AuthRequest, 'raw' | 'rawHeaders'>, name: string): number {
  const raw = request.rawHeaders ?? request.raw?.rawHeaders ?? [];
  return raw.filter((text, index) => index % 2 === 0 && text.toLowerCase() === name).length;
}

/** The principal that the guard has put there. */
export function principalOf(request: AuthRequest): AuthPrincipal {
  if (!request.auth) throw new Error('This route has no BearerAuthGuard: there is nobody to tell of.');
  return request.auth;
}
