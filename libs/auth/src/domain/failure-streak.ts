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

/** The streaks in which a login counts: for its account from its network, and from anywhere. */
export interface AttemptStreaks {
  readonly network: FailureStreak;
  readonly account: FailureStreak;
}

/** The logins that the block of an account refuses: those from unfamiliar networks, or all. */
export type AccountBlock = 'unfamiliar' | 'strict';

/** How a streak is bounded. */
export interface StreakLimits {
  /** The failure from which on each sets a delay; false for none. */
  readonly throttleFrom: number | false;
  /** How long the streak of a network is remembered, if no delay is longer. */
  readonly windowMs: number;
  /** False for no block, and no limit to the failures from anywhere. */
  readonly accountBlock: AccountBlock | false;
}

/** What refuses attempts: the delay of one network or session, or the block of the account. */
export type BlockScope = 'network' | 'account' | 'session';

/** A delay or a block. */
export interface LoginBlock {
  readonly scope: BlockScope;
  /** Null where only a reset ends it. */
  readonly until: number | null;
}

export type Admission =
  | { readonly kind: 'admitted' }
  /** As many attempts are being verified as could fail before the limit. */
  | { readonly kind: 'at_capacity'; readonly scope: BlockScope }
  | ({ readonly kind: 'blocked' } & LoginBlock);

/** What one more failure leads to. */
export interface CountedFailure {
  /** Failures in a row, this one included: from the network of a login, or within a session. */
  readonly failureCount: number;
  /** The delays and blocks that it begins. */
  readonly blocks: readonly LoginBlock[];
  /** Whether the account is halfway to its block. */
  readonly isHalfway: boolean;
}

/** The most failures in a row for one account from anywhere, or within one session. (NIST SP 800-63B-4, 3.2.2) */
export const MAX_FAILURES = 100;

/** The failures from anywhere at which `brute_force_threshold_hit` reports the account. */
export const HALFWAY_FAILURES = MAX_FAILURES / 2;

/** The end of a block that only a reset ends: the last instant of a Date. */
export const UNTIL_RESET = 8_640_000_000_000_000;

const FIRST_DELAY_MS = 30_000;
const LONGEST_DELAY_MS = 3_600_000;
/** How long a slot is kept for an attempt: longer than any takes. */
export const SLOT_MS = 30_000;
const DAY_MS = 86_400_000;
/** How long a block that only a reset ends is kept for a name that nobody has. */
const UNKNOWN_NAME_MS = 30 * DAY_MS;

export const NO_STREAK: FailureStreak = { failures: 0, pending: 0, pendingUntil: 0, delayedUntil: 0, expiresAt: 0 };

/** What an attempt adds to both streaks before its password is verified. It prolongs neither. */
export function slotsOfAttempt(now: number): AttemptStreaks {
  const slot = { ...NO_STREAK, pending: 1, pendingUntil: now + SLOT_MS };
  return { network: slot, account: slot };
}

/**
 * Whether an attempt may be verified whose slots are part of these streaks.
 * @param enforceAccountLimits false for an attempt from a familiar network
 */
export function admissionOf(
  { network, account }: AttemptStreaks,
  now: number,
  { throttleFrom, accountBlock }: StreakLimits,
  enforceAccountLimits: boolean,
): Admission {
  if (throttleFrom === false) return { kind: 'admitted' };
  const isLimited = enforceAccountLimits && accountBlock !== false;
  // Of both, the one that ends later: Retry-After promises an attempt.
  if (isLimited && account.delayedUntil > Math.max(now, network.delayedUntil)) {
    const until = account.delayedUntil >= UNTIL_RESET ? null : account.delayedUntil;
    return { kind: 'blocked', scope: 'account', until };
  }
  if (network.delayedUntil > now) return { kind: 'blocked', scope: 'network', until: network.delayedUntil };
  // After a delay there is one attempt at a time, which sets the next delay or ends the streak.
  if (network.pending > Math.max(1, throttleFrom - network.failures)) return { kind: 'at_capacity', scope: 'network' };
  if (isLimited && account.pending > Math.max(1, MAX_FAILURES - account.failures)) {
    return { kind: 'at_capacity', scope: 'account' };
  }
  return { kind: 'admitted' };
}

/** The streaks after one more failure, and what it leads to. */
export function failedStreaks(
  { network, account }: AttemptStreaks,
  now: number,
  limits: StreakLimits,
  isKnown: boolean,
): { readonly streaks: AttemptStreaks; readonly counted: CountedFailure } {
  const streaks = {
    network: failedNetwork(network, now, limits),
    account: failedAccount(account, now, limits, isKnown),
  };
  const began = (scope: BlockScope, before: FailureStreak, { delayedUntil }: FailureStreak): LoginBlock[] => {
    if (delayedUntil <= Math.max(now, before.delayedUntil)) return [];
    return [{ scope, until: delayedUntil >= UNTIL_RESET ? null : delayedUntil }];
  };
  const counted = {
    failureCount: streaks.network.failures,
    blocks: [...began('network', network, streaks.network), ...began('account', account, streaks.account)],
    isHalfway:
      limits.accountBlock !== false &&
      streaks.account.failures > account.failures &&
      streaks.account.failures === HALFWAY_FAILURES,
  };
  return { streaks, counted };
}

function failedNetwork(streak: FailureStreak, now: number, { throttleFrom, windowMs }: StreakLimits): FailureStreak {
  const next = failed(streak);
  const delayMs = delayAfter(next.failures, throttleFrom);
  return {
    ...next,
    delayedUntil: delayMs === 0 ? 0 : now + delayMs,
    expiresAt: now + Math.max(windowMs, 2 * delayMs),
  };
}

/** Failures during a block do not count: those of familiar networks must not prolong it. */
function failedAccount(streak: FailureStreak, now: number, limits: StreakLimits, isKnown: boolean): FailureStreak {
  const next = failed(streak);
  if (streak.delayedUntil > now) return { ...next, failures: streak.failures };
  const expiresAt = now + DAY_MS;
  if (limits.accountBlock === false || next.failures < MAX_FAILURES) {
    return { ...next, delayedUntil: 0, expiresAt };
  }
  // Nobody resets the block of an unknown name, whose row must not stay for good.
  return limits.accountBlock === 'strict'
    ? { ...next, delayedUntil: UNTIL_RESET, expiresAt: isKnown ? UNTIL_RESET : now + UNKNOWN_NAME_MS }
    : { ...next, delayedUntil: expiresAt, expiresAt };
}

function failed(streak: FailureStreak): FailureStreak {
  return { ...streak, failures: streak.failures + 1, pending: Math.max(0, streak.pending - 1) };
}

/** The delay after so many failures: 30 s from the first one that sets a delay, doubled each time, an hour at most. */
export function delayAfter(failures: number, throttleFrom: number | false): number {
  if (throttleFrom === false || failures < throttleFrom) return 0;
  return Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.min(failures - throttleFrom, 20));
}

/** The keys of the two streaks: digests that reveal neither the user nor the network. */
export interface AttemptKeys {
  readonly network: string;
  readonly account: string;
  /** The account of the user or name: that of the streak of passwords. All streaks of the account are found by it. */
  readonly owner: string;
  /** What is verified: `pwd`, or another method. */
  readonly method: string;
}
