import { SEEN_WITHIN_MS, type ClientClock, type WebStorage } from './environment.js';
import type { TabLock } from './tab-lock.js';
import { isRecord, parseJson } from './wire.js';

/** Others may claim until they see the first claim; theirs have to be seen as well. */
const SETTLE_MS = 2.5 * SEEN_WITHIN_MS;
const POLL_MS = 100;

/**
 * Where Web Locks are missing: a lease in `localStorage`. Who finds it free writes a claim, waits until everybody's claim is seen by
 * everybody, and has it if the claim that lasted is the own one (Fischer's algorithm). A tab that is closed leaves its lease to
 * run out.
 */
export class LeaseLock implements TabLock {
  constructor(
    private readonly storage: WebStorage,
    private readonly key: string,
    /** Longer than any work takes. */
    private readonly leaseMs: number,
    private readonly clock: ClientClock,
  ) {}

  async run<T>(work: () => Promise<T>): Promise<T> {
    const owner = randomName();
    await this.acquire(owner);
    try {
      return await work();
    } finally {
      if (this.lease()?.owner === owner) this.storage.removeItem(this.key);
    }
  }

  private async acquire(owner: string): Promise<void> {
    for (;;) {
      if (this.lease()) {
        await this.clock.wait(POLL_MS);
        continue;
      }
      this.storage.setItem(this.key, JSON.stringify({ owner, until: this.clock.now() + this.leaseMs }));
      await this.clock.wait(SETTLE_MS);
      if (this.lease()?.owner === owner) return;
    }
  }

  /** The lease that somebody has. One that ends later than any could was written before the clock was put back. */
  private lease(): { readonly owner: string } | null {
    const stored = parse(this.storage.getItem(this.key));
    const now = this.clock.now();
    return stored && stored.until > now && stored.until <= now + this.leaseMs ? stored : null;
  }
}

function parse(stored: string | null): { owner: string; until: number } | null {
  const value = parseJson(stored);
  if (!isRecord(value)) return null;
  const { owner, until } = value;
  return typeof owner === 'string' && typeof until === 'number' ? { owner, until } : null;
}

/** `crypto.randomUUID` is there in secure contexts only, where Web Locks mostly are as well. */
function randomName(): string {
  return Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join('-');
}
