/**
 * Failed logins in a row: for one name from one network, or for one name from anywhere. Instants are milliseconds.
 *
 * An attempt takes a place before its password is verified, and gives it back with what came of it. So parallel guesses
 * cannot pass a limit, and parallel right passwords are only kept waiting. (NIST SP 800-63B-4, 3.2.2; ASVS 6.3.1)
 */
export interface LoginRun {
  readonly failures: number;
  /** Attempts that are being verified. */
  readonly pending: number;
  /** When those are taken for lost, because their process is. */
  readonly pendingUntil: number;
  /** Until then there is no attempt. */
  readonly delayedUntil: number;
  /** When the run is forgotten. */
  readonly expiresAt: number;
}

/** How a run is bounded. */
export interface RunLimits {
  /** The failure from which on each sets a delay; false for none. */
  readonly throttleFrom: number | false;
  /** How long a run is remembered, if no delay is longer. */
  readonly windowMs: number;
}

export type Admission =
  | { readonly kind: 'admitted' }
  /** There are as many attempts at the moment as could fail before the limit. */
  | { readonly kind: 'crowded' }
  | { readonly kind: 'delayed'; readonly until: number }
  /** Until it is reset. */
  | { readonly kind: 'locked' };

/** The most failures in a row for one name, from wherever they come. (NIST SP 800-63B-4, 3.2.2) */
export const FAILURES_FROM_ANYWHERE = 100;

const FIRST_DELAY_MS = 30_000;
const LONGEST_DELAY_MS = 3_600_000;
/** Longer than any attempt takes. */
const PENDING_MS = 30_000;
const DAY_MS = 86_400_000;
/** What is kept until a good login or a reset: the last instant that a Date can tell. */
const FOREVER = 8_640_000_000_000_000;

export const NO_RUN: LoginRun = { failures: 0, pending: 0, pendingUntil: 0, delayedUntil: 0, expiresAt: 0 };

/** The run as it counts now: what is over is forgotten. */
export function currentRun(run: LoginRun, now: number): LoginRun {
  const known = run.expiresAt > now ? run : { ...run, failures: 0, delayedUntil: 0 };
  return known.pendingUntil > now ? known : { ...known, pending: 0 };
}

/** Whether there is a place for one more attempt for this name from this network. */
export function admissionOf(ofNetwork: LoginRun, ofName: LoginRun, now: number, limits: RunLimits): Admission {
  if (limits.throttleFrom === false) return { kind: 'admitted' };
  if (ofName.failures >= FAILURES_FROM_ANYWHERE) return { kind: 'locked' };
  if (ofNetwork.delayedUntil > now) return { kind: 'delayed', until: ofNetwork.delayedUntil };
  // Behind a delay there is one at a time, which sets the next or ends the run.
  const placesOfNetwork = Math.max(1, limits.throttleFrom - ofNetwork.failures);
  const placesOfName = FAILURES_FROM_ANYWHERE - ofName.failures;
  const isCrowded = ofNetwork.pending >= placesOfNetwork || ofName.pending >= placesOfName;
  return { kind: isCrowded ? 'crowded' : 'admitted' };
}

export function withPlaceTaken(run: LoginRun, now: number, rememberMs: number): LoginRun {
  return {
    ...run,
    pending: run.pending + 1,
    pendingUntil: now + PENDING_MS,
    expiresAt: Math.max(run.expiresAt, now + rememberMs),
  };
}

/** After one more failure from this network: 30 s from the limit on, doubled each time, an hour at the most. */
export function failedFromNetwork(run: LoginRun, now: number, { throttleFrom, windowMs }: RunLimits): LoginRun {
  const failures = run.failures + 1;
  const steps = throttleFrom === false ? -1 : failures - throttleFrom;
  const delayMs = steps < 0 ? 0 : Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.min(steps, 20));
  return {
    ...run,
    failures,
    pending: Math.max(0, run.pending - 1),
    delayedUntil: delayMs === 0 ? 0 : now + delayMs,
    expiresAt: now + Math.max(windowMs, 2 * delayMs),
  };
}

/** After one more failure from anywhere. What is counted for a name that nobody has is forgotten after a day. */
export function failedFromAnywhere(run: LoginRun, now: number, isKnown: boolean): LoginRun {
  return {
    ...run,
    failures: run.failures + 1,
    pending: Math.max(0, run.pending - 1),
    expiresAt: isKnown ? FOREVER : now + DAY_MS,
  };
}
