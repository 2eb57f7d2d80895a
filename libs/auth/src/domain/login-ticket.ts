import type { StoredProofs } from './proofs';

/** How long a login ticket is valid, in milliseconds. */
export const TICKET_LIFETIME_MS = 300_000;

/**
 * The number of failed attempts after which a ticket is revoked. Each attempt is counted before its secret is checked,
 * and subtracted again if the secret is correct.
 */
export const MAX_TICKET_FAILURES = 5;

/** The maximum number of valid tickets of a user. */
export const MAX_TICKETS = 20;

/** A stored login ticket, which represents a login after its first factor and before its session is opened. */
export interface LoginTicket extends StoredProofs {
  /** The SHA-256 digest of the ticket. */
  readonly digest: string;
  /** The user's id as text. */
  readonly userId: string;
  /**
   * The version of the user's credentials when the ticket was stored. The ticket is valid only
   * while this is the current version.
   */
  readonly credentialsVersion: number;
}

/** The properties that decide how long a stored ticket is kept. */
export interface TicketAge {
  readonly digest: string;
  readonly failures: number;
  readonly expiresAt: number;
}

/**
 * Returns the digests of the tickets to remove before another ticket is stored: tickets that are no longer valid, and
 * the oldest tickets above the limit.
 */
export function ticketsToRemove(newestFirst: readonly TicketAge[], now: number): readonly string[] {
  const isValid = ({ failures, expiresAt }: TicketAge): boolean => expiresAt > now && failures < MAX_TICKET_FAILURES;
  const kept = new Set(newestFirst.filter(isValid).slice(0, MAX_TICKETS - 1));
  return newestFirst.filter((ticket) => !kept.has(ticket)).map(({ digest }) => digest);
}
