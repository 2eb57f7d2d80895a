/** A user's id in the host's own type. The library stores it as text. */
export type UserId = string | number | bigint;

/** What the library needs to know of a user. */
export interface StoredUser {
  readonly id: UserId;
  readonly username: string;
  /** Null for a user who cannot log in with a password. */
  readonly passwordHash: string | null;
  /** False for a user who may not log in and whose sessions are over. */
  readonly active: boolean;
}

/** A user about to be stored; without a hash for one who logs in otherwise. */
export interface NewUser {
  readonly username: string;
  readonly passwordHash: string | null;
}

/**
 * Where the users are. Give a class that extends this one as the option `users` when they are not a TypeORM entity of
 * the same DataSource. A store that rejects means "not available": the request is answered with 503.
 */
export abstract class UserStore {
  /**
   * The user whose name equals `username` byte by byte (or, with `nameMatching: 'insensitive'`, the one whose name has
   * the same form after `foldName`), or null.
   */
  abstract findByUsername(username: string): Promise<StoredUser | null>;

  /** The user with this id, or null. */
  abstract findById(id: UserId): Promise<StoredUser | null>;

  /** The host's own user object, which `@CurrentUser()` gives. What `findById` gives by default. */
  load(id: UserId): Promise<unknown> {
    return this.findById(id);
  }

  /** The id in the host's type, from the text that the library stored. Text by default. */
  parseId(text: string): UserId {
    return text;
  }

  /**
   * Stores a new password hash; false if the user is gone, or has another hash than `expectedHash` where that is given.
   * Leave it out where passwords are set elsewhere: then `password/change/` is not mounted.
   */
  setPasswordHash?(id: UserId, passwordHash: string, expectedHash?: string): Promise<boolean>;

  /** Enables or disables a user; false if there is none. Leave it out where that is done elsewhere. */
  setActive?(id: UserId, active: boolean): Promise<boolean>;

  /** Stores a new, active user; null if the name is taken. */
  create?(user: NewUser): Promise<StoredUser | null>;
}

/** A host's entity of users, and which of its properties hold what the library needs. */
export interface UserEntityMapping {
  readonly entity: new () => object;
  /** The property that holds the name used at login. */
  readonly username: string;
  /** The property that holds the password hash. */
  readonly passwordHash: string;
  /** The boolean property that is false for a user who may not be signed in. Without it every user may. */
  readonly active?: string;
}
