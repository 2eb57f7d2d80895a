import type { BlockScope } from '../history/signals';
import type { AccountBlock } from '../options/auth-options';

/**
 * A number of consecutive failed attempts. Instants and durations are in milliseconds.
 *
 * An attempt takes a slot before its secret is verified, and releases the slot when its result is known.
 * Parallel guesses therefore cannot exceed a limit. (NIST SP 800-63B-4, 3.2.2; ASVS 6.3.1)
 */
export interface FailureStreak {
  readonly failures: number;
  /** The number of slots taken by attempts whose secrets are being verified. */
  readonly pending: number;
  /** When the taken slots expire if they are not released, for example because the process was killed. */
  readonly pendingUntil: number;
  /** When the delay or block ends, or 0 if none was set. */
  readonly delayedUntil: number;
  /** When the streak expires. A delay or block that has not ended by then ends with the streak. */
  readonly expiresAt: number;
}

/**
 * The two streaks that count an attempt: the account's streak in the client's network, and the account's streak across
 * all networks.
 */
export interface AttemptStreaks {
  readonly network: FailureStreak;
  readonly account: FailureStreak;
}

/** The limits of a streak. */
export interface StreakLimits {
  /**
   * The length of the streak at which delays begin: this failure and each later failure sets a delay. False for no
   * delays.
   */
  readonly throttleFrom: number | false;
  /**
   * How long the streak in a network is kept after a failure. If twice the delay is longer, the streak is kept for
   * twice the delay.
   */
  readonly windowMs: number;
  /** Which logins the block of the account refuses, or false for no block. */
  readonly accountBlock: AccountBlock | false;
}

/** A delay or a block that refuses attempts. */
export interface LoginBlock {
  readonly scope: BlockScope;
  /** When the delay or block ends, or null if only a reset ends the block. */
  readonly until: number | null;
}

export type Admission =
  | { readonly kind: 'admitted' }
  /** All slots are taken by attempts that are being verified. */
  | { readonly kind: 'at_capacity'; readonly scope: BlockScope }
  | ({ readonly kind: 'blocked' } & LoginBlock);

/** The result of counting a failure. */
export interface CountedFailure {
  /** The length of the streak in the network or session, including this failure. */
  readonly failureCount: number;
  /** The delays and blocks that the failure starts. */
  readonly blocks: readonly LoginBlock[];
  /** Whether the account has just reached half of the failures that block it. */
  readonly isHalfway: boolean;
}

/**
 * The length at which an account's streak across all networks starts the account block, if enabled, and at which a
 * session's streak ends the session. (NIST SP 800-63B-4, 3.2.2)
 */
export const MAX_FAILURES = 100;

/** With an account block, the streak length at which `brute_force_threshold_hit` is emitted for the account. */
export const HALFWAY_FAILURES = MAX_FAILURES / 2;

/** The stored end of a block that only a reset ends: the last instant that a `Date` can represent. */
export const UNTIL_RESET = 8_640_000_000_000_000;

const FIRST_DELAY_MS = 30_000;

const LONGEST_DELAY_MS = 3_600_000;

/** How long a slot is valid, in milliseconds. Attempts normally take less time. */
export const SLOT_MS = 30_000;

const DAY_MS = 86_400_000;

/** How long the block of an unknown name is kept under `strict`, in milliseconds. */
const UNKNOWN_NAME_BLOCK_MS = 30 * DAY_MS;

export const NO_STREAK: FailureStreak = { failures: 0, pending: 0, pendingUntil: 0, delayedUntil: 0, expiresAt: 0 };

/**
 * Returns the slots that an attempt adds to both streaks before its secret is verified. Slots do not extend the
 * lifetime of a streak.
 */
export function slotsOfAttempt(now: number): AttemptStreaks {
  const slot = { ...NO_STREAK, pending: 1, pendingUntil: now + SLOT_MS };
  return { network: slot, account: slot };
}

/**
 * Decides whether an attempt is admitted. The streaks must already include the slots of the attempt.
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
  // If both streaks refuse the attempt, the later end is returned, because the attempt is refused until then.
  if (isLimited && account.delayedUntil > Math.max(now, network.delayedUntil)) {
    const until = account.delayedUntil >= UNTIL_RESET ? null : account.delayedUntil;
    return { kind: 'blocked', scope: 'account', until };
  }
  if (network.delayedUntil > now) return { kind: 'blocked', scope: 'network', until: network.delayedUntil };
  // After a delay, only one attempt at a time is admitted, because its result sets the next delay or ends the streak.
  if (network.pending > Math.max(1, throttleFrom - network.failures)) return { kind: 'at_capacity', scope: 'network' };
  if (isLimited && account.pending > Math.max(1, MAX_FAILURES - account.failures)) {
    return { kind: 'at_capacity', scope: 'account' };
  }
  return { kind: 'admitted' };
}

/** Returns the streaks after another failure, and the result of counting the failure. */
export function failedStreaks(
  { network, account }: AttemptStreaks,
  now: number,
  limits: StreakLimits,
  isKnown: boolean,
): { readonly streaks: AttemptStreaks; readonly counted: CountedFailure } {
  const streaks = {
    network: networkAfterFailure(network, now, limits),
    account: accountAfterFailure(account, now, limits, isKnown),
  };
  const blockSet = (scope: BlockScope, before: FailureStreak, { delayedUntil }: FailureStreak): LoginBlock[] => {
    if (delayedUntil <= Math.max(now, before.delayedUntil)) return [];
    return [{ scope, until: delayedUntil >= UNTIL_RESET ? null : delayedUntil }];
  };
  const counted = {
    failureCount: streaks.network.failures,
    blocks: [...blockSet('network', network, streaks.network), ...blockSet('account', account, streaks.account)],
    isHalfway:
      limits.accountBlock !== false &&
      streaks.account.failures > account.failures &&
      streaks.account.failures === HALFWAY_FAILURES,
  };
  return { streaks, counted };
}

function networkAfterFailure(
  streak: FailureStreak,
  now: number,
  { throttleFrom, windowMs }: StreakLimits,
): FailureStreak {
  const next = withFailure(streak);
  const delayMs = delayAfter(next.failures, throttleFrom);
  return {
    ...next,
    delayedUntil: delayMs === 0 ? 0 : now + delayMs,
    expiresAt: now + Math.max(windowMs, 2 * delayMs),
  };
}

/**
 * Returns the account's streak after another failure. Failures during a block are not counted, because failures from
 * familiar networks would extend the block.
 */
function accountAfterFailure(
  streak: FailureStreak,
  now: number,
  limits: StreakLimits,
  isKnown: boolean,
): FailureStreak {
  const next = withFailure(streak);
  if (streak.delayedUntil > now) return { ...next, failures: streak.failures };
  const expiresAt = now + DAY_MS;
  if (limits.accountBlock === false || next.failures < MAX_FAILURES) {
    return { ...next, delayedUntil: 0, expiresAt };
  }
  // A block of an unknown name expires even under `strict`, because nobody would reset such a block.
  return limits.accountBlock === 'strict'
    ? { ...next, delayedUntil: UNTIL_RESET, expiresAt: isKnown ? UNTIL_RESET : now + UNKNOWN_NAME_BLOCK_MS }
    : { ...next, delayedUntil: expiresAt, expiresAt };
}

function withFailure(streak: FailureStreak): FailureStreak {
  return { ...streak, failures: streak.failures + 1, pending: Math.max(0, streak.pending - 1) };
}

/**
 * Returns the delay after a number of failures, in milliseconds. The delay is 30 seconds after failure `throttleFrom`,
 * and doubles with each further failure, up to one hour.
 */
export function delayAfter(failures: number, throttleFrom: number | false): number {
  if (throttleFrom === false || failures < throttleFrom) return 0;
  return Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.min(failures - throttleFrom, 20));
}

/**
 * The keys of the two streaks that count an attempt. Each key is a SHA-256 digest, so that networks
 * and usernames are not stored in plain text.
 */
export interface AttemptKeys {
  readonly network: string;
  readonly account: string;
  /** The key of the account's streak for passwords, which is stored with every streak of the account. */
  readonly owner: string;
  /** The method that is verified, such as `pwd`. */
  readonly method: string;
}

/** The method name of a password. (RFC 8176, section 2) */
export const PASSWORD_METHOD = 'pwd';
