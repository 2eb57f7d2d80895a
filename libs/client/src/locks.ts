import { SEEN_WITHIN_MS, warnOnce, type ClientClock, type ClientEnvironment, type WebStorage } from './environment.js';
import type { TokenStorage } from './token-storage.js';
import { parseJson, recordOf } from './wire.js';

/** A lock that all clients with the same tokens share. */
export interface TabLock {
  /** Runs the work while holding the lock. A closed tab must not hold its lock forever. */
  run<T>(work: () => Promise<T>): Promise<T>;
}

/** Returns the lock that fits the storage and the platform. */
export function lockFor(storage: TokenStorage, name: string, leaseMs: number, environment: ClientEnvironment): TabLock {
  const { locks, localStorage, openBroadcast, clock } = environment;
  if (storage.reach === 'client') return processLock(storage);
  if (locks) return { run: (work) => locks.request(name, work) };
  if (openBroadcast) {
    const fallback = localStorage ? 'use a lease in localStorage' : 'refresh at the same time';
    warnOnce(`Without HTTPS, tabs ${fallback}.`);
  }
  return localStorage ? leaseLock(localStorage, name, leaseMs, clock) : processLock(name);
}

/** The last work in the queue of each lock in this process. */
const queues = new Map<TokenStorage | string, Promise<void>>();

/** Returns the lock of a storage object or a name, which is shared by all clients in this process. */
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

/**
 * How long a tab waits after it has written a claim, in milliseconds. Other tabs may write claims until they see
 * this claim, and all of these claims must become visible.
 */
const CLAIM_WAIT_MS = 2.5 * SEEN_WITHIN_MS;
const POLL_MS = 100;

/**
 * Returns a lock that is a lease in `localStorage`. A tab writes a claim, waits until all tabs see
 * all claims, and holds the lease if its own claim is the last one (Fischer's algorithm). A lease
 * normally outlasts the work. The lease of a closed tab remains until it expires.
 */
function leaseLock(storage: WebStorage, key: string, leaseMs: number, clock: ClientClock): TabLock {
  const holder = (): unknown => {
    const { owner, until } = recordOf(parseJson(storage.getItem(key)));
    const remainingMs = Number(until) - clock.now();
    // A lease with more time left than `leaseMs` is ignored: the clock was probably set back.
    return remainingMs > 0 && remainingMs <= leaseMs ? owner : null;
  };
  return {
    async run(work) {
      // `crypto.randomUUID` would require a secure context, which most pages without Web Locks lack.
      const self = crypto.getRandomValues(new Uint32Array(4)).join('-');
      while (holder() !== self) {
        const isFree = !holder();
        if (isFree) storage.setItem(key, JSON.stringify({ owner: self, until: clock.now() + leaseMs }));
        await clock.wait(isFree ? CLAIM_WAIT_MS : POLL_MS);
      }
      try {
        return await work();
      } finally {
        if (holder() === self) storage.removeItem(key);
      }
    },
  };
}
