import { Logger } from '@nestjs/common';
import type { Clock } from '../domain/ports/clock';
import type { CryptoSource } from '../domain/ports/crypto-source';
import type { PruningStore } from '../domain/ports/pruning-store';
import type { Grace } from '../domain/ports/session-store';
import type { TokenPair } from '../domain/token-pair';
import type { ResolvedAuthOptions } from '../options/auth-options';

/** As many rows as one statement of the clean-up takes. */
const ROWS_AT_ONCE = 500;

/** How long to wait at least before looking again. */
const LOOK_AGAIN_MS = 1_000;

/** After so long an exchange is committed, or given up. */
const COMMITTED_AFTER_MS = 6_000;

/**
 * The answers to refreshes, kept for the grace period so that a client that lost one gets the very same again.
 *
 * They are sealed under the refresh token that was presented, which nobody has but its owner: what is stored opens nothing.
 */
export class SealedAnswers {
  private readonly logger = new Logger('AuthRefresh');
  private readonly windowMs: number;
  private timer: NodeJS.Timeout | undefined;
  private erasing: Promise<void> = Promise.resolve();
  /** The latest instant at which the window of an answer that was sealed here may end. */
  private lastEnd = 0;
  private stopped = false;

  constructor(
    { refreshReuseGraceSeconds }: ResolvedAuthOptions,
    private readonly crypto: CryptoSource,
    private readonly clock: Clock,
    private readonly store: PruningStore,
  ) {
    this.windowMs = refreshReuseGraceSeconds * 1000;
  }

  /** What a process that crashed left behind is erased by the next one, whatever its grace is. */
  start(): void {
    this.eraseNow();
  }

  /** The grace of this exchange, or null where a second presentation is always reuse. */
  seal(presented: string, { accessToken, refreshToken }: TokenPair): Grace | null {
    if (this.windowMs === 0) return null;
    this.lastEnd = this.clock.now() + this.windowMs + COMMITTED_AFTER_MS;
    this.eraseLater();
    const sealedAnswer = this.crypto.seal(presented, JSON.stringify([accessToken, refreshToken]));
    return { windowMs: this.windowMs, sealedAnswer };
  }

  /** The answer that was given for this token; null for one that was not sealed under it. */
  unseal(presented: string, sealedAnswer: string): TokenPair | null {
    const text = this.crypto.unseal(presented, sealedAnswer);
    if (text === null) return null;
    const [accessToken, refreshToken] = JSON.parse(text) as [string, string];
    return { accessToken, refreshToken };
  }

  /** No answer is erased any more; resolves when what is being erased is done. */
  stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    return this.erasing;
  }

  /** One timer at a time, a little after the end of the window; it keeps no process alive. */
  private eraseLater(): void {
    if (this.timer || this.stopped) return;
    this.timer = setTimeout(() => this.eraseNow(), Math.max(this.windowMs, LOOK_AGAIN_MS) + 100).unref();
  }

  private eraseNow(): void {
    this.erasing = this.eraseUntilNone();
  }

  /** Goes on as long as an answer is left: one whose window is not over, or whose session somebody had locked. */
  private async eraseUntilNone(): Promise<void> {
    let left = this.windowMs > 0;
    try {
      left = (await this.erase()) || this.clock.now() < this.lastEnd;
    } catch {
      this.logger.warn('Answers whose grace period is over could not be erased yet; they open nothing by themselves.');
    }
    this.timer = undefined;
    if (left) this.eraseLater();
  }

  /** @returns whether there are more */
  private async erase(): Promise<boolean> {
    let erased: number;
    do erased = await this.store.eraseSealedAnswers(this.clock.now(), ROWS_AT_ONCE);
    while (erased === ROWS_AT_ONCE && !this.stopped);
    return this.store.hasSealedAnswers();
  }
}
