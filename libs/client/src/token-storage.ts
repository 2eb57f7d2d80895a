import { warnOnce, webStorage, type WebStorage } from './environment.js';
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
 * Stores the tokens in `sessionStorage`. They survive a reload, and are removed when the tab is closed. If the browser
 * refuses to store them, they are kept in memory. Outside a page, there are no tokens, and storing them throws.
 * @param key the key of the tokens. Default: `nestjs-session-auth`
 * @param storage the storage to use. Default: `sessionStorage`
 */
export function sessionTokens(key?: string, storage?: WebStorage): TokenStorage {
  return inWebStorage('tab', 'sessionStorage', key, storage);
}

/**
 * Stores the tokens in `localStorage`. All tabs share one session until it ends. If the browser refuses to store them,
 * they are kept in memory. Outside a page, there are no tokens, and storing them throws.
 * @param key the key of the tokens. Default: `nestjs-session-auth`
 * @param storage the storage to use. Default: `localStorage`
 */
export function localTokens(key?: string, storage?: WebStorage): TokenStorage {
  return inWebStorage('origin', 'localStorage', key, storage);
}

function inWebStorage(
  reach: 'tab' | 'origin',
  name: 'localStorage' | 'sessionStorage',
  key = 'nestjs-session-auth',
  storage: WebStorage | null = webStorage(name),
): TokenStorage {
  const problem = `${name} is not available.`;
  if (!storage && 'document' in globalThis) {
    warnOnce(`${problem} Tokens are in memory.`);
    return memoryTokens();
  }
  if (!storage) {
    const write = (): never => {
      throw new Error(`${problem} Use \`memoryTokens()\`.`);
    };
    return { reach, read: () => null, write };
  }
  const text = textIn(storage, key);
  return {
    reach,
    // The client checks the format.
    read: () => parseJson(text.read()) as Tokens | null,
    write: (tokens) => text.write(tokens && JSON.stringify(tokens)),
  };
}

/** Stores a text under a key, or in memory if there is no storage or the storage is full. */
export function textIn(
  storage: WebStorage | null,
  key: string,
): { read(): string | null; write(text: string | null): void } {
  let kept: string | null = null;
  return {
    read: () => (storage ? storage.getItem(key) : kept),
    write(text) {
      kept = text;
      const store = (): void => void (text !== null && storage?.setItem(key, text));
      try {
        if (text !== null) return store();
      } catch {
        // Below, without the text that this one replaces, there may be enough capacity.
      }
      // Another tab must not use tokens that this tab replaces.
      storage?.removeItem(key);
      try {
        store();
      } catch {
        storage = null;
        warnOnce('The storage is full.');
      }
    },
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
 * Returns the storage of a client with cookies. Its `Tokens` have an empty pair. All tabs share it, unless there is no
 * `localStorage`.
 */
export function sessionRecord(key: string, storage: WebStorage | null): TokenStorage {
  const text = textIn(storage, key);
  return {
    reach: 'origin',
    read() {
      const stored = parseJson(text.read());
      return isTokens(stored, true) ? stored : NO_SESSION;
    },
    write: (tokens) => text.write(tokens && JSON.stringify(tokens)),
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
