import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, ClientInfo } from '../domain/client';
import { AuthError } from '../domain/errors';
import type { RunLimits } from '../domain/login-run';
import type { Clock } from '../domain/ports/clock';
import type { AttemptKeys, LoginAttemptStore } from '../domain/ports/login-attempt-store';
import type { SignalBus } from '../domain/ports/signal-bus';
import type { StoredUser } from '../domain/ports/user-store';
import { foldName, maskName } from '../domain/username';
import type { ResolvedAuthOptions } from '../options/auth-options';
import type { ClientInspector } from './client-inspector';
import type { TokenIssuer } from './token-issuer';

/** What a client is told to wait where nothing but a reset helps. */
const LOCKED_RETRY_SECONDS = 3600;
/** How often a crowd is looked at, and for how long. */
const CROWD_LOOK_MS = 25;
const CROWD_WAIT_MS = 5_000;

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

  constructor(
    private readonly options: ResolvedAuthOptions,
    private readonly clock: Clock,
    private readonly tokens: TokenIssuer,
    private readonly inspector: ClientInspector,
    private readonly store: LoginAttemptStore,
    private readonly signals: SignalBus,
  ) {
    const { throttleFrom, windowSeconds } = options.failedLogins;
    this.limits = { throttleFrom, windowMs: windowSeconds * 1000 };
  }

  /**
   * Runs the verification of one password, and counts it if it was wrong. One that was right ends the run of failures when a
   * session is opened with the attempt's keys, or by `succeed`.
   * @throws AuthError `too_many_attempts` with the seconds to wait, before anything is verified or counted
   */
  async run<T>(username: string, info: ClientInfo, verify: (attempt: Attempt) => Promise<Verdict<T>>): Promise<T> {
    const attempt = { keys: this.keysOf(username, info), client: this.inspector.inspect(info) };
    await this.takePlace(attempt.keys);
    const givingBack = async (error: unknown): Promise<never> => {
      await this.giveBack(attempt.keys);
      throw error;
    };
    const verdict = await verify(attempt).catch(givingBack);
    if ('right' in verdict) return verdict.right;
    await this.fail(attempt, username, verdict.user).catch(givingBack);
    throw verdict.wrong;
  }

  /** Ends the run of failures of an attempt that opened no session. */
  async succeed({ keys }: Attempt): Promise<void> {
    // What was done stays done; the run is forgotten at the next success, or when its time is over.
    await this.store.succeed(keys).catch(() => undefined);
  }

  /** Forgets the failures of a name, from wherever they came. */
  reset(username: string): Promise<void> {
    return this.store.reset(this.keyOfName(username));
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
    for (let waited = 0; ; waited += CROWD_LOOK_MS) {
      const now = this.clock.now();
      const admission = await this.store.admit(keys, now, this.limits);
      if (admission.kind === 'admitted') return;
      if (admission.kind === 'delayed') throw tooMany(Math.ceil((admission.until - now) / 1000));
      if (admission.kind === 'locked') throw tooMany(LOCKED_RETRY_SECONDS);
      if (waited >= CROWD_WAIT_MS) throw new AuthError('busy', 'Too many logins are being verified.');
      // What the others come to decides whether there is room.
      await sleep(CROWD_LOOK_MS);
    }
  }

  /** If it cannot be given back now, it is taken for lost after a while. */
  private async giveBack(keys: AttemptKeys): Promise<void> {
    if (this.limits.throttleFrom !== false) await this.store.release(keys).catch(() => undefined);
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
