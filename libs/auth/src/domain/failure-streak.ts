/**
 * Failed logins in a row. Instants and durations are milliseconds.
 *
 * An attempt takes a slot before its password is verified, and returns it with its result. So
 * parallel guesses cannot pass a limit. (NIST SP 800-63B-4, 3.2.2; ASVS 6.3.1)
 */
export interface FailureStreak {
  readonly failures: number;
  /** Slots that are taken: attempts that are being verified. */
  readonly pending: number;
  /** When the slots are free again even if they are not returned, because their process died. */
  readonly pendingUntil: number;
  /** Attempts before this instant are refused. */
  readonly delayedUntil: number;
  /** When the failures and their delay are forgotten. */
  readonly expiresAt: number;
}

/** The streaks in which an attempt counts: for its name from its network, and from anywhere. */
export interface AttemptStreaks {
  readonly network: FailureStreak;
  readonly name: FailureStreak;
}

/** How a streak is bounded. */
export interface StreakLimits {
  /** The failure from which on each sets a delay; false for none. */
  readonly throttleFrom: number | false;
  /** How long a streak is remembered, if no delay is longer. */
  readonly windowMs: number;
}

export type Admission =
  | { readonly kind: 'admitted' }
  /** As many attempts are being verified as could fail before the limit. */
  | { readonly kind: 'at_capacity' }
  | { readonly kind: 'delayed'; readonly until: number }
  /** Until it is reset. */
  | { readonly kind: 'locked' };

/** The most failures in a row for one name from anywhere. (NIST SP 800-63B-4, 3.2.2) */
export const MAX_FAILURES_OF_NAME = 100;

const FIRST_DELAY_MS = 30_000;
const LONGEST_DELAY_MS = 3_600_000;
/** Longer than any attempt takes. */
const SLOT_MS = 30_000;
const DAY_MS = 86_400_000;
/** Kept until a successful login or a reset: the last instant of a Date. */
const FOREVER = 8_640_000_000_000_000;

export const NO_STREAK: FailureStreak = { failures: 0, pending: 0, pendingUntil: 0, delayedUntil: 0, expiresAt: 0 };

/** What an attempt adds to both streaks before its password is verified. */
export function slotsOfAttempt(now: number, { windowMs }: StreakLimits): AttemptStreaks {
  const slot = { ...NO_STREAK, pending: 1, pendingUntil: now + SLOT_MS };
  return { network: { ...slot, expiresAt: now + windowMs }, name: { ...slot, expiresAt: now + DAY_MS } };
}

/** Whether an attempt may be verified whose slots are part of these streaks. */
export function admissionOf({ network, name }: AttemptStreaks, now: number, { throttleFrom }: StreakLimits): Admission {
  if (throttleFrom === false) return { kind: 'admitted' };
  if (name.failures >= MAX_FAILURES_OF_NAME) return { kind: 'locked' };
  if (network.delayedUntil > now) return { kind: 'delayed', until: network.delayedUntil };
  // After a delay there is one attempt at a time, which sets the next delay or ends the streak.
  const isAdmitted =
    network.pending <= Math.max(1, throttleFrom - network.failures) &&
    name.pending <= MAX_FAILURES_OF_NAME - name.failures;
  return { kind: isAdmitted ? 'admitted' : 'at_capacity' };
}

/** The streaks after one more failure. What is counted for an unknown name is forgotten after a day. */
export function failedStreaks(
  { network, name }: AttemptStreaks,
  now: number,
  { throttleFrom, windowMs }: StreakLimits,
  isKnown: boolean,
): AttemptStreaks {
  const delayMs = throttleFrom === false ? 0 : delayAfter(network.failures + 1 - throttleFrom);
  return {
    network: {
      ...failed(network),
      delayedUntil: delayMs === 0 ? 0 : now + delayMs,
      expiresAt: now + Math.max(windowMs, 2 * delayMs),
    },
    name: { ...failed(name), expiresAt: isKnown ? FOREVER : now + DAY_MS },
  };
}

function failed(streak: FailureStreak): FailureStreak {
  return { ...streak, failures: streak.failures + 1, pending: Math.max(0, streak.pending - 1) };
}

/** The delay so many failures after the first that sets one: 30 s, doubled each time, an hour at most. */
function delayAfter(steps: number): number {
  return steps < 0 ? 0 : Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.min(steps, 20));
}

/** The keys of the two streaks: digests that reveal neither name nor network. */
export interface AttemptKeys {
  readonly network: string;
  readonly name: string;
}
