import type { AccountStatus } from '../account-status';
import type { AuthEventEntry } from '../auth-event';
import type { Client } from '../client';
import type { DeviceType } from '../device';
import type { OpenOutcome, RotateOutcome } from '../outcomes';
import type { StoredProofs } from '../proofs';
import type { PairDigests, PresentedRefreshToken } from '../refresh-decision';
import type { RequestUser } from '../request-user';
import type { EndedSession, EndReason, SessionRecord } from '../session';
import type { SessionPolicy } from '../session-policy';
import type { AttemptKeys } from '../failure-streak';
import type { PairExpiries } from '../tokens';

/** The instant of a transition, and who asked for it. */
export interface OperationContext {
  readonly now: number;
  readonly client: Client;
}

/** Digests and expiries of the first token pair of a family. */
export interface NewTokenFamily extends PairDigests, PairExpiries {
  readonly familyDigest: string;
}

/** A session that is about to be stored. */
export interface NewSession extends SessionRecord, StoredProofs {
  readonly idleExpiresAt: number;
  readonly absoluteExpiresAt: number;
}

export interface OpenSession extends OperationContext, SessionPolicy {
  readonly session: NewSession;
  readonly issued: NewTokenFamily;
  /** What `CredentialStore.find` returned before the password was verified; null where none was. */
  readonly credentialsVersion: number | null;
  /** The failed logins that this login ends; null where no password was verified. */
  readonly attempt: AttemptKeys | null;
  /** The login ticket that the session is opened with, and the methods that it held; null where there is none. */
  readonly ticket: { readonly digest: string; readonly methods: string } | null;
}

export interface RotateToken extends OperationContext {
  readonly presented: PresentedRefreshToken;
  /** The digests of the next pair. The refresh token stays the same where refresh tokens are not rotated. */
  readonly next: PairDigests;
  readonly accessTtlMs: number;
  readonly refreshTtlMs: number;
  /** For how long the response can be issued again; 0 for never. */
  readonly graceMs: number;
  /** What the next pair was derived from, with the presented token; null for random tokens. */
  readonly seed: string | null;
}

/** The sessions to end: all of a user, or the one that is named. */
export interface EndSessions extends OperationContext {
  readonly userId: string;
  readonly sessionId?: string;
  /** The one session to keep. */
  readonly exceptId?: string;
  /** How the session of the request ends, where it is among them. */
  readonly current?: { readonly id: string; readonly reason: EndReason };
  readonly reason: EndReason;
  /** The administrator who ends them, if one does. */
  readonly actor?: string;
}

/** A session with the account of its user. */
export interface SessionLookup {
  readonly session: SessionRecord;
  /** Null where only the user store knows it. */
  readonly account: AccountStatus | null;
  /** Returns what `request.user` holds, where the statement has read it: an object of its own at each call. */
  readonly readUser?: () => RequestUser;
}

/** A session with its live access token. */
export interface SessionWithAccessToken extends SessionLookup, StoredProofs {
  readonly accessDigest: string;
  readonly accessExpiresAt: number;
  /** Until when the pair may be issued again, if its access token has not been used; 0 otherwise. */
  readonly replayUntil: number;
}

/** A session with its live token family. */
export interface SessionWithFamily extends SessionLookup, StoredProofs {
  readonly familyDigest: string;
}

/** The session of a request as of its authentication, with the digest of the access token. */
export interface CurrentSession {
  readonly id: string;
  readonly userId: string;
  readonly accessDigest: string;
  readonly methods: string;
}

export interface Touch {
  readonly sessionId: string;
  readonly at: number;
}

/** Reads sessions, and writes what is not a transition. */
export abstract class SessionStore {
  /** The active session with this id. It may have expired. */
  abstract find(id: string): Promise<SessionWithAccessToken | null>;
  /** The same session with its token family instead of its access token. */
  abstract findFamily(id: string): Promise<SessionWithFamily | null>;
  /** Stores that an access token was used; false where that is stored already, or the token is no longer live. */
  abstract markFirstUse(id: string, accessDigest: string, now: number): Promise<boolean>;
  /** The sessions in the state `active`, newest first. Some may have expired. */
  abstract listActive(userId: string): Promise<readonly SessionRecord[]>;
  /** Those of these sessions, at most 1,000, that are in the state `active`. Some may have expired. */
  abstract findActive(sessionIds: readonly string[]): Promise<readonly SessionLookup[]>;
  /** Writes the last activity of active sessions, never an earlier one. Returns those that others have locked. */
  abstract touch(touches: readonly Touch[]): Promise<readonly Touch[]>;
}

/** The transitions of sessions. Each leaves all of the new state or all of the old. */
export abstract class SessionTransitions {
  abstract open(command: OpenSession): Promise<OpenOutcome>;
  abstract rotate(command: RotateToken): Promise<RotateOutcome>;
  /**
   * Issues a fresh pair to a session whose user proved their identity by these methods. Returns its expiries, or null
   * where the access token is not live.
   */
  abstract reissue(
    session: CurrentSession,
    issued: NewTokenFamily,
    methods: readonly string[],
    context: OperationContext,
  ): Promise<PairExpiries | null>;
  /** Returns the sessions that this very call ended. */
  abstract end(command: EndSessions): Promise<readonly EndedSession[]>;
  /** Ends the user's sessions if the account is still not active. It is read again in the same transaction. */
  abstract endForInactiveAccount(
    userId: string,
    account: AccountStatus | null,
    context: OperationContext,
  ): Promise<readonly EndedSession[]>;
  /** Stores which of the user's sessions have expired; returns those that this call was the first to notice. */
  abstract expire(userId: string, now: number): Promise<readonly EndedSession[]>;
}

/** Which of all active sessions; what is left out does not matter. Instants are milliseconds. */
export interface SessionCriteria {
  readonly userId?: string;
  readonly createdBefore?: number;
  readonly inactiveSince?: number;
  readonly ipAddress?: string;
  readonly deviceType?: DeviceType;
  readonly osFamily?: string;
  readonly browserFamily?: string;
}

/** How many events of a user, the newest before the given one, are searched for certain names. */
export const HISTORY_SEARCH_LIMIT = 10_000;

/** Which events of a user. */
export interface HistoryCriteria {
  /** Only events with a smaller id; Infinity for all. */
  readonly before: number;
  /** Only events of these names, among the newest `HISTORY_SEARCH_LIMIT`; null for all. */
  readonly events: readonly string[] | null;
  readonly most: number;
}

/** The history of each user, and the sessions of all of them for those who administer them. */
export abstract class SessionDirectory {
  /** Active sessions in the order of their ids, behind the given one. */
  abstract page(criteria: SessionCriteria, after: string, most: number): Promise<readonly SessionRecord[]>;
  /** Ends at most so many of them in one transaction and records who did it. In the order of their ids, behind the given one. */
  abstract end(
    criteria: SessionCriteria,
    after: string,
    most: number,
    actor: string,
    at: OperationContext,
  ): Promise<readonly EndedSession[]>;
  /** Events of the user (as text), newest first. */
  abstract history(userId: string, criteria: HistoryCriteria): Promise<readonly AuthEventEntry[]>;
}
