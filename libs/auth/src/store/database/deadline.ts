/** The time that a piece of work has. An `AbortSignal` costs twenty times as much, and each statement needs one. */
export class Deadline {
  /** By `performance.now()`. */
  private readonly at: number;
  private readonly listeners = new Set<() => void>();
  private readonly timer: NodeJS.Timeout;
  hasPassed = false;

  constructor(milliseconds: number) {
    this.at = performance.now() + milliseconds;
    this.timer = setTimeout(() => {
      this.hasPassed = true;
      for (const listener of this.listeners) listener();
    }, milliseconds);
  }

  get remainingMs(): number {
    return this.at - performance.now();
  }

  onPassed(listener: () => void): void {
    this.listeners.add(listener);
  }

  offPassed(listener: () => void): void {
    this.listeners.delete(listener);
  }

  /** Stops work whose caller has been answered, before it changes anything more. */
  failIfPassed(): void {
    if (this.hasPassed) throw timeout('too late');
  }

  /** The work is done: no listener is called any more. */
  clear(): void {
    clearTimeout(this.timer);
  }
}

/** How much of a time is left. */
export class TimeBudget {
  private readonly endsAt: number;

  constructor(milliseconds: number) {
    this.endsAt = performance.now() + milliseconds;
  }

  get remainingMs(): number {
    return this.endsAt - performance.now();
  }
}

/** Ends the wait, not the work: the work finds its deadline passed and rolls back. */
export function within<T>(milliseconds: number, work: (deadline: Deadline) => Promise<T>): Promise<T> {
  return withinAndFinished(milliseconds, (deadline) => {
    const passed = new Promise<never>((_, reject) => deadline.onPassed(() => reject(timeout('no answer in time'))));
    return Promise.race([work(deadline), passed]);
  });
}

/** The same, but waits until the work has ended: no statement of it is under way afterwards. */
export async function withinAndFinished<T>(milliseconds: number, work: (deadline: Deadline) => Promise<T>): Promise<T> {
  const deadline = new Deadline(milliseconds);
  try {
    return await work(deadline);
  } finally {
    deadline.clear();
  }
}

function timeout(message: string): Error {
  return Object.assign(new Error(message), { code: 'TIMEOUT' });
}
