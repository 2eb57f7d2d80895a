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

/** The instant of an operation, and the client that requested the operation. */
export interface OperationContext {
  readonly now: number;
  readonly client: Client;
}

/** The digests and expiry times of the first token pair of a family. */
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
  /**
   * The version that `CredentialStore.find` returned with the verified password hash, or the version in the login
   * ticket. Null if the application identified the user itself, without a ticket.
   */
  readonly credentialsVersion: number | null;
  /** The failure streaks that this login ends, or null for a login with a ticket or without a password. */
  readonly attempt: AttemptKeys | null;
  /** The digest and the proven methods of the login ticket that opens the session, or null without a ticket. */
  readonly ticket: { readonly digest: string; readonly methods: string } | null;
}

export interface RotateToken extends OperationContext {
  readonly presented: PresentedRefreshToken;
  /**
   * The digests of the next pair. If refresh tokens are not rotated, the digest of the refresh token is
   * unchanged.
   */
  readonly next: PairDigests;
  readonly accessTtlMs: number;
  readonly refreshTtlMs: number;
  /** For how long the response can be replayed, or 0 for no replay. */
  readonly graceMs: number;
  /**
   * The next pair was derived from this seed and the presented token. Null if the tokens of the next pair are
   * random.
   */
  readonly seed: string | null;
}

/** The sessions to end: all sessions of a user, or only `sessionId`. */
export interface EndSessions extends OperationContext {
  readonly userId: string;
  readonly sessionId?: string;
  /** The session to keep. */
  readonly exceptId?: string;
  /** The session of the request, and the reason to record if this session is among the sessions to end. */
  readonly current?: { readonly id: string; readonly reason: EndReason };
  readonly reason: EndReason;
  /** The administrator who ends the sessions, if any. */
  readonly actor?: string;
}

/** A session and the account of its user. */
export interface SessionLookup {
  readonly session: SessionRecord;
  /** The status of the account, or null if only the user store can read the status. */
  readonly account: AccountStatus | null;
  /** Returns a new object for `request.user`. Undefined if the statement did not read the user. */
  readonly readUser?: () => RequestUser;
}

/** A session and the digest of its current access token, which may have expired. */
export interface SessionWithAccessToken extends SessionLookup, StoredProofs {
  readonly accessDigest: string;
  readonly accessExpiresAt: number;
  /** The end of the grace period, or 0 without a grace period or if the first use of the access token is stored. */
  readonly replayUntil: number;
}

/** A session and the digest of the secret of its current token family. */
export interface SessionWithFamily extends SessionLookup, StoredProofs {
  readonly familyDigest: string;
}

/** The session of a request as it was at authentication, with the digest of the access token. */
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

/** Reads sessions, and stores activity, which is not a state transition. */
export abstract class SessionStore {
  /** Returns the session with this id if its state is `active`. The session may have expired. */
  abstract find(id: string): Promise<SessionWithAccessToken | null>;
  /** Returns the same session as `find`, with its token family instead of its access token. */
  abstract findFamily(id: string): Promise<SessionWithFamily | null>;
  /**
   * Stores that an access token was used. Returns false if the first use of the token is already stored, if the token
   * was replaced, or if the session has ended.
   */
  abstract markFirstUse(id: string, accessDigest: string, now: number): Promise<boolean>;
  /** Returns the user's sessions in the state `active`, newest first. Some of them may have expired. */
  abstract listActive(userId: string): Promise<readonly SessionRecord[]>;
  /** Returns the given sessions whose state is `active`. Some of them may have expired. Accepts at most 1,000 ids. */
  abstract findActive(sessionIds: readonly string[]): Promise<readonly SessionLookup[]>;
  /**
   * Stores the last activity of active sessions. An earlier instant never replaces a later one. Sessions that other
   * transactions have locked are skipped.
   * @returns the touches of the sessions that were skipped or no longer exist
   */
  abstract touch(touches: readonly Touch[]): Promise<readonly Touch[]>;
}

/** The state transitions of sessions. Each transition is atomic. */
export abstract class SessionTransitions {
  abstract open(command: OpenSession): Promise<OpenOutcome>;
  abstract rotate(command: RotateToken): Promise<RotateOutcome>;
  /**
   * Issues a new token pair to a session whose user has proven their identity by these methods. Returns the
   * expiry times of the pair, or null if the access token was replaced or the session has ended.
   */
  abstract reissue(
    session: CurrentSession,
    issued: NewTokenFamily,
    methods: readonly string[],
    context: OperationContext,
  ): Promise<PairExpiries | null>;
  /** Ends the selected sessions. Returns the sessions that this call ended. */
  abstract end(command: EndSessions): Promise<readonly EndedSession[]>;
  /**
   * Ends the user's sessions and revokes the user's tickets and reset tokens if the account is not active. Reads the
   * account again if statements can read it and the user has an active session. Otherwise relies on `account`.
   */
  abstract endForInactiveAccount(
    userId: string,
    account: AccountStatus | null,
    context: OperationContext,
  ): Promise<readonly EndedSession[]>;
  /** Stores which of the user's sessions have expired. Returns the sessions whose expiry this call stored. */
  abstract expire(userId: string, now: number): Promise<readonly EndedSession[]>;
}

/**
 * Selects active sessions of all users. A criterion that is omitted matches every session. Instants are
 * milliseconds since 1970-01-01T00:00:00Z.
 */
export interface SessionCriteria {
  readonly userId?: string;
  readonly createdBefore?: number;
  readonly inactiveSince?: number;
  readonly ipAddress?: string;
  readonly deviceType?: DeviceType;
  readonly osFamily?: string;
  readonly browserFamily?: string;
}

/**
 * The maximum number of a user's events that are searched if `HistoryCriteria` names events. The search begins at
 * `before`, and goes from newer to older events.
 */
export const HISTORY_SEARCH_LIMIT = 10_000;

/** Selects events of a user. */
export interface HistoryCriteria {
  /** Only events with a smaller id. Infinity selects all events. */
  readonly before: number;
  /** Only events with these names, among the newest `HISTORY_SEARCH_LIMIT` before `before`. Null selects all names. */
  readonly events: readonly string[] | null;
  readonly limit: number;
}

/** The history of each user, and the sessions of all users for administrators. */
export abstract class SessionDirectory {
  /** Returns active sessions with ids greater than `after`, in the order of their ids. */
  abstract page(criteria: SessionCriteria, after: string, limit: number): Promise<readonly SessionRecord[]>;
  /** Ends at most `limit` sessions in one transaction and records the actor. Selects the same sessions as `page`. */
  abstract end(
    criteria: SessionCriteria,
    after: string,
    limit: number,
    actor: string,
    context: OperationContext,
  ): Promise<readonly EndedSession[]>;
  /** Returns events of the user, newest first. @param userId the id as text */
  abstract history(userId: string, criteria: HistoryCriteria): Promise<readonly AuthEventEntry[]>;
}
