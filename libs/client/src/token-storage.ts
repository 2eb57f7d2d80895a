import { webStorage, type WebStorage } from './environment.js';
import { parseJson, recordOf, type TokenPair } from './wire.js';

/** What a client stores of its session. */
export interface Tokens extends TokenPair {
  readonly sessionId: string;
  /** How many pairs this session had before. */
  readonly generation: number;
  /** When the access token expires by the clock of this client, in milliseconds since 1970; null if unknown. */
  readonly accessExpiresAt: number | null;
  /** Since when the refresh token may have been sent, by the same clock; null if it was not. */
  readonly sentAt: number | null;
}

/**
 * Where a client stores its tokens. `read` returns what was written last.
 *
 * `reach` says who shares them: `client`, only clients with this very object; `tab`, this tab and
 * its duplicates, as with `sessionStorage`; `origin`, all tabs (or processes) of the same `name`.
 */
export interface TokenStorage {
  readonly reach: 'client' | 'tab' | 'origin';
  /** Returns the stored tokens, or null. */
  read(): Tokens | null | Promise<Tokens | null>;
  /** Stores the tokens; null removes them. */
  write(tokens: Tokens | null): void | Promise<void>;
}

/** Keeps the tokens until the page is left, in no storage that scripts can read. Each tab signs in by itself. */
export function memoryTokens(): TokenStorage {
  let kept: Tokens | null = null;
  return { reach: 'client', read: () => kept, write: (tokens) => void (kept = tokens) };
}

/** Keeps the tokens in `sessionStorage`: they survive a reload, and are removed with the tab. */
export function sessionTokens(key?: string, storage?: WebStorage): TokenStorage {
  return inWebStorage('tab', storage ?? webStorage('sessionStorage'), key);
}

/** Keeps the tokens in `localStorage`: all tabs share one session, until the user signs out. */
export function localTokens(key?: string, storage?: WebStorage): TokenStorage {
  return inWebStorage('origin', storage ?? webStorage('localStorage'), key);
}

function inWebStorage(reach: 'tab' | 'origin', storage: WebStorage | null, key = 'nestjs-session-auth'): TokenStorage {
  if (!storage) throw new Error('This platform has no such storage. Use `memoryTokens()`.');
  return {
    reach,
    read() {
      const stored = parseJson(storage.getItem(key));
      return isTokens(stored) ? stored : null;
    },
    write: (tokens) => (tokens ? storage.setItem(key, JSON.stringify(tokens)) : storage.removeItem(key)),
  };
}

/** What a client with cookies has in place of tokens. */
export const NO_PAIR: TokenPair = { accessToken: '', refreshToken: '' };

/** What a client with cookies reads where it knows of no session. */
export const NOBODY: Tokens = { ...NO_PAIR, sessionId: '', generation: 0, accessExpiresAt: null, sentAt: null };

/** Whether these are of a session. With cookies its id is unknown, and empty, if the application has opened it. */
export function isSomebody({ sessionId, generation }: Tokens): boolean {
  return sessionId !== '' || generation > 0;
}

/**
 * What a client with cookies stores: which session it is, and how often it was refreshed, but no token. All tabs
 * share it, or each has its own where there is no `localStorage`.
 */
export function sessionRecord(key: string, storage: WebStorage | null): TokenStorage {
  let kept = 'null';
  return {
    reach: 'origin',
    read() {
      const stored = { ...recordOf(parseJson(storage ? storage.getItem(key) : kept)), ...NO_PAIR };
      return isTokens(stored, true) ? stored : NOBODY;
    },
    write(tokens) {
      kept = JSON.stringify(tokens && { ...tokens, accessToken: undefined, refreshToken: undefined });
      storage?.setItem(key, kept);
    },
  };
}

/** Whether a stored value is of this version of the client. With cookies the tokens are empty. */
export function isTokens(value: unknown, usesCookies = false): value is Tokens {
  const { accessToken, refreshToken, sessionId, generation, accessExpiresAt, sentAt } = recordOf(value);
  return (
    [accessToken, refreshToken, sessionId].every((text) => typeof text === 'string' && (usesCookies || text !== '')) &&
    Number.isInteger(generation) &&
    [accessExpiresAt, sentAt].every((instant) => instant === null || typeof instant === 'number')
  );
}
