import type { WebLocks } from './environment.js';
import type { TokenStorage } from './token-storage.js';

/** One at a time, over all that hold the same tokens. */
export interface TabLock {
  /** Runs the work when nobody else's is running. A tab that is closed holds nothing any longer. */
  run<T>(work: () => Promise<T>): Promise<T>;
}

/** Web Locks: the browser gives a lock back when its tab is closed or crashes. */
export function webLock(locks: WebLocks, name: string): TabLock {
  return { run: (work) => locks.request(name, work) };
}

const ofStorages = new WeakMap<TokenStorage, TabLock>();

/** In one process: clients that were given one storage share its lock. */
export function processLock(storage: TokenStorage): TabLock {
  const known = ofStorages.get(storage);
  if (known) return known;
  let last: Promise<unknown> = Promise.resolve();
  const lock: TabLock = {
    run(work) {
      const running = last.then(work);
      last = running.catch(() => undefined);
      return running;
    },
  };
  ofStorages.set(storage, lock);
  return lock;
}
