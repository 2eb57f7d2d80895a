import { Injectable } from '@nestjs/common';
import { AuthError, tooBusy } from '../../domain/errors';
import type { Admission, LoginBlock } from '../../domain/failure-streak';
import { ApplicationTransactions, Clock } from '../../domain/ports/platform';
import { WaitQueue } from './wait-queue';

/** `Retry-After` where only a reset helps: the same for known and unknown names. */
const RESET_RETRY_SECONDS = 86_400;
/** The longest wait in the queue, behind other attempts that wait for a slot. */
const MAX_WAIT_MS = 10_000;
/** When to look again for slots that other instances return, or that expire because a process was killed. */
const RECHECK_AFTER_MS = [100, 200, 400, 800, 1600, 3200];

/** The slots that an attempt needs, where its failures are counted. */
export interface Slots {
  /** Attempts with the same key compete for the same slots. */
  readonly key: string;
  /** Takes them if the attempt is admitted. */
  take(now: number): Promise<Admission>;
  /** Returns those that were taken at this instant. */
  release(takenAt: number): Promise<void>;
}

/**
 * Takes the slots of an attempt before its password is verified, and returns them with its result,
 * outside the application's transaction: its rollback must not forget guesses.
 */
@Injectable()
export class AttemptSlots {
  constructor(
    private readonly clock: Clock,
    private readonly transactions: ApplicationTransactions,
    private readonly queue: WaitQueue,
  ) {}

  /**
   * Enters the queue, before anything is read or written: what is refused here leaves no rows.
   * @throws AuthError `busy`
   */
  enter<T>(network: string, work: () => Promise<T>): Promise<T> {
    return this.queue.enter(network, work);
  }

  /** Stores the result of an attempt. */
  settle<T>(store: () => Promise<T>): Promise<T> {
    return this.transactions.outsideTransaction(store);
  }

  /**
   * Runs an attempt that has entered, while its slots are taken. Its result returns them: a failure
   * that is counted within `settle`, or a success, which may call `release`. If it throws, they are
   * returned without a result.
   * @throws AuthError `too_many_attempts` or `busy`, before anything is written
   */
  async run<T>(slots: Slots, attempt: (release: () => Promise<void>) => Promise<T>): Promise<T> {
    const takenAt = await this.take(slots);
    const release = (): Promise<void> => this.settle(() => slots.release(takenAt));
    try {
      return await attempt(release);
    } catch (error) {
      // If they cannot be returned now, they are free after their time.
      await release().catch(() => undefined);
      throw error;
    } finally {
      this.queue.wake(slotOf(slots));
    }
  }

  /**
   * Attempts that find no free slot wait one behind the other, and a newcomer does not overtake them.
   * @returns when the slots were taken
   */
  private async take(slots: Slots): Promise<number> {
    const turn = `turn ${slots.key}`;
    const takenAt = this.queue.isRunning(turn) ? null : await this.tryToTake(slots);
    return takenAt ?? this.queue.runExclusive(turn, () => this.waitForSlot(slots), MAX_WAIT_MS);
  }

  private async waitForSlot(slots: Slots): Promise<number> {
    for (let rechecks = 0; ;) {
      const takenAt = await this.tryToTake(slots);
      if (takenAt !== null) return takenAt;
      const recheckMs = RECHECK_AFTER_MS[rechecks];
      if (recheckMs === undefined) throw tooBusy();
      // The next attempt that finishes in this process may free a slot, or set a delay.
      if (!(await this.queue.wait(slotOf(slots), recheckMs))) rechecks++;
    }
  }

  /** @returns null where no slot is free at the moment */
  private async tryToTake(slots: Slots): Promise<number | null> {
    const now = this.clock.now();
    const admission = await this.transactions.outsideTransaction(() => slots.take(now));
    if (admission.kind === 'blocked') throw tooManyAttempts(admission, now);
    return admission.kind === 'admitted' ? now : null;
  }
}

function slotOf({ key }: Slots): string {
  return `slot ${key}`;
}

function tooManyAttempts({ until }: LoginBlock, now: number): AuthError {
  const seconds = until === null ? RESET_RETRY_SECONDS : Math.ceil((until - now) / 1000);
  return new AuthError('too_many_attempts', 'Too many failed logins. Try again later.', {}, seconds);
}
