import type { Clock } from './ports/platform';

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
