/** The age at which the next estimate replaces the current one, even if the next one is less accurate. */
const MAX_AGE_MS = 60_000;

/**
 * Estimates the offset between the database's clock and `performance.now()` from the results of statements.
 * With the estimate, the database can enforce the deadline of a statement that arrives late because its
 * connection hung.
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
    // The database read its clock after the statement was sent. The difference is therefore an upper bound
    // of the offset, and the lowest difference is the most accurate estimate.
    const offsetMs = serverNow - sentAt;
    if (this.offsetMs !== null && offsetMs > this.offsetMs && sentAt - this.observedAt < MAX_AGE_MS) return;
    this.offsetMs = offsetMs;
    this.observedAt = sentAt;
  }

  /**
   * Estimates what the database's clock shows the given number of milliseconds from now. Returns null
   * without an estimate of the offset.
   */
  timeIn(milliseconds: number): number | null {
    return this.offsetMs === null ? null : Math.round(performance.now() + this.offsetMs + milliseconds);
  }

  /** Discards the estimate. Called when a statement fails because of its deadline: a clock may have been set. */
  reset(): void {
    this.offsetMs = null;
  }
}
