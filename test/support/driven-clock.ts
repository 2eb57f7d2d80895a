import { Clock } from '../../libs/auth/src/domain/ports/clock';

/** A clock that stands still until it is moved. */
export class DrivenClock extends Clock {
  constructor(private at = Date.UTC(2026, 0, 15, 10, 23, 0, 123)) {
    super();
  }

  now(): number {
    return this.at;
  }

  advance(milliseconds: number): void {
    this.at += milliseconds;
  }
}

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;
