import type { BlockScope } from '../history/signals';
import type { AccountBlock } from '../options/auth-options';

/** The method name of a password. (RFC 8176, section 2) */
export const PASSWORD_METHOD = 'pwd';

/** The consecutive failures that begin the account block, if enabled, or end a session. (NIST SP 800-63B-4, 3.2.2) */
export const MAX_FAILURES = 100;

/** With an account block, the number of failures at which `brute_force_threshold_hit` is emitted for the account. */
export const HALFWAY_FAILURES = MAX_FAILURES / 2;

/** The stored end of a block that only a reset ends: the last instant that a `Date` can represent. */
export const UNTIL_RESET = 8_640_000_000_000_000;

/** The `Retry-After` of a block that only a reset ends. The value is the same for known and unknown names. */
export const RESET_RETRY_SECONDS = 86_400;

const FIRST_DELAY_MS = 30_000;

const LONGEST_DELAY_MS = 3_600_000;

const DAY_MS = 86_400_000;

/** How long the block of an unknown name is kept under `strict`, because no user would reset it. */
const UNKNOWN_NAME_BLOCK_MS = 30 * DAY_MS;

/** The limits that the options set. Durations are in milliseconds. */
export interface Limits {
  /** The number of failures at which delays begin. False for no delays. */
  readonly throttleFrom: number | false;
  /** How long the failures from a network are counted after the last one, or twice the delay if that is longer. */
  readonly windowMs: number;
  /** How long the failures within a session are counted after the last one: at least as long as a session lasts. */
  readonly sessionMs: number;
  /** Which logins the block of the account refuses, or false for no block. */
  readonly accountBlock: AccountBlock | false;
}

/** A delay or a block that refuses attempts. */
export interface LoginBlock {
  readonly scope: BlockScope;
  /** When the delay or block ends, or null if only a reset ends the block. */
  readonly until: number | null;
}

/** Returns the delay or block of the counters that refuses an attempt for the longest time, or null. */
export function refusal(
  counters: readonly { readonly scope: BlockScope; readonly delayedUntil: number }[],
  now: number,
): LoginBlock | null {
  const longest = counters.reduce((one, other) => (other.delayedUntil > one.delayedUntil ? other : one));
  return longest.delayedUntil > now ? blockUntil(longest.scope, longest.delayedUntil) : null;
}

/** Returns when the longest delay or block of a scope would end, if it began now. */
export function longestUntil(scope: BlockScope, now: number): number {
  return now + (scope === 'account' ? DAY_MS : LONGEST_DELAY_MS);
}

export function blockUntil(scope: BlockScope, until: number): LoginBlock {
  return { scope, until: until >= UNTIL_RESET ? null : until };
}

/** Returns until when a counter is kept after an attempt, unless a delay or block keeps it longer. */
export function expiryAfter(scope: BlockScope, now: number, { windowMs, sessionMs }: Limits): number {
  return now + { network: windowMs, account: DAY_MS, session: sessionMs }[scope];
}

/**
 * Returns the delay or block that an attempt begins, and how long its counter is then kept.
 * @param failures the failures of the counter, this attempt included
 * @param isKnown whether the attempt is for a user, and not for an unknown name
 */
export function begins(
  scope: BlockScope,
  failures: number,
  now: number,
  limits: Limits,
  isKnown: boolean,
): { readonly until: number; readonly expiresAt: number } | null {
  if (scope === 'account') {
    if (failures < MAX_FAILURES) return null;
    if (limits.accountBlock !== 'strict') return { until: now + DAY_MS, expiresAt: now + DAY_MS };
    return { until: UNTIL_RESET, expiresAt: isKnown ? UNTIL_RESET : now + UNKNOWN_NAME_BLOCK_MS };
  }
  const usual = delayAfter(failures, limits.throttleFrom);
  // The 100th failure ends the session. Until its secret is verified, no parallel attempt is admitted.
  const delayMs = scope === 'session' && failures >= MAX_FAILURES ? Math.max(usual, FIRST_DELAY_MS) : usual;
  if (delayMs === 0) return null;
  return { until: now + delayMs, expiresAt: Math.max(expiryAfter(scope, now, limits), now + 2 * delayMs) };
}

/** Returns the delay after a number of failures: 30 seconds after failure `throttleFrom`, then doubled up to an hour. */
export function delayAfter(failures: number, throttleFrom: number | false): number {
  if (throttleFrom === false || failures < throttleFrom) return 0;
  return Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (failures - throttleFrom));
}
