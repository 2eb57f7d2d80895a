/** What the client needs of `localStorage` and `sessionStorage`. */
export interface WebStorage {
  /** The text under this key, or null. */
  getItem(key: string): string | null;
  /** Keeps it. Throws where there is no room, or the user forbids it. */
  setItem(key: string, value: string): void;
  /** Forgets it. */
  removeItem(key: string): void;
}

/** What the client needs of `navigator.locks`. */
export interface WebLocks {
  /** Runs the work while nobody else of the origin has the lock of this name. */
  request<T>(name: string, work: () => Promise<T>): Promise<T>;
}

/** What the client needs of a `BroadcastChannel`. */
export interface Broadcast {
  /** Sends it to the other tabs. */
  postMessage(message: unknown): void;
  /** Called with what another tab has sent. */
  onmessage: ((event: { readonly data: unknown }) => void) | null;
  /** Hears and sends nothing any more. */
  close(): void;
}

/** Where the client has its time from. */
export interface ClientClock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Resolves after so many milliseconds, or when the signal aborts: it never rejects. */
  wait(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

/** What one tab writes to a storage is seen by every other one within this time. */
export const SEEN_WITHIN_MS = 100;

/** The outside world of a client. Each part can be given; `null` says that there is no such thing. */
export interface ClientEnvironment {
  /** The platform's own. */
  readonly fetch: (input: string | Request, init?: RequestInit) => Promise<Response>;
  readonly clock: ClientClock;
  /** False where it is known that no request can leave. */
  readonly isOnline: () => boolean;
  /** Makes sure of one refresh at a time over all tabs. Without it a lease in `localStorage` does. */
  readonly locks: WebLocks | null;
  /** Shared by all tabs. */
  readonly localStorage: WebStorage | null;
  /** A channel to the other tabs of the origin. */
  readonly openBroadcast: ((name: string) => Broadcast) | null;
  /** Calls when another tab has written to `localStorage`; gives back what stops it. */
  readonly onStorage: ((changed: (key: string | null, value: string | null) => void) => () => void) | null;
}

/** A browser window, a worker, or Node. */
export function surroundings(given: Partial<ClientEnvironment> = {}): ClientEnvironment {
  return {
    fetch: (input, init) => globalThis.fetch(input, init),
    clock: SYSTEM_CLOCK,
    isOnline: () => scope.navigator?.onLine !== false,
    locks: scope.navigator?.locks ?? null,
    localStorage: webStorage('localStorage'),
    // Node has one as well, for its threads; there it would keep a process from ending.
    openBroadcast: scope.addEventListener && typeof BroadcastChannel !== 'undefined' ? openBroadcast : null,
    onStorage: scope.addEventListener && scope.removeEventListener ? onStorage : null,
    ...given,
  };
}

/** The storage of the page, or null where there is none or the user forbids it: then to look at it throws. */
export function webStorage(name: 'localStorage' | 'sessionStorage'): WebStorage | null {
  try {
    return scope[name] ?? null;
  } catch {
    return null;
  }
}

interface StorageChange {
  readonly key: string | null;
  readonly newValue: string | null;
}

const scope = globalThis as unknown as {
  readonly navigator?: { readonly onLine?: boolean; readonly locks?: WebLocks };
  readonly localStorage?: WebStorage;
  readonly sessionStorage?: WebStorage;
  readonly addEventListener?: (type: 'storage', listener: (event: StorageChange) => void) => void;
  readonly removeEventListener?: (type: 'storage', listener: (event: StorageChange) => void) => void;
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

function onStorage(changed: (key: string | null, value: string | null) => void): () => void {
  const listener = ({ key, newValue }: StorageChange): void => changed(key, newValue);
  scope.addEventListener?.('storage', listener);
  return () => scope.removeEventListener?.('storage', listener);
}
