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
 * Reads and writes users for which a `UserEntityMapping` does not suffice, such as users of another service. Set the
 * option `users` to a class that extends this one, or to an instance. If a method rejects, takes longer than 5 seconds
 * or returns a wrong type (`undefined` included), the response is 503, unless the method only upgrades a hash. For a
 * wrong type, the log names the returned properties and types, but no values, and says what to return.
 */
export abstract class UserStore {
  /**
   * Returns the user with this name, or null. The library compares names by the rules of `nameMatching`, and ignores
   * a user with a different name, even if the database treats the names as equal (case, accents, trailing spaces).
   * @param username the entered name. With `nameMatching: 'insensitive'`, the name is already folded by `foldName`.
   *   Compare the name with a column of folded names, because a stored name with a capital letter may not match
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
   * Stores a new, active user with the unchanged name, the `passwordHash` and the `properties`. Returns null if the
   * name is taken. Called after `findByUsername` has found no user with this name. If the returned user has a different
   * name, `createUser` fails with `username_taken`.
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
  /** The entity class of your users. It must belong to the DataSource that the library uses. */
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
  /** The boolean property that is false for disabled users. Without `active` and `disabledAt`, no user is disabled. */
  readonly active?: string;
  /** An alternative to `active`: the nullable date property that is null while the user is active. */
  readonly disabledAt?: string;
  /**
   * The properties that `request.user` has in addition to `id` and `username`, such as `['roles']`. Each property
   * must be a column of the entity, and is read in the same statement as the account. Default: none.
   */
  readonly select?: readonly string[];
}

/** The user with a name, or null, and the version of the user's credentials when the user was read. */
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
  /** Whether to end the user's sessions, except the session to keep. */
  readonly revoke: boolean;
  /** The session that continues with a new token pair, or null. */
  readonly keep: { readonly sessionId: string; readonly issued: NewTokenFamily } | null;
}

export type ReplaceOutcome =
  /** `kept` is null if there is no session to keep or, with a `UserStore`, if that session ended in the meantime. */
  | { readonly kind: 'replaced'; readonly kept: ReissuedSession | null; readonly ended: readonly EndedSession[] }
  /** The user does not exist, the reset token is invalid, the session to keep has ended, or the password changed. */
  | { readonly kind: 'refused'; readonly ended: readonly EndedSession[] }
  /** With a `UserStore` only: a later step failed. `isSet`: whether the store reported that the password was set. */
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

/** Reads and replaces passwords in an entity or through a `UserStore`, and stores reset tokens. */
export abstract class CredentialStore {
  /** Returns the user, or null, and the version of the credentials. Looks up unknown names in the same way. */
  abstract find(username: string): Promise<FoundCredentials>;
  /** Whether this store can set passwords. */
  abstract readonly canSetPasswords: boolean;
  /** Replaces a password in a transaction or, with a `UserStore`, between two transactions that may end sessions. */
  abstract replace(command: ReplacePassword): Promise<ReplaceOutcome>;
  /** Returns the version of the credentials. Revoking logins in progress changes the version. */
  abstract versionOf(userId: UserId): Promise<number>;
  /** Stores a reset token and revokes earlier tokens. Returns false if the version of the credentials has changed. */
  abstract addReset(userId: UserId, token: NewResetToken): Promise<boolean>;
  /** Returns the id, as text, of the user who owns a valid reset token. Returns null if the token is not valid. */
  abstract ownerOfReset(digest: string, now: number): Promise<string | null>;
}

/** Receives the sessions that a completed step of an operation has ended. */
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
  /** Whether to apply the limits of the account, from which a familiar network can be exempt. */
  readonly enforceAccountLimits: boolean;
}

export interface FailedAttempt extends AttemptKeys {
  readonly now: number;
  readonly limits: StreakLimits;
  /** Whether the account belongs to a user, and not to an unknown name. */
  readonly isKnown: boolean;
  /** Returns the events that record the failure. */
  readonly events: (counted: CountedFailure) => readonly NewAuthEvent[];
}

/** Stores the failure streaks of accounts, which all instances share. Each call is atomic. */
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
  /** Releases the slot of an attempt that was admitted at this instant, unless `fail` has released it. */
  abstract release(sessionId: string, admittedAt: number): Promise<void>;
  /**
   * Adds a proven method to the session. Ends the failure streak unless another method has failed
   * and not succeeded since. Returns false if the session has ended or the token was replaced.
   */
  abstract recordProof(session: CurrentSession, method: string, now: number): Promise<boolean>;
  /** Counts a failure and records its events. The 100th consecutive failure ends the session. */
  abstract fail(attempt: FailedSessionAttempt): Promise<{ counted: CountedFailure; ended: readonly EndedSession[] }>;
}
