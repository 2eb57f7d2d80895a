import { SEEN_WITHIN_MS } from './environment.js';
import type { ClientError } from './errors.js';
import type { Settings } from './options.js';
import { marksFor, type RefreshMarks } from './refresh-marks.js';
import { findOffline, requestRefresh, type RefreshAnswer } from './requests.js';
import { isSamePair, keyOf, type TokenKeeper } from './token-keeper.js';
import type { Tokens } from './token-storage.js';

export type Refreshed =
  | { readonly kind: 'renewed'; readonly tokens: Tokens }
  | { readonly kind: 'signed_out' }
  /** The outcome is unknown: the server may have used the refresh token. */
  | { readonly kind: 'in_doubt' }
  /** The server has not used the refresh token. A later attempt may succeed. */
  | { readonly kind: 'not_now'; readonly error: ClientError };

/** `invalid`: the caller needs new tokens. `expiring`: the caller can continue with the current tokens. */
export type RefreshReason = 'invalid' | 'expiring';

const FIRST_PAUSE_MS = 250;

/** Refreshes tokens, one refresh at a time among all clients that share the lock. */
export class Refresher {
  readonly #marks: RefreshMarks;
  readonly #running = new Map<string, Promise<Refreshed>>();
  /** A failed refresh is not repeated before `until`, unless the reason is `invalid`. */
  #failed: { readonly key: string; readonly outcome: Refreshed; readonly until: number } | null = null;

  constructor(
    private readonly settings: Settings,
    private readonly keeper: TokenKeeper,
  ) {
    this.#marks = marksFor(settings, keeper);
  }

  /** Refreshes these tokens, unless they have already been replaced or a recent attempt has failed. */
  refresh(stale: Tokens, reason: RefreshReason): Promise<Refreshed> {
    const failed = this.#failed;
    if (reason === 'expiring' && failed?.key === keyOf(stale) && this.#now() < failed.until) {
      return Promise.resolve(failed.outcome);
    }
    const key = `${reason} ${keyOf(stale)}`;
    const running = this.#running.get(key);
    if (running) return running;
    const started = this.settings.lock
      .run(() => this.#refreshStored(stale, reason))
      .finally(() => this.#running.delete(key));
    this.#running.set(key, started);
    return started;
  }

  /** Returns whether the refresh token may have been sent recently enough to be sent again safely. */
  isResolvable({ sentAt }: Tokens): boolean {
    return sentAt !== null && this.#mayRepeat(sentAt);
  }

  async #refreshStored(stale: Tokens, reason: RefreshReason): Promise<Refreshed> {
    const current = await this.#readLatest(stale);
    if (!current || !isSamePair(current, stale)) return outcomeOf(current, stale);
    const sentAt = this.#marks.sentAt(current);
    if (sentAt === null) return this.#sendFirst(current, reason);
    return this.#sendUntilKnown(current, reason, sentAt);
  }

  /** Returns the stored tokens. A write of the previous lock holder may become visible only after a short time. */
  async #readLatest(stale: Tokens): Promise<Tokens | null> {
    const current = await this.keeper.read();
    if (this.settings.storage.reach === 'client' || !current || !isSamePair(current, stale)) return current;
    await this.settings.environment.clock.wait(SEEN_WITHIN_MS);
    return this.keeper.read();
  }

  async #sendFirst(current: Tokens, reason: RefreshReason): Promise<Refreshed> {
    const offline = await findOffline(this.settings);
    if (offline) return this.#postpone(current, offline);
    const sentAt = this.#now();
    await this.#marks.set(current, sentAt);
    const answer = await requestRefresh(this.settings, current);
    if (answer.kind === 'unused') {
      await this.#marks.set(current, null);
      return this.#postpone(current, answer.error);
    }
    const outcome = await this.#storeOutcome(current, answer, sentAt);
    return outcome ?? this.#sendUntilKnown(current, reason, sentAt, FIRST_PAUSE_MS);
  }

  /** Repeats a refresh with an unknown outcome, as long as `#mayRepeat` allows it. */
  async #sendUntilKnown(current: Tokens, reason: RefreshReason, sentAt: number, firstPause = 0): Promise<Refreshed> {
    for (let pause = firstPause; this.#mayRepeat(sentAt, pause); pause = Math.max(FIRST_PAUSE_MS, 2 * pause)) {
      await this.settings.environment.clock.wait(pause);
      // Timers fire late in background tabs, and after a computer wakes from sleep.
      if (!this.#mayRepeat(sentAt)) break;
      const answer = await requestRefresh(this.settings, current);
      const outcome = await this.#storeOutcome(current, answer, sentAt);
      if (outcome) return outcome;
    }
    if (reason === 'invalid') await this.keeper.end(current, 'signInNeeded');
    return this.#fail(current, { kind: 'in_doubt' }, Infinity);
  }

  /**
   * Returns whether less than half of the grace period has passed, so that a repeated request should arrive within the
   * server's grace period. The server's period begins when the server receives the first request, after `sentAt`.
   * If the clock was set back, the elapsed time is unknown.
   */
  #mayRepeat(sentAt: number, pause = 0): boolean {
    const elapsed = this.#now() - sentAt;
    return elapsed >= 0 && elapsed + pause < this.settings.graceMs / 2;
  }

  /** Stores the result of a refresh, and returns the outcome, or null if the outcome is unknown. */
  async #storeOutcome(current: Tokens, answer: RefreshAnswer, sentAt: number): Promise<Refreshed | null> {
    if (answer.kind === 'unused' || answer.kind === 'unknown') return null;
    const latest = await this.keeper.read();
    // A login or logout in the meantime takes precedence.
    if (!latest || !isSamePair(latest, current)) return outcomeOf(latest, current);
    if (answer.kind === 'renewed') {
      return { kind: 'renewed', tokens: await this.keeper.renew(current, answer.pair, sentAt) };
    }
    await this.keeper.end(current, 'signedOutElsewhere');
    return { kind: 'signed_out' };
  }

  #postpone(current: Tokens, error: ClientError): Refreshed {
    return this.#fail(current, { kind: 'not_now', error }, this.#now() + (error.retryAfter ?? 1) * 1_000);
  }

  #fail(current: Tokens, outcome: Refreshed, until: number): Refreshed {
    this.#failed = { key: keyOf(current), outcome, until };
    return outcome;
  }

  #now(): number {
    return this.settings.environment.clock.now();
  }
}

/**
 * Returns the outcome if the stale tokens were replaced or removed. Tokens of a different session count as
 * `signed_out`, because that session may belong to a different user.
 */
function outcomeOf(tokens: Tokens | null, stale: Tokens): Refreshed {
  return tokens?.sessionId === stale.sessionId ? { kind: 'renewed', tokens } : { kind: 'signed_out' };
}
