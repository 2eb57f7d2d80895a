import { Logger } from '@nestjs/common';
import { isInRealm } from '../adapters/realm';
import {
  type AccountStatus,
  type NewUser,
  NO_ROLES,
  type RequestUser,
  type StoredUser,
  type UserId,
  withoutHash,
} from '../adapters/user-store';
import { unknownUser } from '../base/errors';
import type { Database } from '../database/database';
import type { JoinedTransaction } from '../database/joined-transaction';
import type { StatementFactory } from '../database/statements';
import type { Row, Step } from '../database/transaction';

/** How a statement reads the account of the user of a session `s`. */
export interface AccountSql {
  /** An expression for the `AccountStatus`. */
  readonly status: string;
  /** An expression for the realm as text. Null if realms are not used. */
  readonly realm: string | null;
  /** Selects from the joined row the columns that `fromRow` reads, and the status of the account as `account`. */
  readonly columns: string;
  readonly join: string;
  readonly fromRow: (row: Row) => RequestUser;
}

/** The data of a new user that contains names. */
export type NamedUser = Pick<NewUser, 'username' | 'properties'>;

/** A user with the version of the credentials, which is not newer than what was read of the user. */
export interface Versioned<User> {
  readonly user: User;
  readonly credentialsVersion: number;
}

export const READ_CREDENTIALS_VERSION =
  'SELECT {lock.credentialsVersion} AS version FROM {lock} WHERE {lock.userId} = :userId';

export abstract class Users {
  /** How statements read accounts, or null for a `UserStore`. */
  abstract readonly sql: AccountSql | null;
  /** Whether ids are never reused, so that no data of an earlier user can exist. */
  abstract readonly hasUniqueIds: boolean;
  abstract readonly canSetPasswords: boolean;
  abstract readonly canSetActive: boolean;
  private readonly logger = new Logger('AuthUsers');
  private readonly warned = new Set<string>();
  private readonly readVersion;

  constructor(
    protected readonly database: Database,
    statements: StatementFactory,
  ) {
    this.readVersion = statements.statement(READ_CREDENTIALS_VERSION);
  }

  /** Returns an id that is stored as text in the application's own type. */
  abstract parseId(text: string): UserId;
  /** Returns the id of a new user if a name determines the id. Otherwise returns null. */
  abstract naturalIdOf(user: NamedUser): string | null;
  /** @param realm the realm of the call, in the form of `Client.realm` */
  abstract findByName(username: string, realm: string | null, tx: JoinedTransaction | null): Promise<StoredUser | null>;
  abstract findById(id: UserId, tx: JoinedTransaction | null): Promise<StoredUser | null>;
  abstract load(id: UserId): Promise<unknown>;
  /** Returns whether the database refuses the name of another user. Otherwise warns with the index to create. */
  abstract checkUniqueNames(tx: JoinedTransaction | null): Promise<boolean>;
  /** Returns null if the name is taken. @throws AuthError `not_supported` */
  abstract create(user: NewUser, tx: JoinedTransaction | null): Promise<StoredUser | null>;
  /** Returns false if there is no such user, or if a given `expectedHash` is not the stored hash. */
  abstract setHash(id: UserId, passwordHash: string, expectedHash?: string): Promise<boolean>;
  /** Returns false if there is no such user. */
  abstract setActive(id: UserId, active: boolean, tx: JoinedTransaction | null): Promise<boolean>;
  /** `setHash` as a part of a transaction. Undefined for a `UserStore`, as is `setActiveStep`. */
  setHashStep?(id: UserId, passwordHash: string, expectedHash?: string): Step<boolean>;
  setActiveStep?(id: UserId, active: boolean): Step<boolean>;

  /** Returns the names of a new user, unchecked, with the field for error messages. The first is the username. */
  namesOf({ username }: NamedUser): readonly (readonly [field: string, name: unknown])[] {
    return [['username', username]];
  }

  /** Returns whether a user has this name, although `findByName` may find nobody. */
  async isNameTaken(name: string, realm: string | null, tx: JoinedTransaction | null): Promise<boolean> {
    return (await this.findByName(name, realm, tx)) !== null;
  }

  async findCredentials(username: string, realm: string | null): Promise<Versioned<StoredUser | null>> {
    const first = await this.findByName(username, realm, null);
    // Read before the password hash, so that a replaced hash is never combined with a newer version. An unknown name
    // takes as many statements, because the response time must not reveal whether the name exists.
    const credentialsVersion = await this.credentialsVersion(String(first?.id ?? ''), null);
    const user = await this.findByName(username, realm, null);
    return { user: user?.id === first?.id ? user : null, credentialsVersion };
  }

  /** Returns an active user of the realm. @throws AuthError `unknown_user` */
  async findActive(given: { readonly id: UserId } | UserId, realm: string | null): Promise<Versioned<StoredUser>> {
    const id = (typeof given === 'object' ? given?.id : given) ?? null;
    if (id === null) throw unknownUser();
    // Read first, so that what ends the user's sessions from now on also invalidates the version.
    const credentialsVersion = await this.credentialsVersion(String(id), null);
    const user = await this.findById(id, null);
    if (!user?.active || !isInRealm(user, realm)) throw unknownUser();
    return { user, credentialsVersion };
  }

  /** Reads the version of the credentials without the user's lock. @param userId the id as text */
  async credentialsVersion(userId: string, tx: JoinedTransaction | null): Promise<number> {
    const [row] = (await this.database.run(tx, this.readVersion.with({ userId }))).rows;
    return Number(row?.['version'] ?? 0);
  }

  async accountOf(userId: string): Promise<{ readonly status: AccountStatus; readonly user: RequestUser | null }> {
    const user = await this.findById(this.parseId(userId), null);
    if (!user) return { status: 'deleted', user: null };
    return { status: user.active ? 'active' : 'disabled', user: withoutHash(user) };
  }

  /** Returns the roles of a user whom `sql` or `accountOf` has read. */
  rolesOf(user: RequestUser | null): readonly string[] {
    return user?.roles ?? NO_ROLES;
  }

  protected warnOnce(kind: string, text: string): void {
    if (!this.warned.has(kind)) this.logger.warn(text);
    this.warned.add(kind);
  }
}

/**
 * Returns the user if the user's id, as text, is exactly the given id, otherwise null. A database may match a different
 * id: MySQL and MariaDB compare text with numbers, and a collation may ignore case.
 */
export function withExactId(user: StoredUser | null, id: UserId): StoredUser | null {
  return user && String(user.id) === String(id) ? user : null;
}

/** Returns one role as a list. A value that is neither a role nor a list of roles gives no role. */
export function rolesFrom(value: unknown): readonly string[] {
  const roles: unknown[] = Array.isArray(value) ? value : [value];
  const areRoles = roles.every((role) => typeof role === 'string' && role !== '');
  // The principal has the same list, which no handler may change.
  return areRoles ? Object.freeze(roles as string[]) : NO_ROLES;
}
