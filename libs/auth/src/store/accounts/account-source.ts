import type { AccountStatus } from '../../domain/account-status';
import type {
  FoundCredentials,
  NewUser,
  ReplaceOutcome,
  ReplacePassword,
  UserId,
  UserStore,
} from '../../domain/ports/accounts';
import { readAccount } from '../../domain/ports/accounts';
import type { Database } from '../database/database';
import type { AccountSql } from '../database/statement-factory';
import type { Step } from '../database/transaction';
import type { EntityUserStore } from './entity-user-store';
import type { PasswordTransition } from './password-transition';

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
