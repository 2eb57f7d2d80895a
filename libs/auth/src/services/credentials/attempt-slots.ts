import { Inject, Injectable } from '@nestjs/common';
import type { NewAuthEvent } from '../../domain/auth-event';
import { AuthError, tooBusy } from '../../domain/errors';
import type { AttemptKeys, StreakLimits } from '../../domain/failure-streak';
import { ApplicationTransactions, Clock } from '../../domain/ports/platform';
import { LoginAttemptStore } from '../../domain/ports/accounts';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from '../../options/auth-options';
import { WaitQueue } from './wait-queue';

/** `Retry-After` where only a reset helps. */
const LOCKED_RETRY_SECONDS = 3600;
/** The longest wait in the queue, behind other attempts that wait for a slot. */
const MAX_WAIT_MS = 10_000;
/** When to look again for slots that other instances return, or that expire because a process was killed. */
const RECHECK_AFTER_MS = [100, 200, 400, 800, 1600, 3200];

/** What is recorded of a failed attempt. */
export interface Failure {
  /** Whether a user has the name. */
  readonly isKnown: boolean;
  /** Given the length of the streak from this network. */
  readonly event: (failureCount: number) => Omit<NewAuthEvent, 'at'>;
  /** Emits the signals, after the commit. */
  readonly emit: (failureCount: number) => void;
}

/**
 * Takes the slots of an attempt before its password is verified, and returns them with its result,
 * outside the application's transaction: its rollback must not forget guesses.
 */
@Injectable()
export class AttemptSlots {
  private readonly limits: StreakLimits;

  constructor(
    @Inject(AUTH_OPTIONS) options: ResolvedAuthOptions,
    private readonly clock: Clock,
    private readonly store: LoginAttemptStore,
    private readonly transactions: ApplicationTransactions,
    private readonly queue: WaitQueue,
  ) {
    const { throttleFrom, windowSeconds } = options.failedLogins;
    this.limits = { throttleFrom, windowMs: windowSeconds * 1000 };
  }

  /**
   * Runs an attempt while its slots are taken. The attempt returns them by `fail` or `succeed`, or by
   * opening a session with its keys; if it throws, they are returned without a result.
   * @throws AuthError `too_many_attempts` or `busy`, before anything is written
   */
  async run<T>(keys: AttemptKeys, attempt: () => Promise<T>): Promise<T> {
    if (this.limits.throttleFrom === false) return attempt();
    await this.take(keys);
    try {
      return await attempt();
    } catch (error) {
      // If they cannot be returned now, they are free after their time.
      await this.transactions.outsideTransaction(() => this.store.release(keys)).catch(() => undefined);
      throw error;
    } finally {
      this.queue.wake(slotOf(keys));
    }
  }

  /** Counts, records and reports a failure. */
  fail(keys: AttemptKeys, { isKnown, event, emit }: Failure): Promise<void> {
    const now = this.clock.now();
    const recorded = (count: number): NewAuthEvent => ({ ...event(count), at: now });
    return this.transactions.outsideTransaction(async () =>
      emit(await this.store.fail({ ...keys, now, limits: this.limits, isKnown, event: recorded })),
    );
  }

  /** Ends the failure streaks. If that fails, they end at the next success or when they expire. */
  async succeed(keys: AttemptKeys): Promise<void> {
    await this.transactions.outsideTransaction(() => this.store.succeed(keys)).catch(() => undefined);
  }

  /** Ends all failure streaks of a name, as a part of the application's transaction. */
  reset(nameKey: string): Promise<void> {
    return this.store.reset(nameKey);
  }

  /** Attempts that find no free slot wait one behind the other, and a newcomer does not overtake them. */
  private async take(keys: AttemptKeys): Promise<void> {
    const turn = `turn ${keys.network}`;
    if (!this.queue.isRunning(turn) && (await this.tryToTake(keys))) return;
    await this.queue.runExclusive(turn, () => this.waitForSlot(keys), MAX_WAIT_MS);
  }

  private async waitForSlot(keys: AttemptKeys): Promise<void> {
    let rechecks = 0;
    while (!(await this.tryToTake(keys))) {
      const recheckMs = RECHECK_AFTER_MS[rechecks];
      if (recheckMs === undefined) throw tooBusy();
      // The next attempt that finishes in this process may free a slot, or set a delay.
      if (!(await this.queue.wait(slotOf(keys), recheckMs))) rechecks++;
    }
  }

  /** @returns false where no slot is free at the moment */
  private async tryToTake(keys: AttemptKeys): Promise<boolean> {
    const now = this.clock.now();
    const admission = await this.transactions.outsideTransaction(() => this.store.admit(keys, now, this.limits));
    if (admission.kind === 'locked') throw tooManyAttempts(LOCKED_RETRY_SECONDS);
    if (admission.kind === 'delayed') throw tooManyAttempts(Math.ceil((admission.until - now) / 1000));
    return admission.kind === 'admitted';
  }
}

function slotOf(keys: AttemptKeys): string {
  return `slot ${keys.network}`;
}

function tooManyAttempts(retryAfterSeconds: number): AuthError {
  return new AuthError('too_many_attempts', 'Too many failed logins. Try again later.', {}, retryAfterSeconds);
}
