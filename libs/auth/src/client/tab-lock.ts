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

/** Whoever was last in line for a lock, while there is anybody. */
const lines = new Map<TokenStorage | string, Promise<unknown>>();

/** In one process: clients that were given one storage share its lock, or those of one name. */
export function processLock(key: TokenStorage | string): TabLock {
  return {
    run(work) {
      const running = (lines.get(key) ?? Promise.resolve()).then(work);
      const last: Promise<unknown> = running
        .catch(() => undefined)
        .then(() => {
          if (lines.get(key) === last) lines.delete(key);
        });
      lines.set(key, last);
      return running;
    },
  };
}
