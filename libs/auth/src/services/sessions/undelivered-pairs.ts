import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { Clock } from '../../domain/ports/platform';
import type { PresentedRefreshToken } from '../../domain/refresh-decision';
import type { Successor } from './token-issuer';

/** How long a pair is kept for a retry of the client. */
const RETENTION_MS = 60_000;
/** The maximum number of pairs: an outage may affect every client at the same time. */
const MAX_PAIRS = 10_000;

type Presented = Pick<PresentedRefreshToken, 'digest' | 'transport'>;

/**
 * Keeps the token pairs of refreshes that were answered with 503 because their outcome is unknown. If the client presents its
 * token to this instance again, the refresh is retried with the same pair: if the first attempt was committed, the database
 * already has that pair. Each pair is returned once. Pairs are kept in memory only, by the digest of the presented token
 * and its transport: a bearer client gets no pair of a client with cookies, nor the other way round.
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

  /** @param presented the refresh token that the pair replaces */
  keep(presented: Presented, successor: Successor): void {
    this.pairs.set(keyOf(presented), { successor, expiresAt: this.clock.now() + RETENTION_MS });
    if (this.pairs.size > MAX_PAIRS) this.pairs.delete(this.pairs.keys().next().value!);
    // A timer, because secrets must not stay in memory until the next refresh.
    this.timer ??= setTimeout(() => this.removeExpired(), RETENTION_MS).unref();
  }

  /** Removes and returns the pair, or returns null if there is none or it has expired. */
  take(presented: Presented): Successor | null {
    const key = keyOf(presented);
    const kept = this.pairs.get(key);
    if (!kept) return null;
    this.pairs.delete(key);
    return this.clock.now() < kept.expiresAt ? kept.successor : null;
  }

  private removeExpired(): void {
    const now = this.clock.now();
    for (const [key, { expiresAt }] of this.pairs) if (expiresAt <= now) this.pairs.delete(key);
    this.timer = this.pairs.size > 0 ? setTimeout(() => this.removeExpired(), RETENTION_MS).unref() : undefined;
  }
}

function keyOf({ digest, transport }: Presented): string {
  return `${transport} ${digest}`;
}
