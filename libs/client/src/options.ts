import { resolveEnvironment, type ClientEnvironment } from './environment.js';
import { lockFor, type TabLock } from './locks.js';
import { memoryTokens, sessionRecord, type TokenStorage } from './token-storage.js';
import { transportOf, type Transport } from './transport.js';

/** The options of a client. */
export interface AuthClientOptions {
  /** Where the server's application is; relative addresses are resolved against it. Default: the origin of the page. */
  readonly baseUrl?: string;
  /** The path of the endpoints below `baseUrl`: the server's global prefix and its option `path`. Default: `auth`. */
  readonly authPath?: string;
  /**
   * `bearer`: the client stores the tokens. `cookie`: the browser does, out of reach of scripts; the server needs its
   * option `cookies`, and the page must be on the same site. Default: `bearer`.
   */
  readonly transport?: 'bearer' | 'cookie';
  /** Further origins that may see the access token. Only that of `baseUrl` sees the refresh token. Default: none. */
  readonly origins?: readonly string[];
  /** Where the tokens are stored; none with cookies. Default: `memoryTokens()`. */
  readonly storage?: TokenStorage;
  /** Tabs of one name share a lock and a channel. Two servers need two. Default: `nestjs-session-auth`. */
  readonly name?: string;
  /** The server's value, never more. Default: 0, and no refresh is ever repeated; 10 with cookies, as on the server. */
  readonly refreshReuseGraceSeconds?: number;
  /** The server's value: tokens are refreshed before they expire. Default: none, they are refreshed after a 401. */
  readonly accessTokenTtlSeconds?: number;
  /** How long before the expiry, at most a quarter of the lifetime. Default: 30. */
  readonly refreshAheadSeconds?: number;
  /** How long the answer to a refresh, a login or a password change may take. Default: 10. */
  readonly refreshTimeoutSeconds?: number;
  /** For processes that share a storage. Default: Web Locks, a lease in `localStorage`, or one within the process. */
  readonly lock?: TabLock;
  /** Replaces parts of the platform, for tests and where it is neither a browser nor Node. Default: the platform's. */
  readonly environment?: Partial<ClientEnvironment>;
}

/** The validated options. */
export interface Settings {
  readonly base: URL;
  readonly authUrl: (path: string) => string;
  readonly origins: ReadonlySet<string>;
  readonly transport: Transport;
  readonly storage: TokenStorage;
  readonly name: string;
  readonly graceMs: number;
  readonly accessTtlMs: number | null;
  readonly aheadMs: number;
  readonly timeoutMs: number;
  readonly lock: TabLock;
  readonly environment: ClientEnvironment;
}

/** The time of a refresh besides the answers to it and to the question whether the server is there. */
const LEASE_SLACK_MS = 5_000;

export function resolveOptions(options: AuthClientOptions): Settings {
  const { name = 'nestjs-session-auth', authPath = 'auth', accessTokenTtlSeconds } = options;
  const environment = resolveEnvironment(options.environment);
  const transport = transportOf(options.transport ?? 'bearer');
  const storage = storageOf(options, name, environment);
  const { refreshReuseGraceSeconds = transport.usesCookies ? 10 : 0 } = options;
  const graceMs = inMs('refreshReuseGraceSeconds', refreshReuseGraceSeconds, 0, 60);
  const timeoutMs = inMs('refreshTimeoutSeconds', options.refreshTimeoutSeconds ?? 10, 1, 60);
  const accessTtlMs =
    accessTokenTtlSeconds === undefined ? null : inMs('accessTokenTtlSeconds', accessTokenTtlSeconds, 1);
  const aheadMs = Math.min(inMs('refreshAheadSeconds', options.refreshAheadSeconds ?? 30, 0), (accessTtlMs ?? 0) / 4);
  const base = baseOf(options.baseUrl);
  // The dot makes it a path below `baseUrl`, and never another origin.
  const authUrl = (path: string): string => new URL(`./${authPath.replace(/^\/+|\/+$/g, '')}/${path}`, base).href;
  const origins = new Set([base.origin, ...(options.origins ?? []).map((origin) => new URL(origin).origin)]);
  const lock =
    options.lock ?? lockFor(storage, `${name}:lock`, graceMs / 2 + 2 * timeoutMs + LEASE_SLACK_MS, environment);
  return {
    base,
    authUrl,
    origins,
    transport,
    storage,
    name,
    graceMs,
    accessTtlMs,
    aheadMs,
    timeoutMs,
    lock,
    environment,
  };
}

function storageOf(
  { transport, storage }: AuthClientOptions,
  name: string,
  environment: ClientEnvironment,
): TokenStorage {
  if (transport !== 'cookie') return storage ?? memoryTokens();
  if (storage) throw new TypeError('With cookies there are no tokens: leave `storage` out.');
  return sessionRecord(`${name}:cookie`, environment.localStorage);
}

function inMs(option: string, seconds: number, least: number, most = Infinity): number {
  if (Number.isFinite(seconds) && seconds >= least && seconds <= most) return seconds * 1_000;
  throw new TypeError(`${option} is ${seconds}: write a number of seconds from ${least} to ${most}.`);
}

/** With a trailing slash: relative addresses are resolved below it, not beside its last segment. */
function baseOf(url: string | undefined): URL {
  const { location } = globalThis as { location?: { readonly origin: string } };
  if (url === undefined && !location) throw new TypeError('There is no page: write `baseUrl`.');
  const base = new URL(url ?? '/', location?.origin);
  return base.pathname.endsWith('/') ? base : new URL(`${base.origin}${base.pathname}/`);
}
