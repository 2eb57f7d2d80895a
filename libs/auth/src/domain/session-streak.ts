import { delayAfter, MAX_FAILURES, SLOT_MS, type Admission, type CountedFailure } from './failure-streak';

/**
 * Wrong passwords in a row within one session. Instants are milliseconds. Only a right one ends them: a thief who holds the
 * session must not have more guesses by waiting.
 */
export interface SessionStreak {
  readonly failures: number;
  /** When the slot is free again even if it is not returned. A session has one: no honest user needs more. */
  readonly pendingUntil: number;
  /** Attempts before this instant are refused. */
  readonly delayedUntil: number;
}

export const NO_SESSION_STREAK: SessionStreak = { failures: 0, pendingUntil: 0, delayedUntil: 0 };

/** What one more wrong password within a session leads to. */
export interface CountedInSession {
  readonly streak: SessionStreak;
  readonly counted: CountedFailure;
  /** Whether it was the last one that the session allows. */
  readonly endsSession: boolean;
}

/** Whether a password may be verified within the session. */
export function admissionInSession({ pendingUntil, delayedUntil }: SessionStreak, now: number): Admission {
  if (delayedUntil > now) return { kind: 'blocked', scope: 'session', until: delayedUntil };
  // Further ahead than any slot: it was taken by an instance whose clock is wrong.
  const isTaken = pendingUntil > now && pendingUntil <= slotInSession(now);
  return isTaken ? { kind: 'at_capacity', scope: 'session' } : { kind: 'admitted' };
}

/** When the slot of an attempt that is admitted now is free again. */
export function slotInSession(now: number): number {
  return now + SLOT_MS;
}

/** The streak after one more failure, with the delays of failed logins. */
export function failedInSession(before: SessionStreak, now: number, throttleFrom: number | false): CountedInSession {
  const failures = before.failures + 1;
  const endsSession = failures >= MAX_FAILURES;
  const delayMs = endsSession ? 0 : delayAfter(failures, throttleFrom);
  const until = now + delayMs;
  return {
    streak: { failures, pendingUntil: 0, delayedUntil: delayMs === 0 ? 0 : until },
    counted: { failureCount: failures, blocks: delayMs === 0 ? [] : [{ scope: 'session', until }], isHalfway: false },
    endsSession,
  };
}
