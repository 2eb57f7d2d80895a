/** Keys of one statement. */
const MOST_AT_ONCE = 128;

/** A read that has not come back by then keeps those behind it waiting no longer: the next goes out beside it. */
const SLOW_AFTER_MS = 50;

class Waiting<T> {
  resolve!: (found: T | null) => void;
  reject!: (error: unknown) => void;
  readonly answer = new Promise<T | null>((resolve, reject) => Object.assign(this, { resolve, reject }));
}

/**
 * Reads by key that go out together: while one read is under way, those that come are gathered for the next. One that
 * finds none under way goes out at once. So every answer was read after it was asked for, and nothing is cached.
 */
export class BatchingLoader<T> {
  private waiting = new Map<string, Waiting<T>>();
  /** The read that others wait for. */
  private current: object | null = null;
  /** One timer for all reads: starting it again costs less than a new one. */
  private slow: NodeJS.Timeout | null = null;

  constructor(
    /** What is found of these keys; a key that is not in the answer has nothing. */
    private readonly read: (keys: readonly string[]) => Promise<ReadonlyMap<string, T>>,
  ) {}

  /** What the key has, or null. Rejects when the read fails. */
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

  /** Each read starts it again, so it ends when the latest one is slow, or when nothing is under way. */
  private startTimer(): void {
    if (this.slow) this.slow.refresh();
    else this.slow = setTimeout(() => this.passSlowRead(), SLOW_AFTER_MS).unref();
  }

  /** The pool bounds how many go out at the same time, and the deadline of each how long that takes. */
  private passSlowRead(): void {
    if (!this.current) return;
    this.sendNext();
    while (this.waiting.size > 0) this.sendOut();
  }

  private take(): ReadonlyMap<string, Waiting<T>> {
    const all = this.waiting;
    if (all.size <= MOST_AT_ONCE) {
      this.waiting = new Map();
      return all;
    }
    const batch = new Map([...all].slice(0, MOST_AT_ONCE));
    for (const key of batch.keys()) all.delete(key);
    return batch;
  }
}
