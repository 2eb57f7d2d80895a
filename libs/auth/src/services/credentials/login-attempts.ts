import { Inject, Injectable } from '@nestjs/common';
import type { Client, ClientInfo } from '../../domain/client';
import type { AuthError } from '../../domain/errors';
import type { AttemptKeys } from '../../domain/failure-streak';
import type { StoredUser } from '../../domain/ports/accounts';
import { SignalBus } from '../../domain/ports/events';
import { CryptoSource } from '../../domain/ports/platform';
import { foldName, maskName } from '../../domain/username';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from '../../options/auth-options';
import { ClientInspector } from '../sessions/client-inspector';
import { AttemptSlots } from './attempt-slots';

/** One verification of a password, whose slots are taken. */
export interface Attempt {
  readonly keys: AttemptKeys;
  readonly client: Client;
}

/** The result of a verification. */
export type Verdict<T> =
  | { readonly right: T }
  /** The error to refuse it with, and the user who has the name, if any. */
  | { readonly wrong: AuthError; readonly user: StoredUser | null };

/** Throttles the verification of passwords, and counts, records and reports those that are wrong. */
@Injectable()
export class LoginAttempts {
  constructor(
    @Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions,
    private readonly inspector: ClientInspector,
    private readonly crypto: CryptoSource,
    private readonly slots: AttemptSlots,
    private readonly signals: SignalBus,
  ) {}

  /**
   * Runs the verification of one password, and counts it if it was wrong. A right one ends the
   * failure streaks when a session is opened with the attempt's keys, or by `succeed`.
   * @throws AuthError `too_many_attempts`, before anything is verified or counted
   */
  async run<T>(username: string, info: ClientInfo, verify: (attempt: Attempt) => Promise<Verdict<T>>): Promise<T> {
    const client = this.inspector.inspect(info);
    const keys = { network: this.keyOf(username, client.network), name: this.keyOf(username) };
    const attempt = { keys, client };
    const verdict = await this.slots.run(keys, async () => {
      const result = await verify(attempt);
      if ('wrong' in result) await this.fail(attempt, username, result.user);
      return result;
    });
    if ('right' in verdict) return verdict.right;
    throw verdict.wrong;
  }

  /** Ends the failure streaks of an attempt that opened no session. */
  succeed({ keys }: Attempt): Promise<void> {
    return this.slots.succeed(keys);
  }

  /** Ends all failure streaks of a name, from wherever they come. */
  reset(username: string): Promise<void> {
    return this.slots.reset(this.keyOf(username));
  }

  /** The digest under which the attempts for a name, from one network or from anywhere, are counted. */
  private keyOf(username: string, network = '*'): string {
    return this.crypto.sha256(`${network}\0${foldName(username, this.options.nameMatching)}`);
  }

  private fail({ keys, client }: Attempt, username: string, user: StoredUser | null): Promise<void> {
    const { ipAddress, userAgent } = client;
    // An unknown name may be a password in the wrong field.
    const recordedName = user ? username : maskName(username);
    return this.slots.fail(keys, {
      isKnown: user !== null,
      event: (count) => ({
        event: 'login_failure',
        userId: user ? String(user.id) : null,
        ipAddress,
        userAgent,
        extra: { username: recordedName, failure_count: count },
      }),
      emit: (failureCount) => {
        this.signals.emit('login_failed', { username, userId: user?.id ?? null, ipAddress, failureCount });
        if (failureCount === this.options.failedLogins.signalAt) {
          this.signals.emit('brute_force_threshold_hit', { username, ipAddress, failureCount });
        }
      },
    });
  }
}
