import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { Clock } from '../../domain/ports/platform';
import type { Successor } from './token-issuer';

/** How long a pair is kept for the client to come back, and how many are: an outage concerns every client at once. */
const KEPT_MS = 60_000;
const MOST_KEPT = 10_000;

/**
 * The pairs of refreshes that were answered with 503 because their outcome is unknown. If the client presents its token again
 * here, the refresh is tried again with the same pair: where the first one was done after all, the database has it already.
 * Each is given out once. They are kept in memory alone, by the digest of the presented token.
 */
@Injectable()
export class UndeliveredPairs implements BeforeApplicationShutdown {
  /** The oldest first. */
  private readonly pairs = new Map<string, { readonly successor: Successor; readonly until: number }>();
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly clock: Clock) {}

  beforeApplicationShutdown(): void {
    clearTimeout(this.timer);
    this.pairs.clear();
  }

  /** @param presentedDigest the digest of the token that the pair follows */
  keep(presentedDigest: string, successor: Successor): void {
    this.pairs.set(presentedDigest, { successor, until: this.clock.now() + KEPT_MS });
    if (this.pairs.size > MOST_KEPT) this.pairs.delete(this.pairs.keys().next().value!);
    // Secrets do not stay in memory for want of further refreshes.
    this.timer ??= setTimeout(() => this.forgetExpired(), KEPT_MS).unref();
  }

  /** Returns the pair and forgets it. */
  take(presentedDigest: string): Successor | null {
    const kept = this.pairs.get(presentedDigest);
    if (!kept) return null;
    this.pairs.delete(presentedDigest);
    return this.clock.now() < kept.until ? kept.successor : null;
  }

  private forgetExpired(): void {
    const now = this.clock.now();
    for (const [digest, { until }] of this.pairs) if (until <= now) this.pairs.delete(digest);
    this.timer = this.pairs.size > 0 ? setTimeout(() => this.forgetExpired(), KEPT_MS).unref() : undefined;
  }
}
