import { setTimeout as sleep } from 'node:timers/promises';
import type { Deadline } from './deadline';
import { isConnectionLost, isNotWritable, isTimeout } from './failure';

/** How long after such an attempt the next one begins. */
const RETRY_AFTER_MS = 150;

/**
 * Runs operations again that found a server which takes no writes, while a proxy or the application's address of the server
 * leads to another one. One of them tries at a time, and the others follow when it got through: they do not open
 * connections by the hundred to a server that refuses all of them.
 */
export class Failover {
  /** The attempt that the others wait for: whether it got through. */
  private current: Promise<boolean> | null = null;
  private nextAt = 0;

  /** Runs the operation once more, when it is its turn. */
  async runAgain<T>(run: () => Promise<T>, deadline: Deadline): Promise<T> {
    while (this.current) {
      const gotThrough = await this.current;
      deadline.failIfPassed();
      if (gotThrough) return run();
    }
    return this.tryFirst(run, deadline);
  }

  private tryFirst<T>(run: () => Promise<T>, deadline: Deadline): Promise<T> {
    const attempt = this.runWhenDue(run, deadline);
    this.current = new Promise<boolean>((resolve) => {
      // An attempt that hangs keeps the others waiting no longer than its own caller.
      const giveUp = (): void => resolve(false);
      deadline.onPassed(giveUp);
      attempt
        .then(
          () => resolve(true),
          (error: unknown) => resolve(!foundNoServer(error)),
        )
        .finally(() => deadline.offPassed(giveUp));
    }).then((gotThrough) => {
      this.current = null;
      this.nextAt = performance.now() + RETRY_AFTER_MS;
      return gotThrough;
    });
    return attempt;
  }

  private async runWhenDue<T>(run: () => Promise<T>, deadline: Deadline): Promise<T> {
    const wait = this.nextAt - performance.now();
    if (wait > 0) await sleep(wait);
    deadline.failIfPassed();
    return run();
  }
}

function foundNoServer(error: unknown): boolean {
  return isNotWritable(error) || isConnectionLost(error) || isTimeout(error);
}
