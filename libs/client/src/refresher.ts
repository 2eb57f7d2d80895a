import { SEEN_WITHIN_MS } from './environment.js';
import type { ClientError } from './errors.js';
import type { Settings } from './options.js';
import { marksFor, type RefreshMarks } from './refresh-marks.js';
import { findOffline, requestRefresh, type RefreshAnswer } from './requests.js';
import { isSame, keyOf, type TokenKeeper } from './token-keeper.js';
import type { Tokens } from './token-storage.js';

export type Refreshed =
  | { readonly kind: 'renewed'; readonly tokens: Tokens }
  | { readonly kind: 'signed_out' }
  /** The refresh token may be used: it is not sent again. */
  | { readonly kind: 'in_doubt' }
  /** The refresh token is unused: a later attempt may succeed. */
  | { readonly kind: 'not_now'; readonly error: ClientError };

/** The state of the access token: refused by the server, or about to expire. */
export type Need = 'invalid' | 'expiring';

const FIRST_PAUSE_MS = 250;

/** Exchanges refresh tokens: one at a time over all tabs, and each token once. */
export class Refresher {
  readonly #marks: RefreshMarks;
  readonly #running = new Map<string, Promise<Refreshed>>();
  /** While the access token is valid, a failed refresh is not repeated before `until`. */
  #failed: { readonly key: string; readonly outcome: Refreshed; readonly until: number } | null = null;

  constructor(
    private readonly settings: Settings,
    private readonly keeper: TokenKeeper,
  ) {
    this.#marks = marksFor(settings, keeper);
  }

  /** Returns the successors of these tokens, requested by this tab or by another one. */
  refresh(stale: Tokens, need: Need): Promise<Refreshed> {
    const failed = this.#failed;
    if (need === 'expiring' && failed?.key === keyOf(stale) && this.#now() < failed.until) {
      return Promise.resolve(failed.outcome);
    }
    const key = `${need} ${keyOf(stale)}`;
    const known = this.#running.get(key);
    if (known) return known;
    const running = this.settings.lock.run(() => this.#exchange(stale, need)).finally(() => this.#running.delete(key));
    this.#running.set(key, running);
    return running;
  }

  /** Whether the refresh token may have been sent, so recently that sending it again is safe. */
  isResolvable({ sentAt }: Tokens): boolean {
    return sentAt !== null && this.#mayRepeat(sentAt);
  }

  async #exchange(stale: Tokens, need: Need): Promise<Refreshed> {
    const current = await this.#latest(stale);
    if (!current || !isSame(current, stale)) return found(current, stale);
    const sentAt = this.#marks.sentAt(current);
    if (sentAt === null) return this.#sendFirst(current, need);
    return this.#sendUntilKnown(current, need, sentAt);
  }

  /** What the previous holder of the lock has written may become visible a moment later. */
  async #latest(stale: Tokens): Promise<Tokens | null> {
    const current = await this.keeper.read();
    if (this.settings.storage.reach === 'client' || !current || !isSame(current, stale)) return current;
    await this.settings.environment.clock.wait(SEEN_WITHIN_MS);
    return this.keeper.read();
  }

  async #sendFirst(current: Tokens, need: Need): Promise<Refreshed> {
    const offline = await findOffline(this.settings);
    if (offline) return this.#postpone(current, offline);
    const sentAt = this.#now();
    await this.#marks.set(current, sentAt);
    const answer = await requestRefresh(this.settings, current);
    if (answer.kind === 'untouched') {
      await this.#marks.set(current, null);
      return this.#postpone(current, answer.error);
    }
    return (await this.#settle(current, answer, sentAt)) ?? this.#sendUntilKnown(current, need, sentAt, FIRST_PAUSE_MS);
  }

  /** Repeats a refresh of unknown outcome while the server is certain to answer with the same pair. */
  async #sendUntilKnown(current: Tokens, need: Need, sentAt: number, firstPause = 0): Promise<Refreshed> {
    for (let pause = firstPause; this.#mayRepeat(sentAt, pause); pause = Math.max(FIRST_PAUSE_MS, 2 * pause)) {
      await this.settings.environment.clock.wait(pause);
      // Timers are late in background tabs, and after a machine has slept.
      if (!this.#mayRepeat(sentAt)) break;
      const answer = await requestRefresh(this.settings, current);
      const outcome = await this.#settle(current, answer, sentAt);
      if (outcome) return outcome;
    }
    if (need === 'invalid') await this.keeper.end(current, 'signInNeeded');
    return this.#fail(current, { kind: 'in_doubt' }, Infinity);
  }

  /**
   * Half of the grace period is left for the way of a repetition: the server's begins when it
   * receives the first one, after `sentAt`. A clock that was set back since proves nothing.
   */
  #mayRepeat(sentAt: number, pause = 0): boolean {
    const elapsed = this.#now() - sentAt;
    return elapsed >= 0 && elapsed + pause < this.settings.graceMs / 2;
  }

  /** The outcome of an answer, or null where it is unknown. */
  async #settle(current: Tokens, answer: RefreshAnswer, sentAt: number): Promise<Refreshed | null> {
    if (answer.kind === 'untouched' || answer.kind === 'unknown') return null;
    const latest = await this.keeper.read();
    // A login or logout since then takes precedence.
    if (!latest || !isSame(latest, current)) return found(latest, current);
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

/** The tokens found in place of the stale ones. Those of another session may belong to another user. */
function found(tokens: Tokens | null, stale: Tokens): Refreshed {
  return tokens?.sessionId === stale.sessionId ? { kind: 'renewed', tokens } : { kind: 'signed_out' };
}
