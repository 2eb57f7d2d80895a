/** An estimate that is older than this is replaced by the next one, whichever is better. */
const VALID_MS = 60_000;

/**
 * How far the clock of the database is ahead of `performance.now()`, by the results of statements. A deadline by the clock of
 * the database holds wherever a statement waits: also in a connection that is frozen.
 */
export class ServerClock {
  private aheadMs: number | null = null;
  private observedAt = 0;

  /** Takes the database's time from the result of a statement that was sent at `sentAt`, by `performance.now()`. */
  observe(serverNow: number, sentAt: number): void {
    // The database read its clock later than the statement was sent: the true value is at most this, so the least is best.
    const aheadMs = serverNow - sentAt;
    if (this.aheadMs !== null && aheadMs > this.aheadMs && sentAt - this.observedAt < VALID_MS) return;
    this.aheadMs = aheadMs;
    this.observedAt = sentAt;
  }

  /** The instant by the database's clock in so many milliseconds; null as long as nothing is known of it. */
  instantIn(milliseconds: number): number | null {
    return this.aheadMs === null ? null : Math.round(performance.now() + this.aheadMs + milliseconds);
  }

  /** Forgets what is known: a clock was set. */
  reset(): void {
    this.aheadMs = null;
  }
}
