import { AuthorizedFetch } from './authorized-fetch.js';
import { lockFor } from './choose-lock.js';
import { surroundings, type ClientEnvironment } from './environment.js';
import { EventHub } from './events.js';
import { marksFor } from './refresh-marks.js';
import { requestRefresh } from './refresh-request.js';
import { Refresher } from './refresher.js';
import { SessionTokens } from './session-tokens.js';
import type { TabLock } from './tab-lock.js';
import { TokenKeeper } from './token-keeper.js';
import { memoryTokens, type TokenStorage } from './token-storage.js';

/** What a client may be told. */
export interface AuthClientOptions {
  /** Where the app of the server is: what relative addresses are reckoned from. In a browser: the origin of the page. */
  readonly baseUrl?: string;
  /** Where the endpoints are, from there: the server's option `path`, behind its global prefix. `auth` if left out. */
  readonly authPath?: string;
  /** Origins that may see the access token besides the one of `baseUrl`. The refresh token goes to that one alone. */
  readonly origins?: readonly string[];
  /** Where the tokens are kept: `memoryTokens()` if left out. */
  readonly storage?: TokenStorage;
  /** Tabs of one name share their lock and hear each other; with two servers on one origin, give two. */
  readonly name?: string;
  /** As the server has it, never more: 0 if left out, and then no refresh is ever repeated. */
  readonly refreshReuseGraceSeconds?: number;
  /** As the server has it: then tokens are refreshed before they end, and not after a 401. */
  readonly accessTokenTtlSeconds?: number;
  /** How long before, 30 if left out, and at most a quarter of the time that an access token has. */
  readonly refreshAheadSeconds?: number;
  /** How long a refresh is waited for, 10 if left out. */
  readonly refreshTimeoutSeconds?: number;
  /** Where Web Locks do not reach: processes that share a storage. */
  readonly lock?: TabLock;
  /** The outside world, for tests and for platforms that are neither browser nor Node. */
  readonly environment?: Partial<ClientEnvironment>;
}

/** The parts of a client. */
export interface Parts {
  readonly base: URL;
  readonly authUrl: (path: string) => string;
  readonly hub: EventHub;
  readonly world: ClientEnvironment;
  readonly tokens: SessionTokens;
  readonly keeper: TokenKeeper;
  readonly lock: TabLock;
  readonly refresher: Refresher;
  readonly authorized: AuthorizedFetch;
  readonly timeoutMs: number;
}

/** Beside the time for the answer: settling, asking the other tabs, writing. */
const LEASE_SLACK_MS = 5_000;

export function assemble(options: AuthClientOptions): Parts {
  const { storage = memoryTokens(), name = 'nestjs-session-auth', authPath = 'auth', accessTokenTtlSeconds } = options;
  const graceMs = seconds('refreshReuseGraceSeconds', options.refreshReuseGraceSeconds ?? 0, 0, 60);
  const timeoutMs = seconds('refreshTimeoutSeconds', options.refreshTimeoutSeconds ?? 10, 1, 60);
  const ttlMs = accessTokenTtlSeconds === undefined ? null : seconds('accessTokenTtlSeconds', accessTokenTtlSeconds, 1);
  const aheadMs = Math.min(seconds('refreshAheadSeconds', options.refreshAheadSeconds ?? 30, 0), (ttlMs ?? 0) / 4);
  const base = baseOf(options.baseUrl);
  const authUrl = (path: string): string => new URL(`${authPath.replace(/^\/+|\/+$/g, '')}/${path}`, base).href;
  const origins = new Set([base.origin, ...(options.origins ?? []).map((origin) => new URL(origin).origin)]);

  const world = surroundings(options.environment);
  const hub = new EventHub();
  const tokens = new SessionTokens(ttlMs);
  const keeper = new TokenKeeper(storage, name, world, hub);
  const lock = options.lock ?? lockFor(storage, `${name}:lock`, graceMs / 2 + timeoutMs + LEASE_SLACK_MS, world);
  const refresher = new Refresher(
    lock,
    keeper,
    marksFor(storage, name, keeper, world.localStorage),
    (refreshToken) => requestRefresh(authUrl('token/refresh/'), refreshToken, timeoutMs, world),
    tokens,
    { graceMs, settles: storage.reach !== 'client' },
    world.clock,
  );
  const authorized = new AuthorizedFetch(base, origins, keeper, refresher, aheadMs, world);
  return { base, authUrl, hub, world, tokens, keeper, lock, refresher, authorized, timeoutMs };
}

function seconds(option: string, value: number, least: number, most = Infinity): number {
  if (Number.isFinite(value) && value >= least && value <= most) return value * 1_000;
  throw new TypeError(`${option} is ${value}: write a number of seconds from ${least} to ${most}.`);
}

/** With a slash at its end: relative addresses stand below it, and not beside its last segment. */
function baseOf(url: string | undefined): URL {
  const { location } = globalThis as { location?: { readonly origin: string } };
  if (url === undefined && !location) throw new TypeError('There is no page here: write `baseUrl`.');
  const base = new URL(url ?? '/', location?.origin);
  return base.pathname.endsWith('/') ? base : new URL(`${base.origin}${base.pathname}/`);
}
