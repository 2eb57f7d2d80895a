import { resolveEnvironment, type ClientEnvironment } from './environment.js';
import { lockFor, type TabLock } from './locks.js';
import { memoryTokens, sessionRecord, type TokenStorage } from './token-storage.js';
import { transportOf, type Transport } from './transport.js';

/** The options of a client. */
export interface AuthClientOptions {
  /**
   * The base URL of the server. Relative URLs are resolved against it. Outside a page, the first use of a client without
   * this option throws. Default: the origin of the page.
   */
  readonly baseUrl?: string;
  /** The path of the endpoints below `baseUrl`: the server's global prefix and its option `path`. Default: `auth`. */
  readonly authPath?: string;
  /**
   * How requests carry the session. `bearer`: the client stores the tokens, and sends them in headers and
   * bodies. `cookie`: the browser stores the tokens in cookies that scripts cannot read, which requires the
   * server option `cookies` and a page on the same site. Default: `bearer`.
   */
  readonly transport?: 'bearer' | 'cookie';
  /**
   * What `fetch` does while nobody is signed in. `send`: it sends the request without a token, for public routes.
   * `refuse`: it rejects with `signed_out`. With cookies, it always sends the request. Default: `refuse`.
   */
  readonly anonymous?: 'send' | 'refuse';
  /** Additional origins that receive the access token. The refresh token is sent only to `baseUrl`. Default: none. */
  readonly origins?: readonly string[];
  /** The storage of the tokens. Not allowed with `transport: 'cookie'`. Default: `memoryTokens()`. */
  readonly storage?: TokenStorage;
  /** The name of the lock and the channel that tabs share. Use one name per server. Default: `nestjs-session-auth`. */
  readonly name?: string;
  /**
   * The grace period, in seconds, from 0 to 60. It must not exceed the server's value. If the response to a
   * refresh is lost, the client can repeat the refresh in the first half of this period. Default: 0, or 10 with
   * cookies, as on a server that rotates refresh tokens.
   */
  readonly refreshReuseGraceSeconds?: number;
  /**
   * The lifetime of access tokens, in seconds, from 1 second to 100 years: the server's option of the same name. If it is
   * set, the client refreshes before a request if the access token expires soon. Default: the client refreshes after a
   * 401.
   */
  readonly accessTokenTtlSeconds?: number;
  /**
   * The client refreshes the tokens before a request if the access token expires within this number
   * of seconds, or within twice this number if the body is passed to `fetch` as a stream. The client
   * uses at most a quarter of `accessTokenTtlSeconds`. Default: 30.
   */
  readonly refreshAheadSeconds?: number;
  /**
   * The timeout of a login, a refresh, and other requests that replace or revoke the tokens, in
   * seconds, from 1 to 60. Default: 10.
   */
  readonly refreshTimeoutSeconds?: number;
  /**
   * The lock for clients that share their tokens. Default: with `memoryTokens()`, a queue in the process. Otherwise,
   * the first that is available: Web Locks, a lease in `localStorage`, or a queue in the process.
   */
  readonly lock?: TabLock;
  /**
   * Replaces parts of the platform, for tests and for platforms other than browsers and Node.js. Default: the
   * platform.
   */
  readonly environment?: Partial<ClientEnvironment>;
}

/** The validated options. */
export interface Settings {
  readonly base: () => URL;
  readonly authUrl: (path: string) => string;
  readonly sendsAnonymous: boolean;
  readonly isTrusted: (origin: string) => boolean;
  readonly transport: Transport;
  readonly storage: TokenStorage;
  readonly name: string;
  readonly graceMs: number;
  readonly accessTtlMs: number | null;
  readonly aheadMs: number;
  readonly timeoutMs: number;
  readonly lock: TabLock;
  readonly environment: ClientEnvironment;
  /** Returns the milliseconds since 1970. */
  readonly now: () => number;
}

/**
 * The time that a lease allows, in milliseconds, for everything in a refresh except the requests and the
 * pauses between them. An example is access to the storage.
 */
const LEASE_SLACK_MS = 5_000;

export function resolveOptions(options: AuthClientOptions): Settings {
  const { name = 'nestjs-session-auth', authPath = 'auth', accessTokenTtlSeconds } = options;
  const environment = resolveEnvironment(options.environment);
  const transport = transportOf(options.transport);
  const storage = storageOf(options, name, environment);
  const { refreshReuseGraceSeconds = transport.usesCookies ? 10 : 0 } = options;
  const graceMs = inMs('refreshReuseGraceSeconds', refreshReuseGraceSeconds, 0, 60);
  const timeoutMs = inMs('refreshTimeoutSeconds', options.refreshTimeoutSeconds ?? 10, 1, 60);
  const accessTtlMs =
    accessTokenTtlSeconds === undefined ? null : inMs('accessTokenTtlSeconds', accessTokenTtlSeconds, 1, 3_155_760_000);
  const aheadMs = Math.min(inMs('refreshAheadSeconds', options.refreshAheadSeconds ?? 30, 0), (accessTtlMs ?? 0) / 4);
  const base = lazyBase(options.baseUrl);
  const origins = (options.origins ?? []).map((origin) => new URL(origin).origin);
  const lock =
    options.lock ?? lockFor(storage, `${name}:lock`, graceMs / 2 + 3 * timeoutMs + LEASE_SLACK_MS, environment);
  return {
    base,
    // The leading `./` keeps the path on the origin of `baseUrl`. Without it, the path could name another origin.
    authUrl: (path) => new URL(`./${authPath.replace(/^\/+|\/+$/g, '')}/${path}`, base()).href,
    isTrusted: (origin) => origin === base().origin || origins.includes(origin),
    sendsAnonymous: options.anonymous === 'send',
    transport,
    storage,
    name,
    graceMs,
    accessTtlMs,
    aheadMs,
    timeoutMs,
    lock,
    environment,
    now: () => environment.clock.now(),
  };
}

function storageOf(
  { transport, storage }: AuthClientOptions,
  name: string,
  environment: ClientEnvironment,
): TokenStorage {
  if (transport !== 'cookie') return storage ?? memoryTokens();
  if (storage) throw new TypeError('With cookies, remove `storage`.');
  return sessionRecord(`${name}:cookie`, environment.localStorage);
}

function inMs(option: string, seconds: number, least: number, most = 3_600): number {
  if (Number.isFinite(seconds) && seconds >= least && seconds <= most) return seconds * 1_000;
  throw new TypeError(`${option} is ${seconds}. Use ${least} to ${most} seconds.`);
}

/** Without `baseUrl`, the page is read at the first use, because a server that renders pages also runs their modules. */
function lazyBase(url: string | undefined): () => URL {
  let base = url === undefined ? null : baseOf(url);
  return () => (base ??= baseOf());
}

/** Returns the base URL with a trailing slash. Without it, relative URLs would replace the last segment of the path. */
function baseOf(url?: string): URL {
  const { location } = globalThis as { location?: { readonly href: string } };
  if (url === undefined && !location) throw new TypeError('`baseUrl` is required outside a page.');
  // Not `location.origin`, which is `null` in pages without an origin, such as files.
  const { origin, pathname } = new URL(url ?? '/', location?.href);
  return new URL(origin + pathname.replace(/\/?$/, '/'));
}
