import {
  type AccountStatus,
  type NewUser,
  type RequestUser,
  type StoredUser,
  type UserEntityMapping,
  type UserId,
  type UserStore,
  withoutHash,
} from '../adapters/user-store';
import type { NameMatching } from '../base/fields';
import type { Database } from '../database/database';
import { AuthUser } from '../database/entities';
import type { Row, Step } from '../database/transaction';
import type { PasswordTransition, ReplaceOutcome, ReplacePassword } from '../passwords/replace-password';
import type { NewResetToken } from '../passwords/reset-password';
import type { EntityUserStore } from './entity-users';

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

/** The user with a name, or null, and the version of the user's credentials when the user was read. */
export interface FoundCredentials {
  readonly user: StoredUser | null;
  readonly version: number;
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

export const OWN_USERS: UserEntityMapping = {
  entity: AuthUser,
  username: 'username',
  passwordHash: 'passwordHash',
  active: 'active',
};

/** Describes the content of `AuthUser.usernameKey`, for log messages. */
export const OWN_NAME_KEY: Readonly<Record<NameMatching, string>> = {
  exact: 'the SHA-256 digest of the name in hexadecimal',
  insensitive: 'the SHA-256 digest of foldName(name) in hexadecimal',
};

export function refuseProperties([first]: readonly string[]): void {
  if (first === undefined) return;
  throw new Error(
    `createUser() received the property '${first}', but AuthUser accepts no properties. Map your own entity: ` +
      "users: { entity: User, username: 'email', passwordHash: 'password' }",
  );
}

type VersionReader = (userId: string) => Promise<number>;

/** The source of the accounts: a table in the same DataSource as the sessions, or a `UserStore`. */
export abstract class AccountSource {
  abstract readonly users: UserStore;

  /** How a statement reads the account of a session's user, or null if statements cannot read accounts. */
  abstract readonly sql: AccountSql | null;

  /** Whether ids are never reused, so that no data of an earlier user can exist. */
  abstract readonly hasUniqueIds: boolean;

  /** Returns the id of a new user if the name determines the id. Otherwise returns null. */
  abstract naturalIdOf(user: NewUser): string | null;

  /** Reads the status of an account from the user store. */
  async askStatus(userId: string): Promise<AccountStatus> {
    return (await readAccount(this.users, userId)).status;
  }

  /**
   * Sets the new password and, with `revoke`, ends the user's sessions except the one to keep. If the users are in the
   * same DataSource, this is one transaction.
   */
  abstract replacePassword(command: ReplacePassword, transition: PasswordTransition): Promise<ReplaceOutcome>;

  /**
   * Disables a user as part of a transaction. Returns false if there is no such user. The function is null
   * for a `UserStore`.
   */
  abstract readonly disableStep: ((userId: UserId) => Step<boolean>) | null;

  /**
   * Returns the user and the version of the user's credentials. Reads the version before the password
   * hash, so that a replaced hash is never combined with a newer version.
   */
  async findCredentials(username: string, readVersion: VersionReader): Promise<FoundCredentials> {
    const first = await this.users.findByUsername(username);
    const userId = first ? String(first.id) : '';
    const version = await readVersion(userId);
    const user = await this.users.findByUsername(username);
    return { user: user && String(user.id) === userId ? user : null, version };
  }
}

/** Users in a table of the same DataSource. Statements can join the table, and transactions can change it. */
export class JoinedAccounts extends AccountSource {
  readonly sql: AccountSql;
  readonly hasUniqueIds: boolean;
  readonly disableStep = (userId: UserId): Step<boolean> => this.users.setActiveStep(userId, false);

  constructor(
    readonly users: EntityUserStore,
    private readonly database: Database,
  ) {
    super();
    this.sql = users.accountSql();
    this.hasUniqueIds = users.hasUniqueIds;
  }

  naturalIdOf(user: NewUser): string | null {
    return this.users.naturalIdOf(user);
  }

  override async findCredentials(username: string, readVersion: VersionReader): Promise<FoundCredentials> {
    return (await this.users.findCredentials(username)) ?? super.findCredentials(username, readVersion);
  }

  replacePassword(command: ReplacePassword, transition: PasswordTransition): Promise<ReplaceOutcome> {
    const { userId, passwordHash, expectedHash } = command;
    const setHash = (): Step<boolean> => this.users.setHashStep(userId, passwordHash, expectedHash);
    return this.database.transaction(() => transition.replace(command, setHash));
  }
}

/** Users of a `UserStore`, which takes part in no transaction. With `revoke`, sessions end before a password is set. */
export class ExternalAccounts extends AccountSource {
  readonly sql = null;
  readonly hasUniqueIds = false;
  readonly disableStep = null;

  constructor(
    readonly users: UserStore,
    private readonly database: Database,
  ) {
    super();
  }

  naturalIdOf(): null {
    return null;
  }

  /**
   * With `revoke`, ends the sessions, except the one to keep, before the password is set. If this first step fails, the
   * old password remains. After the password is set, sessions end again, because a login with the old password may have
   * opened a session in between. If the password is refused or a later step fails, also tries to end the session to
   * keep.
   */
  async replacePassword(command: ReplacePassword, transition: PasswordTransition): Promise<ReplaceOutcome> {
    const first = await this.database.transaction(() => transition.replace(command, null));
    if (first.kind !== 'replaced') return first;
    let isSet = false;
    try {
      const { userId, passwordHash, expectedHash } = command;
      isSet = (await this.users.setPasswordHash?.(userId, passwordHash, expectedHash)) ?? false;
      if (!isSet) return { kind: 'refused', ended: [...first.ended, ...(await transition.endKept(command))] };
      const second = await this.database.transaction(() => transition.endAgain(command));
      return { ...second, ended: [...first.ended, ...second.ended] };
    } catch (error) {
      const ended = await transition.endKept(command);
      return { kind: 'broken', isSet, ended: [...first.ended, ...ended], error };
    }
  }
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
