import { webStorage, type WebStorage } from './environment.js';
import { parseJson, recordOf, type TokenPair } from './wire.js';

/** The stored tokens of a session. */
export interface Tokens extends TokenPair {
  readonly sessionId: string;
  /** Increases when the tokens of this session are replaced. */
  readonly generation: number;
  /** When the access token expires by this client's clock, in milliseconds since 1970, or null if unknown. */
  readonly accessExpiresAt: number | null;
  /**
   * When the refresh token may first have been sent, by this client's clock, in milliseconds since 1970. Null if it
   * was not sent, or if the client stores this time elsewhere.
   */
  readonly sentAt: number | null;
}

/**
 * Stores the tokens of a client. `read` must return the tokens that were written last.
 *
 * `reach` declares which clients share the tokens. `client`: only clients with the same storage object. `tab`:
 * this tab; a duplicate begins with a copy, as with `sessionStorage`. `origin`: all tabs or processes, which
 * need the same option `name`.
 */
export interface TokenStorage {
  readonly reach: 'client' | 'tab' | 'origin';
  /** Returns the stored tokens, or null. */
  read(): Tokens | null | Promise<Tokens | null>;
  /** Stores the tokens, or removes them if the argument is null. */
  write(tokens: Tokens | null): void | Promise<void>;
}

/** Stores the tokens in memory until the page closes or reloads. Each tab signs in separately. */
export function memoryTokens(): TokenStorage {
  let kept: Tokens | null = null;
  return { reach: 'client', read: () => kept, write: (tokens) => void (kept = tokens) };
}

/**
 * Stores the tokens in `sessionStorage`. They survive a reload, and are removed when the tab is closed.
 * @param key the key of the tokens. Default: `nestjs-session-auth`
 * @param storage the storage to use. Default: `sessionStorage`
 * @throws Error if `sessionStorage` is not available and no `storage` is given
 */
export function sessionTokens(key?: string, storage?: WebStorage): TokenStorage {
  return inWebStorage('tab', storage ?? webStorage('sessionStorage'), key);
}

/**
 * Stores the tokens in `localStorage`. All tabs share one session until it ends.
 * @param key the key of the tokens. Default: `nestjs-session-auth`
 * @param storage the storage to use. Default: `localStorage`
 * @throws Error if `localStorage` is not available and no `storage` is given
 */
export function localTokens(key?: string, storage?: WebStorage): TokenStorage {
  return inWebStorage('origin', storage ?? webStorage('localStorage'), key);
}

function inWebStorage(reach: 'tab' | 'origin', storage: WebStorage | null, key = 'nestjs-session-auth'): TokenStorage {
  if (!storage)
    throw new Error(`${reach === 'tab' ? 'session' : 'local'}Storage is not available. Use \`memoryTokens()\`.`);
  return {
    reach,
    read() {
      const stored = parseJson(storage.getItem(key));
      return isTokens(stored) ? stored : null;
    },
    write: (tokens) => (tokens ? storage.setItem(key, JSON.stringify(tokens)) : storage.removeItem(key)),
  };
}

/** The empty token pair of a client with cookies. */
export const NO_PAIR: TokenPair = { accessToken: '', refreshToken: '' };

/** The empty record of a client with cookies that knows no session. */
export const NO_SESSION: Tokens = { ...NO_PAIR, sessionId: '', generation: 0, accessExpiresAt: null, sentAt: null };

/** Returns whether the tokens belong to a session. With cookies, an unknown session id is empty. */
export function hasSession({ sessionId, generation }: Tokens): boolean {
  return sessionId !== '' || generation > 0;
}

/**
 * Returns the storage of a client with cookies. It contains all properties of `Tokens` except the tokens
 * themselves. All tabs share it, unless there is no `localStorage`.
 */
export function sessionRecord(key: string, storage: WebStorage | null): TokenStorage {
  let kept = 'null';
  return {
    reach: 'origin',
    read() {
      const stored = { ...recordOf(parseJson(storage ? storage.getItem(key) : kept)), ...NO_PAIR };
      return isTokens(stored, true) ? stored : NO_SESSION;
    },
    write(tokens) {
      kept = JSON.stringify(tokens && { ...tokens, accessToken: undefined, refreshToken: undefined });
      storage?.setItem(key, kept);
    },
  };
}

/** Returns whether a stored value has the format of this version of the client. With cookies, the tokens are empty. */
export function isTokens(value: unknown, usesCookies = false): value is Tokens {
  const { accessToken, refreshToken, sessionId, generation, accessExpiresAt, sentAt } = recordOf(value);
  return (
    [accessToken, refreshToken, sessionId].every((text) => typeof text === 'string' && (usesCookies || text)) &&
    Number.isInteger(generation) &&
    [accessExpiresAt, sentAt].every((instant) => instant === null || typeof instant === 'number')
  );
}
