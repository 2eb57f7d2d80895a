import { AsyncResource } from 'node:async_hooks';

const MAX_KEYS_PER_READ = 128;

/** How long keys wait for the read in flight before another read starts in parallel. */
const SLOW_AFTER_MS = 50;

class PendingRead<T> {
  resolve!: (found: T | null) => void;
  reject!: (error: unknown) => void;
  readonly result = new Promise<T | null>((resolve, reject) => Object.assign(this, { resolve, reject }));
}

/**
 * Batches reads by key. Keys that are requested while a read is in flight wait for its end, or `SLOW_AFTER_MS`, and are
 * then read together. Each value is read after the request for its key. Nothing is cached.
 */
export class BatchingLoader<T> {
  private waiting = new Map<string, PendingRead<T>>();
  /** The batch in flight, which delays new requests for at most `SLOW_AFTER_MS`. */
  private current: object | null = null;
  /** One timer serves all reads, because restarting a timer is cheaper than creating one. */
  private slowTimer: NodeJS.Timeout | null = null;
  /** The asynchronous context of the next read: that of its first caller, so that traces show it there. */
  private nextCaller: AsyncResource | null = null;

  constructor(private readonly read: (keys: readonly string[]) => Promise<ReadonlyMap<string, T>>) {}

  get(key: string): Promise<T | null> {
    let pendingRead = this.waiting.get(key);
    if (!pendingRead) this.waiting.set(key, (pendingRead = new PendingRead()));
    if (!this.current) this.startRead();
    else this.nextCaller ??= new AsyncResource('BatchingLoader');
    return pendingRead.result;
  }

  private startRead(): void {
    const waiting = [...this.waiting];
    const batch = new Map(waiting.slice(0, MAX_KEYS_PER_READ));
    this.waiting = new Map(waiting.slice(MAX_KEYS_PER_READ));
    if (this.waiting.size === 0) this.nextCaller = null;
    this.current = batch;
    if (this.slowTimer) this.slowTimer.refresh();
    else this.slowTimer = setTimeout(() => this.readInParallel(), SLOW_AFTER_MS).unref();
    const finish = (): void => {
      if (this.current !== batch) return;
      this.current = null;
      this.startNext();
    };
    this.read([...batch.keys()]).then(
      (found) => {
        finish();
        for (const [key, { resolve }] of batch) resolve(found.get(key) ?? null);
      },
      (error: unknown) => {
        finish();
        for (const { reject } of batch.values()) reject(error);
      },
    );
  }

  /** The pool limits the number of parallel reads, and the deadline their duration. */
  private readInParallel(): void {
    if (!this.current) return;
    this.current = null;
    while (this.nextCaller) this.startNext();
  }

  private startNext(): void {
    this.nextCaller?.runInAsyncScope(() => this.startRead());
  }
}
