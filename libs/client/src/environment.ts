/** The part of `localStorage` and `sessionStorage` that the client uses. */
export interface WebStorage {
  /** Returns the text of this key, or null. */
  getItem(key: string): string | null;
  /** Stores the text. Throws if the quota is exceeded, or if the user forbids storage. */
  setItem(key: string, value: string): void;
  /** Removes the text of this key. */
  removeItem(key: string): void;
}

/** The part of `navigator.locks` that the client uses. */
export interface WebLocks {
  /** Runs the work while holding the lock of this name, which all tabs of the origin share. */
  request<T>(name: string, work: () => Promise<T>): Promise<T>;
}

/** The part of a `BroadcastChannel` that the client uses. */
export interface Broadcast {
  /** Sends a message to the other tabs. */
  postMessage(message: unknown): void;
  /** Receives the messages of other tabs. */
  onmessage: ((event: { readonly data: unknown }) => void) | null;
  /** Stops sending and receiving. */
  close(): void;
}

/** The clock of the client. */
export interface ClientClock {
  /** Returns the milliseconds since 1970. */
  now(): number;
  /** Resolves after this time, or when the signal aborts. Never rejects. */
  wait(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

/** The milliseconds within which all tabs are assumed to see a write to `localStorage`. */
export const SEEN_WITHIN_MS = 100;

/** The replaceable parts of the platform. `null` means that the platform does not have the part. */
export interface ClientEnvironment {
  /** Sends a request. */
  readonly fetch: (input: string | Request, init?: RequestInit) => Promise<Response>;
  readonly clock: ClientClock;
  /** The locks that serialize refreshes across all tabs. `null`: see the default of the option `lock`. */
  readonly locks: WebLocks | null;
  /** The storage that all tabs share. */
  readonly localStorage: WebStorage | null;
  /** Opens a channel to the other tabs of the origin. */
  readonly openBroadcast: ((name: string) => Broadcast) | null;
}

/** Returns the environment of a browser window, a worker or Node.js, with the given parts replaced. */
export function resolveEnvironment(given: Partial<ClientEnvironment> = {}): ClientEnvironment {
  const { navigator, addEventListener } = scope;
  return {
    fetch: (input, init) => globalThis.fetch(input, init),
    clock: SYSTEM_CLOCK,
    locks: navigator?.locks ?? null,
    localStorage: webStorage('localStorage'),
    // Node.js also has a BroadcastChannel, for worker threads. An open channel would keep the process running.
    openBroadcast: addEventListener && typeof BroadcastChannel !== 'undefined' ? openBroadcast : null,
    ...given,
  };
}

/**
 * Returns the storage of the page, or null if there is none or it is not accessible. Reading the
 * property throws, for example, if the user blocks storage. Node.js 25 has a `localStorage` without methods.
 */
export function webStorage(name: 'localStorage' | 'sessionStorage'): WebStorage | null {
  try {
    const storage = scope[name];
    return storage?.getItem ? (storage as WebStorage) : null;
  } catch {
    return null;
  }
}

const warnings: string[] = [];

/** Warns the developer of the page, once for each text. */
export function warnOnce(text: string): void {
  if (!warnings.includes(text)) console.warn(`nestjs-session-auth: ${text}`);
  warnings.push(text);
}

const scope = globalThis as unknown as {
  readonly navigator?: { readonly locks?: WebLocks };
  readonly localStorage?: Partial<WebStorage>;
  readonly sessionStorage?: Partial<WebStorage>;
  readonly addEventListener?: unknown;
};

const SYSTEM_CLOCK: ClientClock = {
  now: () => Date.now(),
  wait: (milliseconds, signal) =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      signal?.addEventListener('abort', () => (clearTimeout(timer), resolve()));
    }),
};

function openBroadcast(name: string): Broadcast {
  return new BroadcastChannel(name) as unknown as Broadcast;
}
