import type { NewAuthEvent } from '../auth-event';
import type { ClientInfo } from '../client';
import type { AttemptKeys } from '../failure-streak';
import type { LoginTicket } from '../login-ticket';
import type { UserId } from './accounts';

/** A user whom the first factor has identified. */
export interface IdentifiedUser {
  readonly id: UserId;
  readonly username: string;
}

/**
 * Decides which users need a second factor. Set the option `secondFactor` to a class that extends this
 * one, or to an instance. If `isRequired` fails, takes longer than 5 seconds or does not return a
 * boolean, the response is 503, and the log contains the reason.
 */
export abstract class SecondFactor {
  /**
   * Returns whether this user needs a second factor. Called by `login` after the password was
   * verified, and by `openSession` with a ticket that has only one method.
   * @param client the object that your application passed to `login`, or to `openSession` with a ticket. The object
   *   may have further properties, such as the cookie of a trusted device. The library's own route passes the address
   *   and the User-Agent
   */
  abstract isRequired(user: IdentifiedUser, client: ClientInfo): boolean | Promise<boolean>;
}

/** Never requires a second factor. */
export class NoSecondFactor extends SecondFactor {
  isRequired(): boolean {
    return false;
  }
}

/** A ticket to be stored. */
export interface NewLoginTicket extends LoginTicket {
  readonly now: number;
  readonly expiresAt: number;
  /** The failure streaks that the first factor ends, or null if no password was verified. */
  readonly attempt: AttemptKeys | null;
  /** The event that is recorded in the same transaction. */
  readonly event: NewAuthEvent;
}

/** Stores login tickets as digests. */
export abstract class LoginTicketStore {
  /**
   * Stores a ticket and removes the user's oldest tickets beyond 20. Returns false if the version of the
   * credentials has changed.
   */
  abstract create(ticket: NewLoginTicket): Promise<boolean>;
  /** Returns the valid ticket with this digest, or null. */
  abstract find(digest: string, now: number): Promise<LoginTicket | null>;
  /** Counts an attempt before its secret is checked. Returns false if the ticket is not valid. */
  abstract takeAttempt(digest: string, now: number): Promise<boolean>;
  /**
   * Adds a proven method to the ticket, subtracts the attempt that `takeAttempt` counted, and ends the failure streaks
   * of the method. Returns false if the ticket has expired or no longer exists.
   */
  abstract recordProof(digest: string, method: string, keys: AttemptKeys, now: number): Promise<boolean>;
}
