/** The part of `localStorage` and `sessionStorage` that the client uses. */
export interface WebStorage {
  /** Returns the text of this key, or null. */
  getItem(key: string): string | null;
  /** Stores it. Throws where the quota is exceeded, or the user forbids it. */
  setItem(key: string, value: string): void;
  /** Removes it. */
  removeItem(key: string): void;
}

/** The part of `navigator.locks` that the client uses. */
export interface WebLocks {
  /** Runs the work while no other tab of the origin holds the lock of this name. */
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
  /** Milliseconds since 1970. */
  now(): number;
  /** Resolves after this time, or when the signal aborts. It never rejects. */
  wait(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

/** All tabs see a write to `localStorage` within this time. */
export const SEEN_WITHIN_MS = 100;

/** The platform of a client. Each part can be replaced; `null` means that there is none. */
export interface ClientEnvironment {
  /** Sends a request. */
  readonly fetch: (input: string | Request, init?: RequestInit) => Promise<Response>;
  readonly clock: ClientClock;
  /** False where there may be no network. The client then asks the server before it sends a refresh token. */
  readonly isOnline: () => boolean;
  /** Serializes refreshes over all tabs. Without it a lease in `localStorage` does. */
  readonly locks: WebLocks | null;
  /** Shared by all tabs. */
  readonly localStorage: WebStorage | null;
  /** Opens a channel to the other tabs of the origin. */
  readonly openBroadcast: ((name: string) => Broadcast) | null;
  /** Calls when another tab writes to `localStorage`. Returns a function that stops it. */
  readonly onStorage: ((changed: (key: string | null, value: string | null) => unknown) => () => void) | null;
  /** Reports what the developer of the page should change. */
  readonly warn: (message: string) => void;
}

/** The environment of a browser window, a worker or Node, with the given parts replaced. */
export function resolveEnvironment(given: Partial<ClientEnvironment> = {}): ClientEnvironment {
  const { navigator, addEventListener, removeEventListener } = scope;
  return {
    fetch: (input, init) => globalThis.fetch(input, init),
    clock: SYSTEM_CLOCK,
    isOnline: () => navigator?.onLine !== false,
    locks: navigator?.locks ?? null,
    localStorage: webStorage('localStorage'),
    // Node has a BroadcastChannel too, for its threads; it would keep the process from exiting.
    openBroadcast: addEventListener && typeof BroadcastChannel !== 'undefined' ? openBroadcast : null,
    onStorage: addEventListener && removeEventListener ? onStorage : null,
    warn: console.warn,
    ...given,
  };
}

/** The storage of the page, or null where there is none or the user forbids it: then reading the property throws. */
export function webStorage(name: 'localStorage' | 'sessionStorage'): WebStorage | null {
  try {
    return scope[name] ?? null;
  } catch {
    return null;
  }
}

type StorageListener = (event: { readonly key: string | null; readonly newValue: string | null }) => void;

const scope = globalThis as unknown as {
  readonly navigator?: { readonly onLine?: boolean; readonly locks?: WebLocks };
  readonly localStorage?: WebStorage;
  readonly sessionStorage?: WebStorage;
  readonly addEventListener?: (type: 'storage', listener: StorageListener) => void;
  readonly removeEventListener?: (type: 'storage', listener: StorageListener) => void;
};

const SYSTEM_CLOCK: ClientClock = {
  now: () => Date.now(),
  wait: (milliseconds, signal) =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      signal?.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true });
    }),
};

function openBroadcast(name: string): Broadcast {
  return new BroadcastChannel(name) as unknown as Broadcast;
}

function onStorage(changed: (key: string | null, value: string | null) => unknown): () => void {
  const listener: StorageListener = ({ key, newValue }) => changed(key, newValue);
  scope.addEventListener?.('storage', listener);
  return () => scope.removeEventListener?.('storage', listener);
}
