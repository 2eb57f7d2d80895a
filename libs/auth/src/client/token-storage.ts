import { webStorage, type WebStorage } from './environment.js';
import { isRecord, parseJson, type TokenPair } from './wire.js';

/** What a client keeps of its session. */
export interface Tokens extends TokenPair {
  readonly sessionId: string;
  /** How many pairs of this session came before. */
  readonly generation: number;
  /** When the access token ends by the clock of this client, in milliseconds since 1970; null where it was not told. */
  readonly accessExpiresAt: number | null;
  /** Since when the refresh token may have been sent, by the same clock; null for one that was not. */
  readonly sentAt: number | null;
}

/**
 * Where a client keeps its tokens. What `write` has taken, `read` gives back.
 *
 * `reach` says who else sees them: `client`, nobody but the clients that were given this very object; `tab`, this tab and the
 * copies that a browser makes of it, as `sessionStorage` is copied; `origin`, all tabs (or processes) of the same `name`.
 */
export interface TokenStorage {
  readonly reach: 'client' | 'tab' | 'origin';
  /** What is kept, or null. */
  read(): Tokens | null | Promise<Tokens | null>;
  /** Keeps them; null forgets them. */
  write(tokens: Tokens | null): void | Promise<void>;
}

/** Kept until the page is left: no script finds them in a storage, and each tab signs in by itself. */
export function memoryTokens(): TokenStorage {
  let kept: Tokens | null = null;
  return { reach: 'client', read: () => kept, write: (tokens) => void (kept = tokens) };
}

/** Kept in `sessionStorage`: they outlive a reload, and go with the tab. */
export function sessionTokens(key?: string, storage?: WebStorage): TokenStorage {
  return inWebStorage('tab', key, storage ?? webStorage('sessionStorage'));
}

/** Kept in `localStorage`: signed in in one tab is signed in in all of them, until the user signs out. */
export function localTokens(key?: string, storage?: WebStorage): TokenStorage {
  return inWebStorage('origin', key, storage ?? webStorage('localStorage'));
}

function inWebStorage(
  reach: TokenStorage['reach'],
  key = 'nestjs-session-auth',
  storage: WebStorage | null,
): TokenStorage {
  if (!storage) throw new Error('There is no such storage here. Use `memoryTokens()`.');
  return {
    reach,
    read: () => parseTokens(storage.getItem(key)),
    write: (tokens) => (tokens ? storage.setItem(key, JSON.stringify(tokens)) : storage.removeItem(key)),
  };
}

/** The tokens of a text, or null where it is not one of ours. */
export function parseTokens(stored: string | null): Tokens | null {
  const value = parseJson(stored);
  return isTokens(value) ? value : null;
}

export function isTokens(value: unknown): value is Tokens {
  if (!isRecord(value)) return false;
  const texts = [value['accessToken'], value['refreshToken'], value['sessionId']];
  const instants = [value['accessExpiresAt'], value['sentAt']];
  return (
    texts.every((one) => typeof one === 'string' && one !== '') &&
    Number.isInteger(value['generation']) &&
    instants.every((one) => one === null || typeof one === 'number')
  );
}
