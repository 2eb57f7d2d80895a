import type { NewAuthEvent } from '../auth-event';
import type { ClientInfo } from '../client';
import type { AttemptKeys } from '../failure-streak';
import type { LoginTicket } from '../login-ticket';
import type { UserId } from './accounts';

/** A user whom a first step has identified. */
export interface IdentifiedUser {
  readonly id: UserId;
  readonly username: string;
}

/**
 * Decides which users need a second factor; the option `secondFactor` takes a class that extends this
 * one, or an instance. A rejection, or a result that is no boolean, is a 503, which the log explains.
 */
export abstract class SecondFactor {
  /** Whether this user gets a session by a second factor only. Asked at each login, after the first step. */
  abstract isRequired(user: IdentifiedUser, client: ClientInfo): boolean | Promise<boolean>;
}

/** Requires none of anybody. */
export class NoSecondFactor extends SecondFactor {
  isRequired(): boolean {
    return false;
  }
}

/** A ticket about to be stored. */
export interface NewLoginTicket extends LoginTicket {
  readonly now: number;
  readonly expiresAt: number;
  /** The failed logins that the first step ends; null where no password was verified. */
  readonly attempt: AttemptKeys | null;
  /** Recorded with it. */
  readonly event: NewAuthEvent;
}

/** Login tickets, as digests. */
export abstract class LoginTicketStore {
  /** Stores a ticket; false where the user's credentials have another version. The oldest beyond 20 of the user ends. */
  abstract create(ticket: NewLoginTicket): Promise<boolean>;
  /** The ticket with this digest, while it is valid. */
  abstract find(digest: string, now: number): Promise<LoginTicket | null>;
  /** Counts an attempt before its check; false where the ticket is not valid. */
  abstract takeAttempt(digest: string, now: number): Promise<boolean>;
  /**
   * Adds a proven method, takes its attempt off the failures again and ends its failure streak; false where the ticket is
   * not valid any more.
   */
  abstract prove(digest: string, method: string, keys: AttemptKeys, now: number): Promise<boolean>;
}
