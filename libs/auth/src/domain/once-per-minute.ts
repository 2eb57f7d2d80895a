import type { Clock } from './ports/platform';

const INTERVAL_MS = 60_000;

/** Bounds what is reported of something that any request may repeat. */
export class OncePerMinute {
  private ranAt = -Infinity;

  constructor(private readonly clock: Pick<Clock, 'now'>) {}

  /** Runs the report, unless one has run within the last minute. */
  run(report: () => void): void {
    const now = this.clock.now();
    if (now - this.ranAt < INTERVAL_MS) return;
    this.ranAt = now;
    report();
  }
}
