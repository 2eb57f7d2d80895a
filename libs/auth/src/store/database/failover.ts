import { setTimeout as sleep } from 'node:timers/promises';
import type { Deadline } from './deadline';
import { isConnectionLost, isNotWritable, isTimeout } from './failure';

/** The pause between two attempts. */
const RETRY_AFTER_MS = 150;

/**
 * Retries operations whose server did not accept writes, until a server accepts writes or the deadline
 * passes. Meanwhile, one operation is retried at a time, so that the library does not open hundreds of
 * connections to a server that refuses them. When a retry finds a writable server, the waiting operations
 * are retried.
 */
export class Failover {
  /** The attempt in progress. Resolves to true if the attempt found a writable server. */
  private current: Promise<boolean> | null = null;
  private nextAt = 0;

  /** Runs the operation again, either after the attempt of another operation has succeeded, or as the next attempt. */
  async runAgain<T>(run: () => Promise<T>, deadline: Deadline): Promise<T> {
    while (this.current) {
      const succeeded = await this.current;
      deadline.failIfPassed();
      if (succeeded) return run();
    }
    return this.attempt(run, deadline);
  }

  private attempt<T>(run: () => Promise<T>, deadline: Deadline): Promise<T> {
    const outcome = this.runWhenDue(run, deadline);
    this.current = new Promise<boolean>((resolve) => {
      // If an attempt hangs, other operations wait only until the deadline of that attempt.
      const giveUp = (): void => resolve(false);
      deadline.onPassed(giveUp);
      outcome
        .then(
          () => resolve(true),
          (error: unknown) => resolve(!foundNoWritableServer(error)),
        )
        .finally(() => deadline.offPassed(giveUp));
    }).then((succeeded) => {
      this.current = null;
      this.nextAt = performance.now() + RETRY_AFTER_MS;
      return succeeded;
    });
    return outcome;
  }

  private async runWhenDue<T>(run: () => Promise<T>, deadline: Deadline): Promise<T> {
    const wait = this.nextAt - performance.now();
    if (wait > 0) await sleep(wait);
    deadline.failIfPassed();
    return run();
  }
}

function foundNoWritableServer(error: unknown): boolean {
  return isNotWritable(error) || isConnectionLost(error) || isTimeout(error);
}
