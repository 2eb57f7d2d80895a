import {
  type AccountStatus,
  type NewUser,
  type RequestUser,
  type StoredUser,
  type UserId,
  withoutHash,
} from '../adapters/user-store';
import type { JoinedTransaction } from '../database/joined-transaction';
import type { Row, Step } from '../database/transaction';

/** The account of a user, read from the user store. */
export interface AccountLookup {
  readonly status: AccountStatus;
  /** The user without the password hash, or null if there is no such user. */
  readonly user: RequestUser | null;
}

/** The user with a name, or null, and the version of the user's credentials when the user was read. */
export interface FoundCredentials {
  readonly user: StoredUser | null;
  readonly version: number;
}

/** How a statement that looks up a session reads `request.user` with the account. */
export interface UserSql {
  /** Selects the columns of the user that `fromRow` reads, and the status of the account as `account`. */
  readonly columns: string;
  /** Joins the row of the user to a session `s`. */
  readonly join: string;
  readonly fromRow: (row: Row) => RequestUser;
}

/** How a statement reads the account of a user. */
export interface AccountSql {
  /**
   * An expression for the status of the user of a row `s`, which has the column `session.userId`: 'active',
   * 'disabled' or 'deleted'.
   */
  readonly status: string;
  readonly user: UserSql;
}

/** Changes of users that are parts of a transaction. */
export interface UserSteps {
  /** Returns false if there is no such user. */
  setActive(id: UserId, active: boolean): Step<boolean>;
  /** Returns false if there is no such user, or if a given `expectedHash` is not the stored hash. */
  setHash(id: UserId, passwordHash: string, expectedHash?: string): Step<boolean>;
}

/** The users: in a table of the DataSource of the sessions, or in a `UserStore` of the application. */
export abstract class Users {
  /** How statements read accounts, or null for a `UserStore`. */
  abstract readonly sql: AccountSql | null;
  /** The changes that can be parts of a transaction, or null for a `UserStore`. */
  abstract readonly steps: UserSteps | null;
  /** Whether ids are never reused, so that no data of an earlier user can exist. */
  abstract readonly hasUniqueIds: boolean;
  abstract readonly canSetPasswords: boolean;
  abstract readonly canSetActive: boolean;
  abstract readonly canCreate: boolean;

  /** Returns an id that is stored as text in the application's own type. */
  abstract parseId(text: string): UserId;
  /** Returns the id of a new user if the name determines the id. Otherwise returns null. */
  abstract naturalIdOf(user: NewUser): string | null;
  abstract findByName(username: string, tx: JoinedTransaction | null): Promise<StoredUser | null>;
  /** Returns the user and the version of the credentials, which is not newer than the password hash. */
  abstract findCredentials(username: string, tx: JoinedTransaction | null): Promise<FoundCredentials>;
  abstract findById(id: UserId, tx: JoinedTransaction | null): Promise<StoredUser | null>;
  /** Loads the application's user object, or null. */
  abstract load(id: UserId): Promise<unknown>;
  /** Creates a user. Returns null if the name is taken. */
  abstract create(user: NewUser, tx: JoinedTransaction | null): Promise<StoredUser | null>;
  abstract setHash(
    id: UserId,
    passwordHash: string,
    expectedHash: string | undefined,
    tx: JoinedTransaction | null,
  ): Promise<boolean>;
  abstract setActive(id: UserId, active: boolean, tx: JoinedTransaction | null): Promise<boolean>;

  /** Reads the account of a user. @param userId the id as text */
  async accountOf(userId: string): Promise<AccountLookup> {
    const user = await this.findById(this.parseId(userId), null);
    if (!user) return { status: 'deleted', user: null };
    return { status: user.active ? 'active' : 'disabled', user: withoutHash(user) };
  }
}

/**
 * Reads a user by name and the version of the credentials in separate statements. The version is read before the
 * password hash, so that a replaced hash is never combined with a newer version.
 */
export async function findSeparately(
  find: () => Promise<StoredUser | null>,
  versionOf: (userId: string) => Promise<number>,
): Promise<FoundCredentials> {
  const first = await find();
  const userId = first ? String(first.id) : '';
  const version = await versionOf(userId);
  const user = await find();
  return { user: user && String(user.id) === userId ? user : null, version };
}
