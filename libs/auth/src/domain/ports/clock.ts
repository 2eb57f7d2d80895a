/** Tells the time; the one place where the library asks for it. */
export abstract class Clock {
  /** Milliseconds since 1970-01-01T00:00:00Z. */
  abstract now(): number;
}
