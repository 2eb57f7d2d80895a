import type { Client, ClientInfo } from '../domain/client';
import { AuthError } from '../domain/errors';
import type { RunLimits } from '../domain/login-run';
import type { Clock } from '../domain/ports/clock';
import type { HostTransactions } from '../domain/ports/host-transactions';
import type { AttemptKeys, LoginAttemptStore } from '../domain/ports/login-attempt-store';
import type { SignalBus } from '../domain/ports/signal-bus';
import type { StoredUser } from '../domain/ports/user-store';
import { foldName, maskName } from '../domain/username';
import type { ResolvedAuthOptions } from '../options/auth-options';
import type { ClientInspector } from './client-inspector';
import { Crowd } from './crowd';
import type { TokenIssuer } from './token-issuer';

/** What a client is told to wait where nothing but a reset helps. */
const LOCKED_RETRY_SECONDS = 3600;
/** When places are looked for again that other instances have taken, and how often at the most: ten seconds of it. */
const LOOK_AGAIN_MS = 200;
const MOST_LOOKS = 50;

/** A place that was taken for one verification of a password. */
export interface Attempt {
  readonly keys: AttemptKeys;
  readonly client: Client;
}

/** What came of a verification. */
export type Verdict<T> =
  | { readonly right: T }
  /** Whose password it was not, if anybody has the name, and how that is refused. */
  | { readonly wrong: AuthError; readonly user: StoredUser | null };

/** Who may try a password, and what comes of those that are wrong. */
export class LoginAttempts {
  private readonly limits: RunLimits;
  private readonly crowd: Crowd;

  constructor(
    private readonly options: ResolvedAuthOptions,
    private readonly clock: Clock,
    private readonly tokens: TokenIssuer,
    private readonly inspector: ClientInspector,
    private readonly store: LoginAttemptStore,
    private readonly signals: SignalBus,
    private readonly transactions: HostTransactions,
  ) {
    const { throttleFrom, windowSeconds } = options.failedLogins;
    this.limits = { throttleFrom, windowMs: windowSeconds * 1000 };
    this.crowd = new Crowd(options.hashing.waiting);
  }

  /**
   * Runs the verification of one password, and counts it if it was wrong. One that was right ends the run of failures when a
   * session is opened with the attempt's keys, or by `succeed`.
   * @throws AuthError `too_many_attempts` with the seconds to wait, before anything is verified or counted
   */
  async run<T>(username: string, info: ClientInfo, verify: (attempt: Attempt) => Promise<Verdict<T>>): Promise<T> {
    const attempt = { keys: this.keysOf(username, info), client: this.inspector.inspect(info) };
    // Whoever guesses must not be forgotten with a transaction that is rolled back.
    await this.transactions.apart(() => this.takePlace(attempt.keys));
    try {
      return await this.judge(attempt, username, verify);
    } finally {
      this.crowd.next(attempt.keys.network);
    }
  }

  /** Ends the run of failures of an attempt that opened no session. */
  async succeed({ keys }: Attempt): Promise<void> {
    // What was done stays done; the run is forgotten at the next success, or when its time is over.
    await this.transactions.apart(() => this.store.succeed(keys)).catch(() => undefined);
  }

  /** Forgets the failures of a name, from wherever they came. */
  reset(username: string): Promise<void> {
    return this.store.reset(this.keyOfName(username));
  }

  private async judge<T>(
    attempt: Attempt,
    username: string,
    verify: (attempt: Attempt) => Promise<Verdict<T>>,
  ): Promise<T> {
    const givingBack = async (error: unknown): Promise<never> => {
      await this.giveBack(attempt.keys);
      throw error;
    };
    const verdict = await verify(attempt).catch(givingBack);
    if ('right' in verdict) return verdict.right;
    await this.transactions.apart(() => this.fail(attempt, username, verdict.user)).catch(givingBack);
    throw verdict.wrong;
  }

  private async fail({ keys, client }: Attempt, username: string, user: StoredUser | null): Promise<void> {
    const now = this.clock.now();
    const { ipAddress, userAgent } = client;
    // The log keeps what an unknown name was typed for no longer than it takes to mask it.
    const shown = user ? username : maskName(username);
    const failureCount = await this.store.fail({
      ...keys,
      now,
      limits: this.limits,
      isKnown: user !== null,
      event: (count) => ({
        event: 'login_failure',
        userId: user ? String(user.id) : null,
        ipAddress,
        userAgent,
        extra: { username: shown, failure_count: count },
        at: now,
      }),
    });
    this.signals.emit('login_failed', { username, userId: user?.id ?? null, ipAddress, failureCount });
    if (failureCount === this.options.failedLogins.signalAt) {
      this.signals.emit('brute_force_threshold_hit', { username, ipAddress, failureCount });
    }
  }

  private async takePlace(keys: AttemptKeys): Promise<void> {
    if (this.limits.throttleFrom === false) return;
    for (let looks = 1; ; looks++) {
      const now = this.clock.now();
      const admission = await this.store.admit(keys, now, this.limits);
      if (admission.kind !== 'crowded') {
        // Where there was room for one there may be room for more, and a delay is news to all.
        this.crowd.next(keys.network);
        if (admission.kind === 'admitted') return;
        throw tooMany(admission.kind === 'locked' ? LOCKED_RETRY_SECONDS : Math.ceil((admission.until - now) / 1000));
      }
      // What the others come to decides whether there is room.
      if (looks === MOST_LOOKS) throw new AuthError('busy', 'Too many logins are being verified.');
      await this.crowd.wait(keys.network, LOOK_AGAIN_MS);
    }
  }

  /** If it cannot be given back now, it is taken for lost after a while. */
  private async giveBack(keys: AttemptKeys): Promise<void> {
    if (this.limits.throttleFrom === false) return;
    await this.transactions.apart(() => this.store.release(keys)).catch(() => undefined);
  }

  private keysOf(username: string, info: ClientInfo): AttemptKeys {
    const name = foldName(username, this.options.nameMatching);
    return {
      network: this.tokens.digest(`${this.inspector.networkOf(info)}\0${name}`),
      name: this.keyOfName(username),
    };
  }

  private keyOfName(username: string): string {
    return this.tokens.digest(`*\0${foldName(username, this.options.nameMatching)}`);
  }
}

function tooMany(retryAfterSeconds: number): AuthError {
  return new AuthError('too_many_attempts', 'Too many failed logins. Try again later.', {}, retryAfterSeconds);
}
