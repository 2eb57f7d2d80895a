import type { AccountStatus } from '../account-status';
import type { NewAuthEvent } from '../auth-event';
import type { Admission, AttemptKeys, CountedFailure, StreakLimits } from '../failure-streak';
import type { ReissuedSession } from '../outcomes';
import { withoutHash, type RequestUser } from '../request-user';
import type { EndedSession } from '../session';
import type { CurrentSession, OperationContext, NewTokenFamily } from './sessions';

/** A user's id in the application's own type. The library stores it as text. */
export type UserId = string | number | bigint;

/** The data of a user that the library needs. */
export interface StoredUser {
  readonly id: UserId;
  readonly username: string;
  /** Null for a user who cannot log in with a password. */
  readonly passwordHash: string | null;
  /** Whether the user may log in and use sessions. */
  readonly active: boolean;
}

/** A user to be stored. `passwordHash` is null for a user who logs in by another method. */
export interface NewUser {
  readonly username: string;
  readonly passwordHash: string | null;
  /** The `properties` that were passed to `createUser`. */
  readonly properties?: Readonly<Record<string, unknown>>;
}

/**
 * Reads and writes users that are not a TypeORM entity of the same DataSource. Set the option
 * `users` to a class that extends this one, or to an instance. The response is 503 if a method
 * rejects, takes longer than 5 seconds or returns a wrong type (`undefined` included). In the last
 * case, the log names the returned properties and types, but no values, and says what to return.
 */
export abstract class UserStore {
  /**
   * Returns the user with this name, or null. The library compares names by the rules of `nameMatching`, and ignores
   * a user with a different name, even if the database treats the names as equal (case, accents, trailing spaces).
   * @param username the entered name. With `nameMatching: 'insensitive'`, the name is already folded by `foldName`.
   *   Compare the name with a column of folded names, because a stored name with a capital letter never matches
   */
  abstract findByUsername(username: string): Promise<StoredUser | null>;

  /** Returns the user with this id, or null. The library ignores a user whose id, converted to text, differs. */
  abstract findById(id: UserId): Promise<StoredUser | null>;

  /** Returns your user object for `@CurrentUser()`. Default: the result of `findById`, without `passwordHash`. */
  async load(id: UserId): Promise<unknown> {
    const user = await this.findById(id);
    return user ? withoutHash(user) : null;
  }

  /** Converts the stored text of an id to your id type. Override for numbers or bigints. Default: returns the text. */
  parseId(text: string): UserId {
    return text;
  }

  /**
   * Stores a new hash. Returns false for an unknown user, or if a given `expectedHash` is not the
   * stored hash. Omit if passwords are set elsewhere. `password/change/` is then not mounted.
   */
  setPasswordHash?(id: UserId, passwordHash: string, expectedHash?: string): Promise<boolean>;

  /** Enables or disables a user. Returns false if the user does not exist. Omit if users are disabled elsewhere. */
  setActive?(id: UserId, active: boolean): Promise<boolean>;

  /**
   * Stores a new, active user with the unchanged name and the `properties`. Returns null if the name is taken. Called
   * after `findByUsername` has returned null. The library ignores a returned user with a different name.
   */
  create?(user: NewUser): Promise<StoredUser | null>;
}

/** The account of a user, read from the user store. */
export interface AccountLookup {
  readonly status: AccountStatus;
  /** The user without the password hash, or null if there is no such user. */
  readonly user: RequestUser | null;
}

/** Reads the account of a user from the user store. @param userId the id as text */
export async function readAccount(users: UserStore, userId: string): Promise<AccountLookup> {
  const user = await users.findById(users.parseId(userId));
  if (!user) return { status: 'deleted', user: null };
  return { status: user.active ? 'active' : 'disabled', user: withoutHash(user) };
}

/** Maps your user entity to the data that the library needs. */
export interface UserEntityMapping {
  /** The entity class of your users. It must belong to the DataSource. */
  readonly entity: new () => object;
  /** The property that contains the username. */
  readonly username: string;
  /**
   * The unique text property with the folded username. Required with `nameMatching: 'insensitive'`, and refused with
   * `'exact'`. `createUser` fills the property. If your application inserts or renames users, it must store
   * `foldName(username)` in this property. If `username` contains only folded usernames, both properties can be the
   * same.
   */
  readonly foldedUsername?: string;
  /** The property that contains the password hash. */
  readonly passwordHash: string;
  /** The boolean property that is false for disabled users. Without `active` and `disabledAt`, all users are active. */
  readonly active?: string;
  /** An alternative to `active`: the nullable date property that is null while the user is active. */
  readonly disabledAt?: string;
  /**
   * The properties that `request.user` has in addition to `id` and `username`, such as `['roles']`. Each property
   * must be a column of the entity, and is read in the same statement as the account. Default: none.
   */
  readonly select?: readonly string[];
}

/** A user who was found by name, and the version of the credentials at that time. */
export interface FoundCredentials {
  readonly user: StoredUser | null;
  readonly version: number;
}

export interface ReplacePassword extends OperationContext {
  readonly userId: UserId;
  readonly passwordHash: string;
  /** The hash that was verified. If a different hash is stored by now, the change is refused. */
  readonly expectedHash?: string;
  /** The digest of the reset token that the change consumes, or null. */
  readonly resetDigest: string | null;
  /** Whether to end the user's other sessions. */
  readonly revoke: boolean;
  /** The session that continues with a new token pair, or null. */
  readonly keep: { readonly sessionId: string; readonly issued: NewTokenFamily } | null;
}

export type ReplaceOutcome =
  /** `kept` is null if the session to keep has ended in the meantime. */
  | { readonly kind: 'replaced'; readonly kept: ReissuedSession | null; readonly ended: readonly EndedSession[] }
  /** The user, the verified password, the reset token or the session to keep no longer exists. */
  | { readonly kind: 'refused'; readonly ended: readonly EndedSession[] }
  /** With a `UserStore` only: the replacement failed after sessions ended. `isSet`: whether the password was set. */
  | {
      readonly kind: 'broken';
      readonly isSet: boolean;
      readonly ended: readonly EndedSession[];
      readonly error: unknown;
    };

/** A reset token to be stored. */
export interface NewResetToken {
  readonly digest: string;
  readonly expiresAt: number;
  /** The result of `CredentialStore.versionOf` before the user was read. */
  readonly credentialsVersion: number;
  /** The event that is recorded in the same transaction. */
  readonly event: NewAuthEvent;
}

/** Reads and replaces passwords in a mapped entity or through a `UserStore`. */
export abstract class CredentialStore {
  /** Returns the user with this name and the version of the credentials. Runs the same statements for unknown names. */
  abstract find(username: string): Promise<FoundCredentials>;
  /** Whether this store can set passwords. */
  abstract readonly canSetPasswords: boolean;
  /** Replaces a password in one transaction. With a `UserStore`, sessions end before and after. */
  abstract replace(command: ReplacePassword): Promise<ReplaceOutcome>;
  /** Returns the version of the credentials. Revoking logins in progress changes the version. */
  abstract versionOf(userId: UserId): Promise<number>;
  /** Stores a reset token and revokes earlier tokens. Returns false if the version of the credentials has changed. */
  abstract addReset(userId: UserId, token: NewResetToken): Promise<boolean>;
  /** Returns the id, as text, of the user who owns a valid reset token. Returns null if the token is not valid. */
  abstract ownerOfReset(digest: string, now: number): Promise<string | null>;
}

/** Receives the sessions that a committed step of an operation has ended. */
export type ReportEnded = (ended: readonly EndedSession[]) => void;

/** Creates, disables and enables users, and deletes the data that the library stores about a user. */
export abstract class AccountStore {
  /**
   * Creates a user. Deletes the data of an earlier user with the same id, as `forget` does.
   * @returns null if the name is taken, or if the store cannot create users
   */
  abstract create(user: NewUser, context: OperationContext, report: ReportEnded): Promise<StoredUser | null>;
  /** Disables a user, ends all sessions and revokes reset tokens. Returns null if there is no such user. */
  abstract disable(userId: UserId, context: OperationContext): Promise<readonly EndedSession[] | null>;
  /** Enables a user and revokes earlier reset tokens. Returns false if there is no such user. */
  abstract enable(userId: UserId): Promise<boolean>;
  /**
   * Deletes the sessions, tokens and events of a user. One transaction deletes everything that authenticates the user,
   * and further transactions delete the rest in batches. A call that fails between batches can be repeated.
   */
  abstract forget(userId: string, context: OperationContext, report: ReportEnded): Promise<void>;
}

export interface AttemptToAdmit extends AttemptKeys {
  readonly now: number;
  readonly limits: StreakLimits;
  /** False for an attempt from a familiar network, to which the limits of the account do not apply. */
  readonly enforceAccountLimits: boolean;
}

export interface FailedAttempt extends AttemptKeys {
  readonly now: number;
  readonly limits: StreakLimits;
  /** Whether a user with this name exists. */
  readonly isKnown: boolean;
  /** Returns the events that record the failure. */
  readonly events: (counted: CountedFailure) => readonly NewAuthEvent[];
}

/** Stores the failure streaks, which all instances share. Each call except `isFamiliar` is one transaction. */
export abstract class LoginAttemptStore {
  /** Takes the slots of an admitted attempt. `fail`, `release` or storing a success frees them. */
  abstract admit(attempt: AttemptToAdmit): Promise<Admission>;
  /**
   * Returns whether a stored session of the user was opened, or an active session last refreshed, from this network.
   * @param userId null for an unknown name
   */
  abstract isFamiliar(userId: UserId | null, network: string): Promise<boolean>;
  /** Counts a failure and records its events. */
  abstract fail(attempt: FailedAttempt): Promise<CountedFailure>;
  /** Releases the slots of an attempt that ended without a result. */
  abstract release(keys: AttemptKeys): Promise<void>;
  /** Resets the streaks of an account in all networks: the streaks of the given method, or of all methods. */
  abstract reset(accountKey: string, method?: string): Promise<void>;
}

/** An attempt within a session that failed because of a wrong password or code. */
export interface FailedSessionAttempt extends OperationContext {
  readonly sessionId: string;
  readonly method: string;
  readonly throttleFrom: number | false;
  /** Returns the events that record the failure. */
  readonly events: (counted: CountedFailure) => readonly NewAuthEvent[];
}

/** Stores the failure streak of a session in the row of the session. Each call is atomic. */
export abstract class SessionAttemptStore {
  /** Takes the slot of an attempt if it is admitted. Returns null if the session is not active. */
  abstract admit(sessionId: string, now: number): Promise<Admission | null>;
  /** Releases the slot of an attempt that was admitted at this instant and ended without a result. */
  abstract release(sessionId: string, admittedAt: number): Promise<void>;
  /**
   * Adds a proven method to the session. Ends the failure streak unless another method has failed
   * and not succeeded since. Returns false if the session has ended or the token was replaced.
   */
  abstract recordProof(session: CurrentSession, method: string, now: number): Promise<boolean>;
  /** Counts a failure and records its events. The 100th consecutive failure ends the session. */
  abstract fail(attempt: FailedSessionAttempt): Promise<{ counted: CountedFailure; ended: readonly EndedSession[] }>;
}
