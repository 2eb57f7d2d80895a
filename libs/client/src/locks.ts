import { SEEN_WITHIN_MS, type ClientClock, type ClientEnvironment, type WebStorage } from './environment.js';
import type { TokenStorage } from './token-storage.js';
import { parseJson, recordOf } from './wire.js';

/** A mutual exclusion of all clients that hold the same tokens. */
export interface TabLock {
  /** Runs the work while no other client runs its own. A tab that is closed releases the lock. */
  run<T>(work: () => Promise<T>): Promise<T>;
}

/** The lock that fits the reach of the storage and the platform. */
export function lockFor(storage: TokenStorage, name: string, leaseMs: number, environment: ClientEnvironment): TabLock {
  const { locks, localStorage, onStorage, clock, warn } = environment;
  if (storage.reach === 'client') return processLock(storage);
  if (locks) return { run: (work) => locks.request(name, work) };
  if (onStorage) warnOnce(warn, localStorage !== null);
  return localStorage ? leaseLock(localStorage, name, leaseMs, clock) : processLock(name);
}

let hasWarned = false;

/** One process needs no more than its own queue; the tabs of a page do. */
function warnOnce(warn: (message: string) => void, hasLease: boolean): void {
  if (hasWarned) return;
  hasWarned = true;
  const instead = hasLease ? 'take turns by a lease in localStorage' : 'refresh at the same time';
  warn(`Without HTTPS there are no Web Locks: tabs ${instead} (nestjs-session-auth-client).`);
}

/** The last work in the queue of each lock. */
const queues = new Map<TokenStorage | string, Promise<void>>();

/** Clients of one process share the lock of their storage object, or of their name. */
function processLock(key: TokenStorage | string): TabLock {
  return {
    run(work) {
      const running = (queues.get(key) ?? Promise.resolve()).then(work);
      const release = (): void => {
        if (queues.get(key) === last) queues.delete(key);
      };
      const last = running.then(release, release);
      queues.set(key, last);
      return running;
    },
  };
}

/** Others may claim until they see the first claim, and their claims have to be seen as well. */
const SETTLE_MS = 2.5 * SEEN_WITHIN_MS;
const POLL_MS = 100;

/**
 * A lease in `localStorage`, longer than any work takes: a tab writes a claim, waits until all tabs
 * see all claims, and holds the lease if its own claim is the last (Fischer's algorithm). The lease
 * of a closed tab expires.
 */
function leaseLock(storage: WebStorage, key: string, leaseMs: number, clock: ClientClock): TabLock {
  const holder = (): unknown => {
    const { owner, until } = recordOf(parseJson(storage.getItem(key)));
    const remainingMs = Number(until) - clock.now();
    // A longer lease was written before the clock was set back.
    return remainingMs > 0 && remainingMs <= leaseMs ? owner : null;
  };
  return {
    async run(work) {
      // `crypto.randomUUID` exists in secure contexts only, where Web Locks mostly exist too.
      const self = crypto.getRandomValues(new Uint32Array(4)).join('-');
      while (holder() !== self) {
        const isFree = !holder();
        if (isFree) storage.setItem(key, JSON.stringify({ owner: self, until: clock.now() + leaseMs }));
        await clock.wait(isFree ? SETTLE_MS : POLL_MS);
      }
      try {
        return await work();
      } finally {
        if (holder() === self) storage.removeItem(key);
      }
    },
  };
}
