import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { Clock } from '../base/clock';
import type { Successor } from '../tokens/tokens';
import type { PresentedRefreshToken } from './decide-refresh';

/** How long a pair is kept for the client's retry, in milliseconds. */
const RETENTION_MS = 60_000;

/** The maximum number of pairs, which bounds memory if an outage affects every client at the same time. */
const MAX_PAIRS = 10_000;

type Presented = Pick<PresentedRefreshToken, 'digest' | 'transport'>;

/**
 * Keeps the token pairs of refreshes that failed with 503 because their outcome was unknown. If the client presents
 * its token to this instance again within 60 seconds, the refresh is retried with the same pair, whose digests the
 * database contains if the first attempt was committed. A returned pair is not kept. Pairs are kept in memory only.
 * The key includes the transport, so that a bearer client never receives the pair of a cookie client, or vice versa.
 */
@Injectable()
export class UnconfirmedPairs implements BeforeApplicationShutdown {
  /** The kept pairs, oldest first. */
  private readonly pairs = new Map<string, { readonly successor: Successor; readonly expiresAt: number }>();
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly clock: Clock) {}

  beforeApplicationShutdown(): void {
    clearTimeout(this.timer);
    this.pairs.clear();
  }

  /**
   * Keeps a pair, which `take` can return for up to 60 seconds.
   * @param presented the refresh token that the pair replaces
   */
  keep(presented: Presented, successor: Successor): void {
    this.pairs.set(keyOf(presented), { successor, expiresAt: this.clock.now() + RETENTION_MS });
    if (this.pairs.size > MAX_PAIRS) this.pairs.delete(this.pairs.keys().next().value!);
    // A timer removes expired pairs, because secrets must not stay in memory until the next refresh.
    this.timer ??= setTimeout(() => this.removeExpired(), RETENTION_MS).unref();
  }

  /**
   * Removes the pair that replaces the presented token, and returns the pair. Returns null if no pair is kept, or if
   * the pair has expired.
   */
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
