import { Clock } from '../domain/ports/platform';

/** The clock of the machine. */
export class SystemClock extends Clock {
  now(): number {
    return Date.now();
  }
}
