import { Inject, Injectable } from '@nestjs/common';
import type { NewAuthEvent } from '../../domain/auth-event';
import type { Client } from '../../domain/client';
import { AuthError, tooBusy } from '../../domain/errors';
import type { Admission, AttemptKeys, CountedFailure, LoginBlock, StreakLimits } from '../../domain/failure-streak';
import { ApplicationTransactions, Clock } from '../../domain/ports/platform';
import { LoginAttemptStore } from '../../domain/ports/accounts';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from '../../options/auth-options';
import { WaitQueue } from './wait-queue';

/** `Retry-After` where only a reset helps: the same for known and unknown names. */
const RESET_RETRY_SECONDS = 86_400;
/** The longest wait in the queue, behind other attempts that wait for a slot. */
const MAX_WAIT_MS = 10_000;
/** When to look again for slots that other instances return, or that expire because a process was killed. */
const RECHECK_AFTER_MS = [100, 200, 400, 800, 1600, 3200];

/** An attempt that asks for its slots. */
export interface SlotRequest {
  readonly keys: AttemptKeys;
  readonly username: string;
  readonly client: Pick<Client, 'network' | 'trackedNetwork'>;
  /** Whether the password is confirmed within a session, which no block of the account concerns. */
  readonly isInSession: boolean;
}

/** What is recorded of a failed attempt. */
export interface Failure {
  /** Whether a user has the name. */
  readonly isKnown: boolean;
  readonly events: (counted: CountedFailure, now: number) => readonly NewAuthEvent[];
  /** Emits the signals, after the commit. */
  readonly emit: (counted: CountedFailure) => void;
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
    const { throttleFrom, windowSeconds, accountBlock } = options.failedLogins;
    const isThrottled = throttleFrom !== false;
    this.limits = { throttleFrom, windowMs: windowSeconds * 1000, accountBlock: isThrottled && accountBlock };
  }

  /**
   * Runs an attempt while its slots are taken. The attempt returns them by `fail` or `succeed`, or by
   * opening a session with its keys; if it throws, they are returned without a result.
   * @throws AuthError `too_many_attempts` or `busy`, before anything is written
   */
  run<T>(request: SlotRequest, attempt: () => Promise<T>): Promise<T> {
    // Entered before anything is written: what is refused leaves no rows.
    return this.queue.enter(request.client.network, () => this.runEntered(request, attempt));
  }

  /** Counts, records and reports a failure. */
  fail(keys: AttemptKeys, { isKnown, events, emit }: Failure): Promise<void> {
    const now = this.clock.now();
    const record = (counted: CountedFailure): readonly NewAuthEvent[] => events(counted, now);
    return this.transactions.outsideTransaction(async () =>
      emit(await this.store.fail({ ...keys, now, limits: this.limits, isKnown, events: record })),
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

  private async runEntered<T>(request: SlotRequest, attempt: () => Promise<T>): Promise<T> {
    if (this.limits.throttleFrom === false) return attempt();
    const { keys } = request;
    await this.take(
      keys,
      once(() => this.isExempt(request)),
    );
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

  /** Attempts that find no free slot wait one behind the other, and a newcomer does not overtake them. */
  private async take(keys: AttemptKeys, isExempt: () => Promise<boolean>): Promise<void> {
    const turn = `turn ${keys.network}`;
    if (!this.queue.isRunning(turn) && (await this.tryToTake(keys, isExempt))) return;
    await this.queue.runExclusive(turn, () => this.waitForSlot(keys, isExempt), MAX_WAIT_MS);
  }

  private async waitForSlot(keys: AttemptKeys, isExempt: () => Promise<boolean>): Promise<void> {
    let rechecks = 0;
    while (!(await this.tryToTake(keys, isExempt))) {
      const recheckMs = RECHECK_AFTER_MS[rechecks];
      if (recheckMs === undefined) throw tooBusy();
      // The next attempt that finishes in this process may free a slot, or set a delay.
      if (!(await this.queue.wait(slotOf(keys), recheckMs))) rechecks++;
    }
  }

  /** @returns false where no slot is free at the moment */
  private async tryToTake(keys: AttemptKeys, isExempt: () => Promise<boolean>): Promise<boolean> {
    const now = this.clock.now();
    const admit = (isAccountBound: boolean): Promise<Admission> =>
      this.transactions.outsideTransaction(() =>
        this.store.admit({ ...keys, now, limits: this.limits, isAccountBound }),
      );
    let admission = await admit(true);
    const isOfAccount = admission.kind !== 'admitted' && admission.scope === 'account';
    if (isOfAccount && (await isExempt())) admission = await admit(false);
    if (admission.kind === 'blocked') throw tooManyAttempts(admission, now);
    return admission.kind === 'admitted';
  }

  /** Whether the limits of the account do not concern an attempt. */
  private async isExempt({ username, client, isInSession }: SlotRequest): Promise<boolean> {
    if (isInSession) return true;
    if (this.limits.accountBlock !== 'unfamiliar' || client.trackedNetwork === '') return false;
    return this.transactions.outsideTransaction(() => this.store.isFamiliar(username, client.trackedNetwork));
  }
}

/** Asks the first time only. */
function once<T>(ask: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | undefined;
  return () => (answer ??= ask());
}

function slotOf(keys: AttemptKeys): string {
  return `slot ${keys.network}`;
}

function tooManyAttempts({ until }: LoginBlock, now: number): AuthError {
  const seconds = until === null ? RESET_RETRY_SECONDS : Math.ceil((until - now) / 1000);
  return new AuthError('too_many_attempts', 'Too many failed logins. Try again later.', {}, seconds);
}
