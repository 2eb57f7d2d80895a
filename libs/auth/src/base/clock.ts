import type { Logger } from '@nestjs/common';
import { toFailureReport } from './failures';

/** The source of the current time. */
export abstract class Clock {
  /** Returns the current time in milliseconds since 1970-01-01T00:00:00Z. */
  abstract now(): number;
}

export class SystemClock extends Clock {
  now(): number {
    return Date.now();
  }
}

/** Returns whether an instant is less than `durationMs` ago. One over 10 s ahead shows that a clock was set back. */
export function isWithinLast(durationMs: number, at: number, now: number): boolean {
  return now - at < durationMs && at - now <= 10_000;
}

export class OncePerMinute {
  private lastRunAt = -Infinity;

  constructor(private readonly clock: Pick<Clock, 'now'>) {}

  run(report: () => void): void {
    const now = this.clock.now();
    if (now - this.lastRunAt < 60_000) return;
    this.lastRunAt = now;
    report();
  }

  logError(logger: Logger, problem: string, error: unknown): void {
    this.run(() => {
      const { summary, stack } = toFailureReport(error);
      logger.error(`${problem} (logged once a minute). ${summary}`, stack);
    });
  }
}

/** Returns the result of the work, or of `onTimeout` after `milliseconds`. The work is not canceled. */
export async function withTimeout<T>(milliseconds: number, work: Promise<T>, onTimeout: () => T): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => (timer = setTimeout(resolve, milliseconds))).then(onTimeout);
  return Promise.race([work, timeout]).finally(() => clearTimeout(timer));
}
