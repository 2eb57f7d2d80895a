import { Injectable } from '@nestjs/common';
import { Clock } from '../base/clock';
import { AuthError, tooBusy } from '../base/errors';
import { WaitQueue } from '../passwords/hash-queue';
import type { Admission, LoginBlock } from './limits';

/** The `Retry-After` of a block that only a reset ends. The value is the same for known and unknown names. */
const RESET_RETRY_SECONDS = 86_400;

/** The longest time that an attempt waits behind other attempts that wait for a slot. */
const MAX_WAIT_MS = 10_000;

/**
 * The delays between the checks for slots that other instances have released, or that have expired because a process
 * was killed.
 */
const RECHECK_AFTER_MS = [100, 200, 400, 800, 1600, 3200];

/** The slots that an attempt needs in the failure streaks that count it. */
export interface Slots {
  /** Attempts with the same key compete for the same slots. */
  readonly key: string;
  /** Takes the slots if the attempt is admitted. */
  take(now: number): Promise<Admission>;
  /** Releases the slots that were taken at this instant. */
  release(takenAt: number): Promise<void>;
}

/**
 * Takes the slots of an attempt before its secret is verified, and releases the slots when the result is known. Except
 * on SQLite, both happen outside the application's transaction, because a rollback must not undo the count of failures.
 */
@Injectable()
export class AttemptSlots {
  constructor(
    private readonly clock: Clock,
    private readonly queue: WaitQueue,
  ) {}

  /**
   * Enters the queue and runs the work.
   * @throws AuthError `busy` if the queue is at capacity, before the work runs
   */
  enter<T>(network: string, work: () => Promise<T>): Promise<T> {
    return this.queue.enter(network, work);
  }

  /**
   * Takes the slots and runs the attempt. Call this method within `enter`. The store releases the slots when it
   * counts a failure or ends the failure streaks. Otherwise, an attempt that returns must have called `release`. If
   * the attempt throws, the slots are released and no failure is counted. After `database_unavailable`, the call does
   * not wait for the release, which may take as long again.
   * @throws AuthError `too_many_attempts` or `busy`, before the attempt runs
   */
  async run<T>(slots: Slots, attempt: (release: () => Promise<void>) => Promise<T>): Promise<T> {
    const takenAt = await this.take(slots);
    const release = (): Promise<void> => slots.release(takenAt);
    const wake = (): boolean => this.queue.wake(slotKey(slots));
    try {
      const result = await attempt(release);
      wake();
      return result;
    } catch (error) {
      // Slots that cannot be released expire.
      const released = release()
        .catch(() => undefined)
        .finally(wake);
      if (!(error instanceof AuthError && error.code === 'database_unavailable')) await released;
      throw error;
    }
  }

  /**
   * Takes the slots, and waits if no slot is free. In each process, the waiting attempts with the same key are served
   * in the order of arrival, before new attempts.
   * @returns the time at which the slots were taken
   */
  private async take(slots: Slots): Promise<number> {
    const turnKey = `turn ${slots.key}`;
    const takenAt = this.queue.isRunning(turnKey) ? null : await this.tryToTake(slots);
    return takenAt ?? this.queue.runExclusive(turnKey, () => this.waitForSlot(slots), MAX_WAIT_MS);
  }

  private async waitForSlot(slots: Slots): Promise<number> {
    for (let rechecks = 0; ;) {
      const takenAt = await this.tryToTake(slots);
      if (takenAt !== null) return takenAt;
      const recheckMs = RECHECK_AFTER_MS[rechecks];
      if (recheckMs === undefined) throw tooBusy();
      // The wait ends early when this process finishes an attempt with the key, which may free a slot or set a delay.
      if (!(await this.queue.wait(slotKey(slots), recheckMs))) rechecks++;
    }
  }

  /**
   * Takes the slots if the attempt is admitted.
   * @returns the time at which the slots were taken, or null if no slot is free
   * @throws AuthError `too_many_attempts`
   */
  private async tryToTake(slots: Slots): Promise<number | null> {
    const now = this.clock.now();
    const admission = await slots.take(now);
    if (admission.kind === 'blocked') throw tooManyAttempts(admission, now);
    return admission.kind === 'admitted' ? now : null;
  }
}

function slotKey({ key }: Slots): string {
  return `slot ${key}`;
}

function tooManyAttempts({ until }: LoginBlock, now: number): AuthError {
  const seconds = until === null ? RESET_RETRY_SECONDS : Math.ceil((until - now) / 1000);
  return new AuthError('too_many_attempts', 'Too many failed attempts. Try again later.', {}, seconds);
}
