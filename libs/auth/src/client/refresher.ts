import { SEEN_WITHIN_MS, type ClientEnvironment } from './environment.js';
import type { ClientError } from './errors.js';
import type { RefreshMarks } from './refresh-marks.js';
import type { RefreshAnswer } from './refresh-request.js';
import type { SessionTokens } from './session-tokens.js';
import type { TabLock } from './tab-lock.js';
import { isSame, type TokenKeeper } from './token-keeper.js';
import type { Tokens } from './token-storage.js';

export type Refreshed =
  | { readonly kind: 'renewed'; readonly tokens: Tokens }
  | { readonly kind: 'signed_out' }
  /** The refresh token may be used up: it is not sent again. */
  | { readonly kind: 'in_doubt' }
  /** Nothing is lost; later it may go. */
  | { readonly kind: 'not_now'; readonly error: ClientError };

/** `dead`: the access token was refused. `ending`: it works still. */
export type Need = 'dead' | 'ending';

const FIRST_PAUSE_MS = 250;

/** Exchanges the refresh token: one at a time over all tabs, and each token once. */
export class Refresher {
  private readonly running = new Map<string, Promise<Refreshed>>();
  /** The access token whose refresh token was found to be in doubt. */
  private doubted: string | null = null;
  /** While an access token works, a refresh that did not go is not tried again with every request. */
  private pause: { readonly outcome: Refreshed; readonly until: number } | null = null;

  constructor(
    private readonly lock: TabLock,
    private readonly keeper: TokenKeeper,
    private readonly marks: RefreshMarks,
    private readonly send: (refreshToken: string) => Promise<RefreshAnswer>,
    private readonly tokens: SessionTokens,
    private readonly traits: {
      readonly graceMs: number;
      /** Whether others see the storage, a moment later. */
      readonly settles: boolean;
    },
    private readonly clock: ClientEnvironment['clock'],
  ) {}

  /** What came after these tokens: from this tab, or from another one that was faster. */
  refresh(stale: Tokens, need: Need): Promise<Refreshed> {
    if (need === 'ending') {
      if (this.doubted === stale.accessToken) return Promise.resolve({ kind: 'in_doubt' });
      if (this.pause && this.clock.now() < this.pause.until) return Promise.resolve(this.pause.outcome);
    }
    const key = `${need} ${stale.accessToken}`;
    const known = this.running.get(key);
    if (known) return known;
    const running = this.lock.run(() => this.exchange(stale, need)).finally(() => this.running.delete(key));
    this.running.set(key, running);
    return running;
  }

  private async exchange(stale: Tokens, need: Need): Promise<Refreshed> {
    const current = await this.latest(stale);
    if (!current || !isSame(current, stale)) return found(current, stale);
    const sentAt = this.marks.sentAt(current);
    if (sentAt === null) return this.sendFirst(current, need);
    const handed = await this.keeper.askAfter(current);
    if (!handed || !isSame(handed, current)) return found(handed, stale);
    return this.mayRepeat(sentAt) ? this.sendUntilKnown(current, need, sentAt) : this.doubt(current, need);
  }

  /** What the tab that had the lock before has written may not be seen yet. */
  private async latest(stale: Tokens): Promise<Tokens | null> {
    const current = await this.keeper.read();
    if (!this.traits.settles || !current || !isSame(current, stale)) return current;
    await this.clock.wait(SEEN_WITHIN_MS);
    return this.keeper.read();
  }

  private async sendFirst(current: Tokens, need: Need): Promise<Refreshed> {
    const sentAt = this.clock.now();
    await this.marks.set(current, sentAt);
    const answer = await this.send(current.refreshToken);
    if (answer.kind === 'untouched') {
      await this.marks.set(current, null);
      return this.putOff(answer.error);
    }
    return (await this.settle(current, answer, sentAt)) ?? this.sendUntilKnown(current, need, sentAt, FIRST_PAUSE_MS);
  }

  /** Repeats a refresh whose answer is not known, as long as the server gives the same answer for certain. */
  private async sendUntilKnown(current: Tokens, need: Need, sentAt: number, firstPause = 0): Promise<Refreshed> {
    for (let pause = firstPause; this.mayRepeat(sentAt, pause); pause = Math.max(FIRST_PAUSE_MS, 2 * pause)) {
      await this.clock.wait(pause);
      // A timer may be late: of a tab in the background, or of a machine that slept.
      if (!this.mayRepeat(sentAt)) break;
      const outcome = await this.settle(current, await this.send(current.refreshToken), sentAt);
      if (outcome) return outcome;
    }
    return this.doubt(current, need);
  }

  /**
   * Half of the grace is for the repeats to be on their way: the server reckons from when it has seen the first one, which is not
   * before that was sent. A clock that was put back since says nothing.
   */
  private mayRepeat(sentAt: number, pause = 0): boolean {
    const elapsed = this.clock.now() - sentAt;
    return elapsed >= 0 && elapsed + pause < this.traits.graceMs / 2;
  }

  /** What an answer settles, or null. */
  private async settle(current: Tokens, answer: RefreshAnswer, sentAt: number): Promise<Refreshed | null> {
    if (answer.kind === 'untouched' || answer.kind === 'unknown') return null;
    const latest = await this.keeper.read();
    // Meanwhile somebody has signed in or out: what was stored since stays.
    if (!latest || !isSame(latest, current)) return found(latest, current);
    if (answer.kind === 'refused') {
      await this.keeper.end(current, 'signedOutElsewhere');
      return { kind: 'signed_out' };
    }
    const tokens = this.tokens.grown(current, answer.pair, sentAt);
    await this.keeper.renew(tokens);
    return { kind: 'renewed', tokens };
  }

  private putOff(error: ClientError): Refreshed {
    const outcome: Refreshed = { kind: 'not_now', error };
    this.pause = { outcome, until: this.clock.now() + (error.retryAfter ?? 1) * 1_000 };
    return outcome;
  }

  private async doubt(current: Tokens, need: Need): Promise<Refreshed> {
    this.doubted = current.accessToken;
    if (need === 'dead') await this.keeper.end(current, 'signInNeeded');
    return { kind: 'in_doubt' };
  }
}

/** What was found in place of tokens. If it is of another session, then somebody else may have signed in. */
function found(tokens: Tokens | null, stale: Tokens): Refreshed {
  return tokens?.sessionId === stale.sessionId ? { kind: 'renewed', tokens } : { kind: 'signed_out' };
}
