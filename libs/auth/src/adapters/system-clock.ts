import { Clock } from '../domain/ports/platform';

/** The system clock. */
export class SystemClock extends Clock {
  now(): number {
    return Date.now();
  }
}
