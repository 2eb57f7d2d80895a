/** Once an estimate is older than this, the next one replaces it, even if it is less accurate. */
const MAX_AGE_MS = 60_000;

/**
 * Estimates the difference between the clock of the database and `performance.now()`, from the results of statements. A
 * deadline by the clock of the database also applies to a statement that is delayed on its way, in a connection that hangs.
 */
export class ServerClock {
  private offsetMs: number | null = null;
  private observedAt = 0;

  /**
   * Updates the estimate from the result of a statement.
   * @param serverNow the time of the database when it ran the statement, in milliseconds since 1970
   * @param sentAt when the statement was sent, by `performance.now()`
   */
  observe(serverNow: number, sentAt: number): void {
    // The database read its clock after the statement was sent, so this is an upper bound: the lowest is the most accurate.
    const offsetMs = serverNow - sentAt;
    if (this.offsetMs !== null && offsetMs > this.offsetMs && sentAt - this.observedAt < MAX_AGE_MS) return;
    this.offsetMs = offsetMs;
    this.observedAt = sentAt;
  }

  /** The time of the database in this many milliseconds from now, or null without an estimate. */
  timeIn(milliseconds: number): number | null {
    return this.offsetMs === null ? null : Math.round(performance.now() + this.offsetMs + milliseconds);
  }

  /** Discards the estimate, because a clock was set. */
  reset(): void {
    this.offsetMs = null;
  }
}
