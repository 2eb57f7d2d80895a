import type { StoredProofs } from './proofs';

/** How long a login ticket is valid, in milliseconds. */
export const TICKET_LIFETIME_MS = 300_000;

/** The failed attempts that end a ticket. An attempt is counted before its check, and a right one is taken off again. */
export const MAX_TICKET_FAILURES = 5;

/** The most valid tickets of one user. */
export const MAX_TICKETS = 20;

/** A login ticket as the database holds it: the first step of a login, until a session is opened with it. */
export interface LoginTicket extends StoredProofs {
  /** The SHA-256 digest of the ticket. */
  readonly digest: string;
  /** The user's id as text. */
  readonly userId: string;
  /** What `CredentialStore.versionOf` returned before the user was identified. */
  readonly credentialsVersion: number;
}

/** What decides how long a stored ticket is kept. */
export interface TicketAge {
  readonly digest: string;
  readonly failures: number;
  readonly expiresAt: number;
}

/** Which tickets of a user, newest first, make way for one more: those that have ended, and the oldest beyond the limit. */
export function ticketsToRemove(newestFirst: readonly TicketAge[], now: number): readonly string[] {
  const isValid = ({ failures, expiresAt }: TicketAge): boolean => expiresAt > now && failures < MAX_TICKET_FAILURES;
  const kept = new Set(newestFirst.filter(isValid).slice(0, MAX_TICKETS - 1));
  return newestFirst.filter((ticket) => !kept.has(ticket)).map(({ digest }) => digest);
}
