/** The source of the current time. */
export abstract class Clock {
  /** Returns the current time in milliseconds since 1970-01-01T00:00:00Z. */
  abstract now(): number;
}

/** The system clock. */
export class SystemClock extends Clock {
  now(): number {
    return Date.now();
  }
}

const INTERVAL_MS = 60_000;

/** Limits a report to one per minute. Otherwise each request could repeat the report. */
export class OncePerMinute {
  private lastRunAt = -Infinity;

  constructor(private readonly clock: Pick<Clock, 'now'>) {}

  /** Runs the report unless a report has run within the last minute. */
  run(report: () => void): void {
    const now = this.clock.now();
    if (now - this.lastRunAt < INTERVAL_MS) return;
    this.lastRunAt = now;
    report();
  }
}

/**
 * Returns the result of the work. If the work takes longer than `milliseconds`, returns the result of `onTimeout`. The
 * work is not canceled.
 */
export async function withTimeout<T>(milliseconds: number, work: Promise<T>, onTimeout: () => T): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  }).then(onTimeout);
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
