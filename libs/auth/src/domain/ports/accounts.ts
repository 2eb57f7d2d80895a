import type { AccountStatus } from '../account-status';
import type { NewAuthEvent } from '../auth-event';
import type { Admission, AttemptKeys, CountedFailure, StreakLimits } from '../failure-streak';
import type { ReissuedSession } from '../outcomes';
import { withoutHash, type RequestUser } from '../request-user';
import type { EndedSession } from '../session';
import type { CurrentSession, OperationContext, NewTokenFamily } from './sessions';

/** A user's id in the application's own type. The library stores it as text. */
export type UserId = string | number | bigint;

/** What the library needs to know of a user. */
export interface StoredUser {
  readonly id: UserId;
  readonly username: string;
  /** Null for a user who cannot log in with a password. */
  readonly passwordHash: string | null;
  /** False for a user who may not log in and whose sessions have ended. */
  readonly active: boolean;
}

/** A user about to be stored; without a hash for one who logs in otherwise. */
export interface NewUser {
  readonly username: string;
  readonly passwordHash: string | null;
  /** What else `createUser` was given to store with the user. */
  readonly properties?: Readonly<Record<string, unknown>>;
}

/**
 * Where the users are stored. The option `users` takes a class that extends this one, or an instance of
 * one, where they are not a TypeORM entity of the same DataSource. A rejection means "not available":
 * the response is 503. So is it for a result of another type, `undefined` included: the log names what
 * was returned, by property names and types, and what to return instead.
 */
export abstract class UserStore {
  /**
   * The user with this name, or null. A user with another name counts as null, also where the
   * database ignores case, accents or trailing spaces: `nameMatching` decides what is the same name.
   * @param username the name given at login; with `nameMatching: 'insensitive'`, what `foldName`
   *   returns for it: compare it with stored names that are folded too. A store that compares it with
   *   names as they were given finds nobody whose name has a capital letter
   */
  abstract findByUsername(username: string): Promise<StoredUser | null>;

  /** The user with this id, or null. A user whose id differs from this one as text counts as null. */
  abstract findById(id: UserId): Promise<StoredUser | null>;

  /**
   * The application's own user object, for `@CurrentUser()`. By default a copy of what `findById`
   * returns, without `passwordHash`.
   */
  async load(id: UserId): Promise<unknown> {
    const user = await this.findById(id);
    return user ? withoutHash(user) : null;
  }

  /**
   * The id in the application's type, from the text that the library stored. By default that text:
   * override it where ids are numbers or bigints.
   */
  parseId(text: string): UserId {
    return text;
  }

  /**
   * Stores a new password hash; false if the user is gone, or has another hash than `expectedHash`.
   * Leave it out where passwords are set elsewhere: then `password/change/` is not mounted.
   */
  setPasswordHash?(id: UserId, passwordHash: string, expectedHash?: string): Promise<boolean>;

  /** Enables or disables a user; false if there is none. Leave it out where that is done elsewhere. */
  setActive?(id: UserId, active: boolean): Promise<boolean>;

  /**
   * Stores a new, active user with the name as given and the `properties`; null if the name is taken.
   * Called after `findByUsername` found nobody. A returned user with another name counts as null.
   */
  create?(user: NewUser): Promise<StoredUser | null>;
}

/** The account of a user, as the user store returned it. */
export interface AskedAccount {
  readonly status: AccountStatus;
  /** What the store returned, without the hash; null for no such user. */
  readonly user: RequestUser | null;
}

/** Asks the user store about the account of a user, given as sessions store the id. */
export async function askAccount(users: UserStore, userId: string): Promise<AskedAccount> {
  const user = await users.findById(users.parseId(userId));
  if (!user) return { status: 'deleted', user: null };
  return { status: user.active ? 'active' : 'disabled', user: withoutHash(user) };
}

/** The application's entity of users, and which of its properties hold what the library needs. */
export interface UserEntityMapping {
  readonly entity: new () => object;
  /** The property that holds the name used at login. */
  readonly username: string;
  /**
   * Required with `nameMatching: 'insensitive'`, an error otherwise: the unique text property that
   * holds the folded name. `createUser` fills it; where the application inserts or renames users, it
   * stores `foldName(name)` there. It may be the property of `username`, if that holds folded names.
   */
  readonly foldedUsername?: string;
  /** The property that holds the password hash. */
  readonly passwordHash: string;
  /** The boolean property that is false for a disabled user. Without it and `disabledAt` every user is active. */
  readonly active?: string;
  /** In place of `active`: the nullable date property that is null while the user is active. */
  readonly disabledAt?: string;
  /**
   * Further properties that `request.user` holds besides `id` and `username`, such as `['roles']`. They are
   * columns of the entity, read with the account in one statement; an empty list for none. Without it
   * `request.user` is not set. Default: not set.
   */
  readonly select?: readonly string[];
}

/** A user found by name, and how often the password had been changed by then. */
export interface FoundCredentials {
  readonly user: StoredUser | null;
  readonly version: number;
}

export interface ReplacePassword extends OperationContext {
  readonly userId: UserId;
  readonly passwordHash: string;
  /** The hash that was verified; the change is refused when another one has taken its place. */
  readonly expectedHash?: string;
  /** The token that allows it, which is used up; null where something else does. */
  readonly resetDigest: string | null;
  /** Whether the other sessions end. */
  readonly revoke: boolean;
  /** The session that continues, with a fresh token pair; null where there is none. */
  readonly keep: { readonly sessionId: string; readonly issued: NewTokenFamily } | null;
}

export type ReplaceOutcome =
  /** Nothing is kept where the session to keep ended meanwhile. */
  | { readonly kind: 'replaced'; readonly kept: ReissuedSession | null; readonly ended: readonly EndedSession[] }
  /** The user, the verified password, the token or the session to keep is not there any more. */
  | { readonly kind: 'refused'; readonly ended: readonly EndedSession[] }
  /** Users elsewhere: it failed half-way, after sessions had ended and before or after the password was set. */
  | {
      readonly kind: 'broken';
      readonly isSet: boolean;
      readonly ended: readonly EndedSession[];
      readonly error: unknown;
    };

/** A reset token about to be stored. */
export interface NewResetToken {
  readonly digest: string;
  readonly expiresAt: number;
  /** What `CredentialStore.versionOf` returned before the user was read. */
  readonly credentialsVersion: number;
  /** Recorded with it. */
  readonly event: NewAuthEvent;
}

/** Passwords, wherever the application keeps them. */
export abstract class CredentialStore {
  /** Asks the same of the database whether the name is known or not. */
  abstract find(username: string): Promise<FoundCredentials>;
  /** Whether passwords can be set here. */
  abstract readonly canSetPasswords: boolean;
  /** One transaction where the users are in the same DataSource; otherwise the sessions end first. */
  abstract replace(command: ReplacePassword): Promise<ReplaceOutcome>;
  /** How often the credentials have been changed or revoked. */
  abstract versionOf(userId: UserId): Promise<number>;
  /** Stores a reset token and revokes the user's earlier ones; false where the credentials have another version. */
  abstract addReset(userId: UserId, token: NewResetToken): Promise<boolean>;
  /** The user (as text) whose token this is, while it is valid. */
  abstract ownerOfReset(digest: string, now: number): Promise<string | null>;
}

/** Is given the sessions that a committed step of an operation has ended, before the operation is complete. */
export type ReportEnded = (ended: readonly EndedSession[]) => void;

/** Transitions of everything that the library stores of a user. */
export abstract class AccountStore {
  /**
   * Creates a user, and removes what an earlier user of the same id left, as `forget` does.
   * @returns null where the name is taken, or the store cannot create users
   */
  abstract create(user: NewUser, at: OperationContext, report: ReportEnded): Promise<StoredUser | null>;
  /** Disables a user, ends all sessions and revokes reset tokens; null for no such user. */
  abstract disable(userId: UserId, at: OperationContext): Promise<readonly EndedSession[] | null>;
  /** Enables a user. Reset tokens from before are revoked. False for no such user. */
  abstract enable(userId: UserId): Promise<boolean>;
  /**
   * Removes sessions, tokens and events of a user: in one transaction what authenticates, then the rest
   * in batches. Where it fails in between, it can be called again.
   */
  abstract forget(userId: string, at: OperationContext, report: ReportEnded): Promise<void>;
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
  /** Whether a user has the name. */
  readonly isKnown: boolean;
  /** The events that record the failure. */
  readonly events: (counted: CountedFailure) => readonly NewAuthEvent[];
}

/** The failure streaks, shared by all instances. Each call but `isFamiliar` is one transaction. */
export abstract class LoginAttemptStore {
  /** Takes the slots of an attempt if it is admitted. An opened session returns them, `fail` and `release` do. */
  abstract admit(attempt: AttemptToAdmit): Promise<Admission>;
  /** Whether a session on record of this user was opened from this network; asked for nobody (null) as well. */
  abstract isFamiliar(userId: UserId | null, network: string): Promise<boolean>;
  /** Counts a failure and records it. */
  abstract fail(attempt: FailedAttempt): Promise<CountedFailure>;
  /** Returns the slots of an attempt without a result. */
  abstract release(keys: AttemptKeys): Promise<void>;
  /** Ends all streaks of an account, or those of one method, from wherever they come. */
  abstract reset(accountKey: string, method?: string): Promise<void>;
}

/** A wrong password within a session. */
export interface FailedSessionAttempt extends OperationContext {
  readonly sessionId: string;
  readonly throttleFrom: number | false;
  /** The events that record the failure. */
  readonly events: (counted: CountedFailure) => readonly NewAuthEvent[];
}

/** The failure streak of a session, in its row. Each call is one transaction. */
export abstract class SessionAttemptStore {
  /** Takes the slot of an attempt if it is admitted; null where the session is not active. */
  abstract admit(sessionId: string, now: number): Promise<Admission | null>;
  /** Returns the slot of an attempt that was admitted at this instant and has no result. */
  abstract release(sessionId: string, admittedAt: number): Promise<void>;
  /** Adds a proven method to the session, and ends the streak; false where the access token is not live any more. */
  abstract prove(session: CurrentSession, method: string, now: number): Promise<boolean>;
  /** Counts a failure and records it. The 100th in a row ends the session. */
  abstract fail(
    attempt: FailedSessionAttempt,
  ): Promise<{ readonly counted: CountedFailure; readonly ended: readonly EndedSession[] }>;
}
