import { SEEN_WITHIN_MS, type WebStorage } from './environment.js';
import { ClientError, signedOut } from './errors.js';
import type { Settings } from './options.js';
import { findOutage, requestRefresh, type RefreshAnswer } from './requests.js';
import { isSamePair, keyOf, type TokenKeeper } from './token-keeper.js';
import { textIn, type Tokens } from './token-storage.js';
import { parseJson } from './wire.js';

/** `invalid`: the caller needs new tokens. `expiring`: the caller can continue with the current tokens. */
export type RefreshReason = 'invalid' | 'expiring';

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 2_000;

/** Refreshes tokens, one refresh at a time among all clients that share the lock. */
export class Refresher {
  readonly #marks: RefreshMarks;
  readonly #running = new Map<string, Promise<Tokens>>();
  /** The tokens whose refresh failed, and when it may be repeated, unless the reason is `invalid`. */
  #failed = { key: '', until: 0 };

  constructor(
    private readonly settings: Settings,
    private readonly keeper: TokenKeeper,
  ) {
    this.#marks = marksFor(settings, keeper);
  }

  /**
   * Returns the tokens that replace these tokens. If they expire, but cannot be refreshed now, returns these tokens.
   * @throws ClientError `signed_out` if the session has ended, or with the reason `invalid`, why they cannot be refreshed
   */
  async refresh(stale: Tokens, reason: RefreshReason): Promise<Tokens> {
    const { key, until } = this.#failed;
    if (reason === 'expiring' && key === keyOf(stale) && this.settings.now() < until) return stale;
    const work = `${reason} ${keyOf(stale)}`;
    const running =
      this.#running.get(work) ??
      this.settings.lock.run(() => this.#refreshStored(stale, reason)).finally(() => this.#running.delete(work));
    this.#running.set(work, running);
    return running;
  }

  /** Returns whether the refresh token may have been sent recently enough to be sent again safely. */
  isResolvable({ sentAt }: Tokens): boolean {
    return sentAt !== null && this.#mayRepeat(sentAt);
  }

  async #refreshStored(stale: Tokens, reason: RefreshReason): Promise<Tokens> {
    const current = await this.#readLatest(stale);
    if (!isSamePair(current, stale)) return successorOf(stale, current);
    const sentAt = this.#marks.sentAt(current);
    if (sentAt === null) return this.#sendFirst(current, reason);
    return this.#sendUntilKnown(current, reason, sentAt);
  }

  /** Returns the stored tokens. A write of the previous lock holder may become visible only after a short time. */
  async #readLatest(stale: Tokens): Promise<Tokens | null> {
    const current = await this.keeper.read();
    if (this.settings.storage.reach === 'client' || !isSamePair(current, stale)) return current;
    await this.settings.environment.clock.wait(SEEN_WITHIN_MS);
    return this.keeper.read();
  }

  /** Sends a refresh token for the first time. While the application cannot be reached, waits up to `timeoutMs`. */
  async #sendFirst(current: Tokens, reason: RefreshReason): Promise<Tokens> {
    const { timeoutMs, environment } = this.settings;
    const giveUpAt = this.settings.now() + (reason === 'invalid' ? timeoutMs : 0);
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      const result = (await findOutage(this.settings)) ?? (await this.#sendMarked(current, reason));
      if (!(result instanceof ClientError)) return result;
      if (result.code !== 'offline' || this.settings.now() + pause > giveUpAt) {
        this.#failed = { key: keyOf(current), until: this.settings.now() + (result.retryAfter ?? 1) * 1_000 };
        if (reason === 'invalid') throw result;
        return current;
      }
      await environment.clock.wait(pause);
    }
  }

  /** Marks a refresh token as sent, and sends it. Returns an error if the server has not used the token. */
  async #sendMarked(current: Tokens, reason: RefreshReason): Promise<Tokens | ClientError> {
    // While the application was asked, a write of another tab may have become visible: newer tokens, or its mark.
    const latest = await this.keeper.read();
    if (!isSamePair(latest, current)) return successorOf(current, latest);
    const earlier = this.#marks.sentAt(latest);
    if (earlier !== null) return this.#sendUntilKnown(latest, reason, earlier);
    const sentAt = this.settings.now();
    await this.#marks.set(current, sentAt);
    const answer = await requestRefresh(this.settings, current);
    if (answer.kind === 'unused') {
      await this.#marks.set(current, null);
      return answer.error;
    }
    const tokens = await this.#storeOutcome(current, answer, sentAt);
    return tokens ?? this.#sendUntilKnown(current, reason, sentAt, FIRST_PAUSE_MS);
  }

  /** Repeats a refresh with an unknown outcome, as long as `#mayRepeat` allows it. */
  async #sendUntilKnown(current: Tokens, reason: RefreshReason, sentAt: number, firstPause = 0): Promise<Tokens> {
    for (let pause = firstPause; this.#mayRepeat(sentAt, pause); pause = Math.max(FIRST_PAUSE_MS, 2 * pause)) {
      await this.settings.environment.clock.wait(pause);
      // Timers fire late in background tabs, and after a computer wakes from sleep.
      if (!this.#mayRepeat(sentAt)) break;
      const answer = await requestRefresh(this.settings, current);
      const tokens = await this.#storeOutcome(current, answer, sentAt);
      if (tokens) return tokens;
    }
    this.#failed = { key: keyOf(current), until: Infinity };
    if (reason === 'expiring') return current;
    await this.keeper.end(current, 'signInNeeded');
    throw signedOut();
  }

  /**
   * Returns whether less than half of the grace period has passed, so that a repeated request should arrive within the
   * server's grace period. The server's period begins when the server receives the first request, after `sentAt`.
   * If the clock was set back, the elapsed time is unknown.
   */
  #mayRepeat(sentAt: number, pause = 0): boolean {
    const elapsed = this.settings.now() - sentAt;
    return elapsed >= 0 && elapsed + pause < this.settings.graceMs / 2;
  }

  /** Stores the result of a refresh. Returns the new tokens, or null if the result is unknown. */
  async #storeOutcome(current: Tokens, answer: RefreshAnswer, sentAt: number): Promise<Tokens | null> {
    if (answer.kind === 'unused' || answer.kind === 'unknown') return null;
    const latest = await this.keeper.read();
    // A login or logout in the meantime takes precedence.
    if (!isSamePair(latest, current)) return successorOf(current, latest);
    if (answer.kind === 'renewed') return this.keeper.renew(current, answer.pair, sentAt);
    await this.keeper.end(current, 'signedOutElsewhere');
    throw signedOut();
  }
}

/**
 * Returns the stored tokens if they are of the same session. Another session counts as the end of this session, because
 * it may belong to another user. @throws ClientError `signed_out`
 */
function successorOf(stale: Tokens, stored: Tokens | null): Tokens {
  if (stored?.sessionId === stale.sessionId) return stored;
  throw signedOut();
}

/**
 * Records which refresh tokens may have been sent. The mark is written before the token is sent, so
 * that another tab, or the page after a reload, does not unknowingly send the token again.
 */
interface RefreshMarks {
  /**
   * Returns the time at which this refresh token may first have been sent, null if it counts as unsent, or
   * `-Infinity` if a newer token of the session may have been sent.
   */
  sentAt(tokens: Tokens): number | null;
  /** Stores the time at which this refresh token is first sent, or null if the server has not used it. */
  set(tokens: Tokens, sentAt: number | null): void | Promise<void>;
}

/**
 * Returns the marks for a storage. With `sessionStorage`, a duplicated tab has its own copy of the tokens, so
 * the marks are stored in `localStorage`, if available, where both tabs see them.
 */
function marksFor({ storage, name, environment }: Settings, keeper: TokenKeeper): RefreshMarks {
  const shared = environment.localStorage;
  if (storage.reach === 'tab' && shared) return marksOfSessions(shared, `${name}:sent`);
  return { sentAt: (tokens) => tokens.sentAt, set: (tokens, sentAt) => keeper.write({ ...tokens, sentAt }) };
}

/** The maximum number of sessions with a mark. The marks that were written last are kept. */
const MAX_SESSIONS = 50;

/** The tokens of this generation of the session, and of all earlier generations, may have been sent. */
type Mark = readonly [sessionId: string, generation: number, sentAt: number];

/** Returns marks in `localStorage`, one for each session. A mark contains no part of a token. */
function marksOfSessions(storage: WebStorage, key: string): RefreshMarks {
  const text = textIn(storage, key);
  const read = (): Mark[] => {
    const stored = parseJson(text.read());
    return Array.isArray(stored) ? (stored as Mark[]) : [];
  };
  return {
    sentAt({ sessionId, generation }) {
      const [, marked = -1, sentAt = 0] = read().find(([id]) => id === sessionId) ?? [];
      if (marked < generation) return null;
      return marked === generation ? sentAt : -Infinity;
    },
    set({ sessionId, generation }, sentAt) {
      const others = read().filter(([id]) => id !== sessionId);
      const mark: Mark = [sessionId, sentAt === null ? generation - 1 : generation, sentAt ?? 0];
      text.write(JSON.stringify([mark, ...others].slice(0, MAX_SESSIONS)));
    },
  };
}
