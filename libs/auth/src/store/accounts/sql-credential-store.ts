import { Injectable } from '@nestjs/common';
import {
  CredentialStore,
  type FoundCredentials,
  type NewResetToken,
  type ReplaceOutcome,
  type ReplacePassword,
  type UserId,
} from '../../domain/ports/accounts';
import { Database } from '../database/database';
import { AccountSource } from './account-source';
import { PasswordTransition } from './password-transition';
import { UserLocks } from './user-locks';

/** Reads and replaces credentials, and stores and looks up reset tokens. */
@Injectable()
export class SqlCredentialStore extends CredentialStore {
  constructor(
    private readonly database: Database,
    private readonly accounts: AccountSource,
    private readonly locks: UserLocks,
    private readonly transition: PasswordTransition,
  ) {
    super();
  }

  get canSetPasswords(): boolean {
    return typeof this.accounts.users.setPasswordHash === 'function';
  }

  find(username: string): Promise<FoundCredentials> {
    return this.accounts.findCredentials(username, (userId) => this.versionOf(userId));
  }

  replace(command: ReplacePassword): Promise<ReplaceOutcome> {
    return this.accounts.replacePassword(command, this.transition);
  }

  async versionOf(userId: UserId): Promise<number> {
    const [row] = (await this.database.autocommit(this.locks.versionOf(String(userId)))).rows;
    return Number(row?.['version'] ?? 0);
  }

  addReset(userId: UserId, token: NewResetToken): Promise<boolean> {
    return this.database.transaction(() => this.transition.replaceReset(String(userId), token));
  }

  async ownerOfReset(digest: string, now: number): Promise<string | null> {
    const [row] = (await this.database.autocommit(this.transition.ownerOfReset(digest, now))).rows;
    return row ? String(row['user_id']) : null;
  }
}
