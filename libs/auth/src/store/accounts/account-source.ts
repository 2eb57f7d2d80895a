import type { AccountStatus } from '../../domain/account-status';
import type {
  FoundCredentials,
  NewUser,
  ReplaceOutcome,
  ReplacePassword,
  UserId,
  UserStore,
} from '../../domain/ports/accounts';
import { askAccount } from '../../domain/ports/accounts';
import type { Database } from '../database/database';
import type { AccountSql } from '../database/statement-factory';
import type { Step } from '../database/transaction';
import type { EntityUserStore } from './entity-user-store';
import type { PasswordTransition } from './password-transition';

type VersionReader = (userId: string) => Promise<number>;

/** Where the accounts are: in a table beside the sessions, or behind a `UserStore` that is asked. */
export abstract class AccountSource {
  abstract readonly users: UserStore;

  /** How a statement reads the account of a session's user; null where it cannot. */
  abstract readonly sql: AccountSql | null;

  /** Whether no id is ever given out twice: then an earlier user has left nothing. */
  abstract readonly hasUniqueIds: boolean;

  /** The id that a new user will have, where its name is its id; otherwise null. */
  abstract naturalIdOf(user: NewUser): string | null;

  /** Asks the user store about an account, where statements do not read it. */
  async askStatus(userId: string): Promise<AccountStatus> {
    return (await askAccount(this.users, userId)).status;
  }

  /** Sets the new password and ends the sessions, in one transaction where that is possible. */
  abstract replacePassword(command: ReplacePassword, transition: PasswordTransition): Promise<ReplaceOutcome>;

  /** Disables a user within a transaction, where that is possible; false if there is no such user. */
  abstract readonly disableStep: ((userId: UserId) => Step<boolean>) | null;

  /** Reads the version before the hash that is verified: a replaced hash must never come with a newer version. */
  async findCredentials(username: string, readVersion: VersionReader): Promise<FoundCredentials> {
    const first = await this.users.findByUsername(username);
    const userId = first ? String(first.id) : '';
    const version = await readVersion(userId);
    const user = await this.users.findByUsername(username);
    return { user: user && String(user.id) === userId ? user : null, version };
  }
}

/** Users in a table of the same DataSource: statements join it, and a change of a user is part of a transaction. */
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

/** Users behind a `UserStore`, which takes part in no transaction: sessions end before a password is set. */
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
   * The sessions end first: a failure in between leaves the old password, never a new one with old sessions alive. They
   * end once more afterwards, for a login with the old password that came in between.
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
      const ended = isSet ? [] : await transition.endKept(command);
      return { kind: 'broken', isSet, ended: [...first.ended, ...ended], error };
    }
  }
}
