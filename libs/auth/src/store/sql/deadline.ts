/** The time that a piece of work has. An `AbortSignal` would do as well, at twenty times the price, and each statement needs one. */
export class Deadline {
  /** Its end, by `performance.now()`. */
  private readonly at: number;
  private readonly listeners = new Set<() => void>();
  private readonly timer: NodeJS.Timeout;
  private isPast = false;

  constructor(milliseconds: number) {
    this.at = performance.now() + milliseconds;
    this.timer = setTimeout(() => {
      this.isPast = true;
      for (const listener of this.listeners) listener();
    }, milliseconds);
  }

  get isOver(): boolean {
    return this.isPast;
  }

  /** Milliseconds. */
  get left(): number {
    return this.at - performance.now();
  }

  onOver(listener: () => void): void {
    this.listeners.add(listener);
  }

  offOver(listener: () => void): void {
    this.listeners.delete(listener);
  }

  /** Stops work whose caller is gone, before it changes anything more. */
  assertInTime(): void {
    if (this.isPast) throw late('too late');
  }

  /** The work is done: nobody is told of its end any more. */
  clear(): void {
    clearTimeout(this.timer);
  }
}

/** Ends the wait, not the work: that one sees its deadline over and rolls back. */
export async function within<T>(milliseconds: number, work: (deadline: Deadline) => Promise<T>): Promise<T> {
  const deadline = new Deadline(milliseconds);
  const end = new Promise<never>((_, reject) => deadline.onOver(() => reject(late('no answer in time'))));
  try {
    return await Promise.race([work(deadline), end]);
  } finally {
    deadline.clear();
  }
}

/** The same, but the work is waited for to its end: whatever is under way then is the last of it. */
export async function withinOrLater<T>(milliseconds: number, work: (deadline: Deadline) => Promise<T>): Promise<T> {
  const deadline = new Deadline(milliseconds);
  try {
    return await work(deadline);
  } finally {
    deadline.clear();
  }
}

function late(message: string): Error {
  return Object.assign(new Error(message), { code: 'TIMEOUT' });
}
