import { isPlainObject } from '../base/fields';

/** The status of a user's account. Only an `active` user can log in and use sessions. */
export type AccountStatus = 'active' | 'disabled' | 'deleted';

/**
 * Returns whether MySQL and MariaDB distinguish this id from all others. They ignore trailing spaces, so that the user
 * `alice ` would see and end the sessions of `alice`.
 */
export function isDistinctId(id: string): boolean {
  return !id.endsWith(' ');
}

/** A user's id in the application's own type. The library stores it as text. */
export type UserId = string | number | bigint;

/** The data of a user that the library needs. */
export interface StoredUser {
  readonly id: UserId;
  readonly username: string;
  /** Further names with which the user can log in. They share one namespace with `username`. Default: none. */
  readonly usernames?: readonly string[];
  /** Null for a user who cannot log in with a password. */
  readonly passwordHash: string | null;
  /** Whether the user may log in and use sessions. */
  readonly active: boolean;
  /** The roles of the user, for `principal.roles` and `@RequireRoles()`. Default: none. */
  readonly roles?: readonly string[];
  /** The realm of the user. With the option `realm`, a user without one can neither log in nor use sessions. */
  readonly realm?: string | null;
}

/** Returns all names with which a user can log in. The first one is the username. */
export function loginNamesOf({ username, usernames = [] }: StoredUser): readonly string[] {
  return [username, ...usernames];
}

/** A user to be stored. */
export interface NewUser extends Pick<StoredUser, 'username' | 'passwordHash'> {
  /** The `properties` that were passed to `createUser`. */
  readonly properties?: Readonly<Record<string, unknown>>;
  /** The realm that was passed to `createUser`, with the option `realm`. */
  readonly realm?: string;
}

/**
 * Reads and writes users for which a `UserEntityMapping` does not suffice. Set the option `users` to a class that
 * extends this one, or to an instance. If a method rejects, takes longer than 5 seconds or returns a wrong type
 * (`undefined` included), the reason is logged, and the response is 503, unless the method only upgrades a hash.
 */
export abstract class UserStore {
  /**
   * Returns the user with this name, or null. The library ignores a user of whom neither `username` nor any of
   * `usernames` is this name by the rules of `nameMatching`, even if the database treats the names as equal (case,
   * accents, trailing spaces).
   * @param username the entered name, with `nameMatching: 'insensitive'` folded by `foldName`
   * @param within the realm, in which names are unique. Null without the option `realm`. A user of another is ignored
   */
  abstract findByUsername(username: string, within: { readonly realm: string | null }): Promise<StoredUser | null>;

  /**
   * Returns the user with this id, or null. The library ignores a user whose id, converted to text, differs. Ids are
   * unique across realms: a store of several tables can add a prefix to each.
   */
  abstract findById(id: UserId): Promise<StoredUser | null>;

  /**
   * Returns your user object for `@CurrentUser()`. Default: the result of `findById`, without `passwordHash`. If the
   * result is an instance of a class, only its `id`, `username` and `active`.
   */
  async load(id: UserId): Promise<unknown> {
    const user = await this.findById(id);
    return user ? withoutHash(user) : null;
  }

  /** Converts the stored text of an id to your id type. Override for numbers or bigints. Default: returns the text. */
  parseId(text: string): UserId {
    return text;
  }

  /**
   * Stores a new hash. Returns false for an unknown user, or if a given `expectedHash` is not the stored hash. Without
   * this method, `password/change/` is not mounted.
   */
  setPasswordHash?(id: UserId, passwordHash: string, expectedHash?: string): Promise<boolean>;

  /** Enables or disables a user. Returns false if the user does not exist. Omit if users are disabled elsewhere. */
  setActive?(id: UserId, active: boolean): Promise<boolean>;

  /**
   * Stores a new, active user with the unchanged name, after `findByUsername` has found no user. Returns null if the
   * name is taken. If the returned user has a different name, `createUser` fails with `username_taken`.
   */
  create?(user: NewUser): Promise<StoredUser | null>;
}

/** Maps your user entity to the data that the library needs. */
export interface UserEntityMapping {
  /** The entity class of your users. It must belong to the DataSource that the library uses. */
  readonly entity: new () => object;
  /**
   * The property that contains the username, or a list of properties with which users can log in, such as
   * `['email', 'handle']`. A name is looked up in each of them, and an earlier property takes precedence over a later
   * one. The first is the `username` in `request.user`.
   */
  readonly username: string | readonly string[];
  /**
   * The unique text property with `foldName(username)`, or a list with one property for each of `username`. Required
   * with `nameMatching: 'insensitive'`, and refused with `'exact'`. `createUser` fills it. It may be the same as
   * `username` if all usernames are folded.
   */
  readonly foldedUsername?: string | readonly string[];
  /** The property that contains the password hash. */
  readonly passwordHash: string;
  /** The boolean property that is false for disabled users. Without `active` and `disabledAt`, no user is disabled. */
  readonly active?: string;
  /** An alternative to `active`: the nullable date property that is null while the user is active. */
  readonly disabledAt?: string;
  /**
   * The property that contains the user's roles: one role, a list, or JSON with one of them. It is read with each
   * request, for `principal.roles`, `request.user.roles` and `@RequireRoles()`. Without it, no user has a role.
   */
  readonly roles?: string;
  /**
   * The text property that contains the user's realm, such as `tenant`. Required with the option `realm`, and refused
   * without it. Names are then unique within a realm, ids across all.
   */
  readonly realm?: string;
  /** Further columns that `request.user` has, such as `['plan']`, read in the same statement. Default: none. */
  readonly select?: readonly string[];
}

/**
 * The value of `request.user`, which also has the properties of `users.select`, or those of the `UserStore`'s user if it
 * is a plain object.
 */
export type RequestUser = Pick<StoredUser, 'id' | 'username' | 'roles' | 'realm'>;

export const NO_ROLES: readonly string[] = Object.freeze([]);

/**
 * Copies a user without the password hash, because route handlers may send the user to clients. Of an instance of a
 * class, copies only the required properties, because a document of an ORM contains the hash in other places too.
 */
export function withoutHash(user: RequestUser & { readonly active: boolean }): RequestUser {
  const { id, username, active, roles, realm } = user;
  const copy = {
    ...(isPlainObject(user) ? user : {}),
    id,
    username,
    active,
    ...(roles ? { roles: Object.freeze([...roles]) } : {}),
    ...(realm === undefined ? {} : { realm }),
  };
  delete (copy as { passwordHash?: unknown }).passwordHash;
  return copy;
}
