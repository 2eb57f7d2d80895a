import { isConnectionLost } from './failure';

/** The deadline of an operation. Each statement needs one, and it is much cheaper to create than an `AbortSignal`. */
export class Deadline {
  /** By `performance.now()`. */
  private readonly at: number;
  private readonly listeners = new Set<() => void>();
  private readonly timer: NodeJS.Timeout;
  private isCommitting = false;
  private hasLostCommit = false;
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

  /** Whether something that was committed by now may have been done, although nobody was told. */
  get outcomeUnknown(): boolean {
    return this.isCommitting || this.hasLostCommit;
  }

  /** Sends a COMMIT, or a statement that commits itself. Until it is answered its outcome is unknown. */
  async commit<T>(send: () => Promise<T>): Promise<T> {
    this.isCommitting = true;
    try {
      return await send();
    } catch (error) {
      this.hasLostCommit ||= isConnectionLost(error);
      throw error;
    } finally {
      // Torn down because the deadline passed, it is not answered: that it is unknown must outlast this.
      this.isCommitting = this.hasPassed;
    }
  }

  onPassed(listener: () => void): void {
    this.listeners.add(listener);
  }

  offPassed(listener: () => void): void {
    this.listeners.delete(listener);
  }

  /** Stops work whose caller has been answered, before it changes anything more. */
  failIfPassed(): void {
    if (this.hasPassed) throw timeout('the deadline has passed');
  }

  /** The work is done: no listener is called any more. */
  clear(): void {
    clearTimeout(this.timer);
  }
}

/** The time that several operations have together. */
export class TimeBudget {
  private readonly endsAt: number;

  constructor(milliseconds: number) {
    this.endsAt = performance.now() + milliseconds;
  }

  get remainingMs(): number {
    return this.endsAt - performance.now();
  }
}

/** Runs work with a deadline. The deadline ends the wait, not the work, which finds it passed and rolls back. */
export function raceWithDeadline<T>(milliseconds: number, work: (deadline: Deadline) => Promise<T>): Promise<T> {
  return awaitWithDeadline(milliseconds, (deadline) => {
    const passed = new Promise<never>((_, reject) => deadline.onPassed(() => reject(timeout('no answer in time'))));
    return Promise.race([work(deadline), passed]);
  });
}

/** Runs work with a deadline and waits until it has ended: no statement of it is in flight afterwards. */
export async function awaitWithDeadline<T>(milliseconds: number, work: (deadline: Deadline) => Promise<T>): Promise<T> {
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
