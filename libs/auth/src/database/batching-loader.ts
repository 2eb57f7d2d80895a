/** The maximum number of keys in one statement. */
const MAX_KEYS = 128;

/** How long keys wait for the read in flight before another read starts in parallel. */
const SLOW_AFTER_MS = 50;

class PendingRead<T> {
  resolve!: (found: T | null) => void;
  reject!: (error: unknown) => void;
  readonly result = new Promise<T | null>((resolve, reject) => Object.assign(this, { resolve, reject }));
}

/**
 * Batches reads by key. A key that is requested while no read is in flight is read immediately. Further keys wait. When
 * a read ends, the next one reads up to `MAX_KEYS` of them. If a read takes longer than `SLOW_AFTER_MS`, all waiting
 * keys are read in parallel with it. Each value is read after the request for its key, and nothing is cached.
 */
export class BatchingLoader<T> {
  private waiting = new Map<string, PendingRead<T>>();
  /** The batch in flight, which delays new requests for at most `SLOW_AFTER_MS`. Null if there is none. */
  private current: object | null = null;
  /** One timer serves all reads, because restarting a timer is cheaper than creating one. */
  private slowTimer: NodeJS.Timeout | null = null;

  constructor(
    /** Reads these keys. The result has no entry for a key without a value. */
    private readonly read: (keys: readonly string[]) => Promise<ReadonlyMap<string, T>>,
  ) {}

  /** Returns the value of the key, or null if the key has no value. Rejects if the read fails. */
  get(key: string): Promise<T | null> {
    let pendingRead = this.waiting.get(key);
    if (!pendingRead) this.waiting.set(key, (pendingRead = new PendingRead()));
    if (!this.current) this.startRead();
    return pendingRead.result;
  }

  private startRead(): void {
    const waiting = [...this.waiting];
    const batch = new Map(waiting.slice(0, MAX_KEYS));
    this.waiting = new Map(waiting.slice(MAX_KEYS));
    this.current = batch;
    if (this.slowTimer) this.slowTimer.refresh();
    else this.slowTimer = setTimeout(() => this.readInParallel(), SLOW_AFTER_MS).unref();
    const finish = (): void => {
      if (this.current !== batch) return;
      this.current = null;
      if (this.waiting.size > 0) this.startRead();
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

  /** Reads all waiting keys. The pool limits the number of parallel reads, and the deadline their duration. */
  private readInParallel(): void {
    if (!this.current) return;
    this.current = null;
    while (this.waiting.size > 0) this.startRead();
  }
}
