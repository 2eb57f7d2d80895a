import { MAX_METHODS } from '../sessions/proofs';
import { type Admission, type CountedFailure, delayAfter, MAX_FAILURES, SLOT_MS } from './limits';

/**
 * The consecutive wrong passwords and codes within one session. Instants are in milliseconds. The streak ends when each
 * of the `failedMethods` has succeeded again. An attacker with a stolen session therefore cannot end the streak by
 * waiting, or by entering the password after wrong codes.
 */
export interface SessionStreak {
  readonly failures: number;
  /** Up to 8 methods that have failed and not succeeded since then, in the form that `delimitedMethod` returns. */
  readonly failedMethods: string;
  /** When the slot expires if it is not released. A session has only one slot. */
  readonly pendingUntil: number;
  /** Attempts before this instant are refused. */
  readonly delayedUntil: number;
}

export const NO_SESSION_STREAK: SessionStreak = { failures: 0, failedMethods: '', pendingUntil: 0, delayedUntil: 0 };

/** The result of counting a wrong password or code within a session. */
export interface CountedSessionFailure {
  readonly streak: SessionStreak;
  readonly counted: CountedFailure;
  /** Whether the streak has reached the maximum, which ends the session. */
  readonly endsSession: boolean;
}

/** Decides whether a password or code may be verified within the session. */
export function admissionInSession({ pendingUntil, delayedUntil }: SessionStreak, now: number): Admission {
  if (delayedUntil > now) return { kind: 'blocked', scope: 'session', until: delayedUntil };
  // A slot that expires later than a new slot was taken by an instance whose clock is ahead, and is ignored.
  const isTaken = pendingUntil > now && pendingUntil <= sessionSlotExpiresAt(now);
  return isTaken ? { kind: 'at_capacity', scope: 'session' } : { kind: 'admitted' };
}

/** Returns when the slot of an attempt that is admitted at `now` expires. */
export function sessionSlotExpiresAt(now: number): number {
  return now + SLOT_MS;
}

/**
 * Returns the method name enclosed in commas, so that a search in `failedMethods` never matches a part of a longer
 * name.
 */
export function delimitedMethod(name: string): string {
  return `,${name},`;
}

/** Returns the streak after another failure of the method. The delays are the same as for failed logins. */
export function countSessionFailure(
  before: SessionStreak,
  method: string,
  now: number,
  throttleFrom: number | false,
): CountedSessionFailure {
  const failures = before.failures + 1;
  const endsSession = failures >= MAX_FAILURES;
  const delayMs = endsSession ? 0 : delayAfter(failures, throttleFrom);
  const until = now + delayMs;
  return {
    streak: {
      failures,
      failedMethods: withFailed(before.failedMethods, delimitedMethod(method)),
      pendingUntil: 0,
      delayedUntil: delayMs === 0 ? 0 : until,
    },
    counted: { failureCount: failures, blocks: delayMs === 0 ? [] : [{ scope: 'session', until }], isHalfway: false },
    endsSession,
  };
}

function withFailed(before: string, failed: string): string {
  const isFull = before.length > 0 && before.split(',,').length >= MAX_METHODS;
  return isFull || before.includes(failed) ? before : before + failed;
}
