import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { Clock } from '../../domain/ports/platform';
import type { Successor } from './token-issuer';

/** How long a pair is kept for a retry of the client. */
const RETENTION_MS = 60_000;
/** The maximum number of pairs: an outage may affect every client at the same time. */
const MAX_PAIRS = 10_000;

/**
 * Keeps the token pairs of refreshes that were answered with 503 because their outcome is unknown. If the client presents its
 * token to this instance again, the refresh is retried with the same pair: if the first attempt was committed, the database
 * already has that pair. Each pair is returned once. Pairs are kept in memory only, by the digest of the presented token.
 */
@Injectable()
export class UndeliveredPairs implements BeforeApplicationShutdown {
  /** Oldest first. */
  private readonly pairs = new Map<string, { readonly successor: Successor; readonly expiresAt: number }>();
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly clock: Clock) {}

  beforeApplicationShutdown(): void {
    clearTimeout(this.timer);
    this.pairs.clear();
  }

  /** @param presentedDigest the digest of the refresh token that the pair replaces */
  keep(presentedDigest: string, successor: Successor): void {
    this.pairs.set(presentedDigest, { successor, expiresAt: this.clock.now() + RETENTION_MS });
    if (this.pairs.size > MAX_PAIRS) this.pairs.delete(this.pairs.keys().next().value!);
    // A timer, because secrets must not stay in memory until the next refresh.
    this.timer ??= setTimeout(() => this.removeExpired(), RETENTION_MS).unref();
  }

  /** Removes and returns the pair, or returns null if there is none or it has expired. */
  take(presentedDigest: string): Successor | null {
    const kept = this.pairs.get(presentedDigest);
    if (!kept) return null;
    this.pairs.delete(presentedDigest);
    return this.clock.now() < kept.expiresAt ? kept.successor : null;
  }

  private removeExpired(): void {
    const now = this.clock.now();
    for (const [digest, { expiresAt }] of this.pairs) if (expiresAt <= now) this.pairs.delete(digest);
    this.timer = this.pairs.size > 0 ? setTimeout(() => this.removeExpired(), RETENTION_MS).unref() : undefined;
  }
}
