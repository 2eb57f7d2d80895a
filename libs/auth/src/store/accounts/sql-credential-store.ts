import { Injectable } from '@nestjs/common';
import {
  CredentialStore,
  type FoundCredentials,
  type ReplaceOutcome,
  type ReplacePassword,
  type UserId,
} from '../../domain/ports/accounts';
import { Database } from '../database/database';
import { AccountSource } from './account-source';
import { PasswordTransition } from './password-transition';
import { UserLocks } from './user-locks';

/** Passwords, in step with the sessions that were opened with them. */
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
    return this.accounts.findCredentials(username, (userId) => this.readVersion(userId));
  }

  replace(command: ReplacePassword): Promise<ReplaceOutcome> {
    return this.accounts.replacePassword(command, this.transition);
  }

  async addReset(userId: UserId, digest: string, expiresAt: number): Promise<void> {
    await this.database.transaction(() => this.transition.replaceReset(String(userId), digest, expiresAt));
  }

  async ownerOfReset(digest: string, now: number): Promise<string | null> {
    const [row] = (await this.database.autocommit(this.transition.ownerOfReset(digest, now))).rows;
    return row ? String(row['user_id']) : null;
  }

  private async readVersion(userId: string): Promise<number> {
    const [row] = (await this.database.autocommit(this.locks.versionOf(userId))).rows;
    return Number(row?.['version'] ?? 0);
  }
}
