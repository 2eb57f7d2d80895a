/** The most keys of one statement. */
const MAX_KEYS = 128;

/** How long keys wait for the read in flight. After that they are read beside it. */
const SLOW_AFTER_MS = 50;

class Waiting<T> {
  resolve!: (found: T | null) => void;
  reject!: (error: unknown) => void;
  readonly answer = new Promise<T | null>((resolve, reject) => Object.assign(this, { resolve, reject }));
}

/**
 * Batches reads by key: while a read is in flight, further keys wait for the next one. A key that finds none in flight is
 * read immediately. So each result was read after it was requested, and nothing is cached.
 */
export class BatchingLoader<T> {
  private waiting = new Map<string, Waiting<T>>();
  /** The read that others wait for. */
  private current: object | null = null;
  /** One timer for all reads: starting it again costs less than a new one. */
  private slowTimer: NodeJS.Timeout | null = null;

  constructor(
    /** Reads these keys. A key that is missing in the result has nothing. */
    private readonly read: (keys: readonly string[]) => Promise<ReadonlyMap<string, T>>,
  ) {}

  /** Returns what the key has, or null. Rejects when the read fails. */
  get(key: string): Promise<T | null> {
    let one = this.waiting.get(key);
    if (!one) this.waiting.set(key, (one = new Waiting()));
    if (!this.current) this.sendOut();
    return one.answer;
  }

  private sendOut(): void {
    const batch = this.take();
    this.current = batch;
    this.startTimer();
    const finish = (): void => {
      if (this.current === batch) this.sendNext();
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

  private sendNext(): void {
    this.current = null;
    if (this.waiting.size > 0) this.sendOut();
  }

  /** Restarts the timer for the read that was just sent. */
  private startTimer(): void {
    if (this.slowTimer) this.slowTimer.refresh();
    else this.slowTimer = setTimeout(() => this.readBesideSlow(), SLOW_AFTER_MS).unref();
  }

  /** Reads all waiting keys beside a slow read. The pool limits how many statements run, the deadline how long. */
  private readBesideSlow(): void {
    if (!this.current) return;
    this.sendNext();
    while (this.waiting.size > 0) this.sendOut();
  }

  private take(): ReadonlyMap<string, Waiting<T>> {
    const all = this.waiting;
    if (all.size <= MAX_KEYS) {
      this.waiting = new Map();
      return all;
    }
    const batch = new Map([...all].slice(0, MAX_KEYS));
    for (const key of batch.keys()) all.delete(key);
    return batch;
  }
}
