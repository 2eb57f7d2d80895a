import type { ClientEnvironment } from './environment.js';
import { LeaseLock } from './lease-lock.js';
import { processLock, webLock, type TabLock } from './tab-lock.js';
import type { TokenStorage } from './token-storage.js';

/** The lock that fits the reach of the storage and what there is. */
export function lockFor(storage: TokenStorage, name: string, leaseMs: number, world: ClientEnvironment): TabLock {
  if (storage.reach === 'client') return processLock(storage);
  if (world.locks) return webLock(world.locks, name);
  if (world.localStorage) return new LeaseLock(world.localStorage, name, leaseMs, world.clock);
  return processLock(name);
}
