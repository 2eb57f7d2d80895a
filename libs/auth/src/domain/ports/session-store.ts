import type { Client } from '../client';
import type { AccountStatus, OpenOutcome, RotateOutcome } from '../outcomes';
import type { AttemptKeys } from './login-attempt-store';
import type { EndedSession, EndReason, SessionLimits, SessionRecord } from '../session';
import type { SessionPolicy } from '../session-policy';

/** The instant of a transition, the limits in force, and who asked for it. */
export interface Circumstances {
  readonly now: number;
  readonly limits: SessionLimits;
  readonly client: Client;
}

/** Digests and ends of a fresh token pair. */
export interface IssuedPair {
  readonly accessDigest: string;
  readonly accessExpiresAt: number;
  readonly refreshDigest: string;
  readonly refreshExpiresAt: number;
}

export interface OpenSession extends Circumstances, IssuedPair, SessionPolicy {
  readonly session: SessionRecord;
  /** What `CredentialStore.find` told before the password was verified; null where no password was. */
  readonly credentialsVersion: number | null;
  /** The failed logins that this login ends; null where no password was verified. */
  readonly attempt: AttemptKeys | null;
}

export interface RotateToken extends Circumstances {
  readonly presentedDigest: string;
  readonly accessDigest: string;
  readonly accessTtlMs: number;
  /** The digest of the successor; null where refresh tokens are not rotated. */
  readonly refreshDigest: string | null;
  readonly refreshTtlMs: number;
  /** What the user store says of the session's user, where the database cannot. */
  readonly account: AccountStatus | null;
  /** How a client that lost the answer gets it again; null where a second presentation is always reuse. */
  readonly grace: Grace | null;
}

/** For so long the token that was exchanged last gets the answer to that exchange again. */
export interface Grace {
  readonly windowMs: number;
  /** The new pair, sealed under the presented token. */
  readonly sealedAnswer: string;
}

/** The sessions to end: those of a user, or the one of them that is named. */
export interface EndSessions extends Circumstances {
  readonly userId: string;
  readonly sessionId?: string;
  /** The one session to keep. */
  readonly exceptId?: string;
  /** How the session of the request ends, where it is among them. */
  readonly current?: { readonly id: string; readonly reason: EndReason };
  readonly reason: EndReason;
  /** The administrator, where one does it. */
  readonly actor?: string;
}

/** A session with the account of its user. */
export interface SessionLookup {
  readonly session: SessionRecord;
  /** Null where only the user store can tell. */
  readonly account: AccountStatus | null;
}

/** A session found by its access token. */
export interface AccessLookup extends SessionLookup {
  readonly accessExpiresAt: number;
}

export interface Touch {
  readonly sessionId: string;
  readonly at: number;
}

/** The sessions and their tokens. Each call is one atomic unit; it leaves all of the new state or all of the old. */
export abstract class SessionStore {
  abstract findByAccessDigest(digest: string): Promise<AccessLookup | null>;
  /** The user (as text) whose live or used refresh token this is. */
  abstract ownerOfRefreshDigest(digest: string): Promise<string | null>;
  abstract open(command: OpenSession): Promise<OpenOutcome>;
  abstract rotate(command: RotateToken): Promise<RotateOutcome>;
  /** The sessions that this very call ended. */
  abstract end(command: EndSessions): Promise<readonly EndedSession[]>;
  /** Ends the user's sessions if the user is still not active; an account is looked up again in the same unit. */
  abstract endIfGone(
    userId: string,
    account: AccountStatus | null,
    at: Circumstances,
  ): Promise<readonly EndedSession[]>;
  /** Stores that these sessions' time is over, where it is; the ones that this call was the first to notice. */
  abstract expire(userId: string, now: number, limits: SessionLimits): Promise<readonly EndedSession[]>;
  /** Stores that the user has proven who they are; false where the session is over. */
  abstract reauthenticate(sessionId: string, now: number): Promise<boolean>;
  /** The sessions in the state `active`, newest first; the time of some may be over. */
  abstract listActive(userId: string): Promise<readonly SessionRecord[]>;
  /** Those of these sessions, 1,000 at the most, that are in the state `active`; the time of some may be over. */
  abstract findActive(sessionIds: readonly string[]): Promise<readonly SessionLookup[]>;
  /**
   * Writes the last activity of sessions that are still active, never earlier than what is stored; those that somebody has
   * locked are passed over and come back.
   */
  abstract touch(touches: readonly Touch[], limits: SessionLimits): Promise<readonly Touch[]>;
}
