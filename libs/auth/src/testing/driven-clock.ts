import { Clock } from '../domain/ports/platform';

/** A clock for tests. Its time changes only when `advance` is called. */
export class DrivenClock extends Clock {
  /** @param at the initial time, in milliseconds since 1970. Default: 2026-01-15T10:23:00.123Z */
  constructor(private at: number = Date.UTC(2026, 0, 15, 10, 23, 0, 123)) {
    super();
  }

  now(): number {
    return this.at;
  }

  /** Moves the time forward by a number of milliseconds, or back by a negative number. */
  advance(milliseconds: number): void {
    this.at += milliseconds;
  }
}
