import { isConnectionLost } from './failure';

/** The deadline of an operation. Much cheaper to create than an `AbortSignal`. */
export class Deadline {
  /** The value of `performance.now()` at the deadline. */
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

  /** Whether a commit may have succeeded although the server has not confirmed the commit. */
  get outcomeUnknown(): boolean {
    return this.isCommitting || this.hasLostCommit;
  }

  /** Sends a COMMIT, or a statement that commits itself. The outcome is unknown until the server responds. */
  async commit<T>(send: () => Promise<T>): Promise<T> {
    this.isCommitting = true;
    try {
      return await send();
    } catch (error) {
      this.hasLostCommit ||= isConnectionLost(error);
      throw error;
    } finally {
      // After the deadline, the connection is torn down and the server's response is lost. The outcome
      // stays unknown.
      this.isCommitting = this.hasPassed;
    }
  }

  onPassed(listener: () => void): void {
    this.listeners.add(listener);
  }

  offPassed(listener: () => void): void {
    this.listeners.delete(listener);
  }

  /** Throws an error with the code `TIMEOUT` if the deadline has passed. Called before statements are sent. */
  failIfPassed(): void {
    if (this.hasPassed) throw timeout('The deadline of the operation has passed.');
  }

  /** Stops the timer. Listeners are no longer called. */
  clear(): void {
    clearTimeout(this.timer);
  }
}

/** The time that several operations share. */
export class TimeBudget {
  private readonly endsAt: number;

  constructor(milliseconds: number) {
    this.endsAt = performance.now() + milliseconds;
  }

  get remainingMs(): number {
    return this.endsAt - performance.now();
  }
}

/**
 * Runs work with a deadline, and rejects if the deadline passes first. The work itself may continue until
 * its next check of the deadline.
 */
export function raceWithDeadline<T>(milliseconds: number, work: (deadline: Deadline) => Promise<T>): Promise<T> {
  return awaitWithDeadline(milliseconds, (deadline) => {
    const passed = new Promise<never>((_, reject) =>
      deadline.onPassed(() => reject(timeout('The database did not answer in time.'))),
    );
    return Promise.race([work(deadline), passed]);
  });
}

/** Runs work with a deadline and waits until the work has ended. None of its statements is in flight afterwards. */
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
