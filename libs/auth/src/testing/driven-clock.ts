import { Clock } from '../domain/ports/clock';

/** A clock that stands still until it is moved. Time in a test is driven, never slept. */
export class DrivenClock extends Clock {
  /** @param at where it stands at first, in milliseconds since 1970 */
  constructor(private at: number = Date.UTC(2026, 0, 15, 10, 23, 0, 123)) {
    super();
  }

  now(): number {
    return this.at;
  }

  /** Moves it on, or back. */
  advance(milliseconds: number): void {
    this.at += milliseconds;
  }
}
