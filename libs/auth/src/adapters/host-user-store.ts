import { Logger } from '@nestjs/common';
import { AuthError } from '../domain/errors';
import { kindOf } from '../domain/loggable';
import { UserStore, type NewUser, type StoredUser, type UserId } from '../domain/ports/user-store';

/** A store that has not answered by then "does not answer". */
const ANSWER_WITHIN_MS = 5_000;

class StoreTimeout extends Error {
  override readonly name = 'StoreTimeout';
}

/** The host's own user store. What it throws stays here: a store that fails is one that does not answer. */
export class HostUserStore extends UserStore {
  private readonly logger = new Logger('AuthUserStore');

  constructor(private readonly store: UserStore) {
    super();
    // Both are there only where the host's store has them.
    if (store.setPasswordHash) {
      this.setPasswordHash = (id, hash, expected) => this.ask(() => store.setPasswordHash!(id, hash, expected));
    }
    if (store.setActive) this.setActive = (id, active) => this.ask(() => store.setActive!(id, active));
    if (store.create) this.create = (user: NewUser) => this.ask(() => store.create!(user));
  }

  findByUsername(username: string): Promise<StoredUser | null> {
    return this.ask(() => this.store.findByUsername(username));
  }

  findById(id: UserId): Promise<StoredUser | null> {
    return this.ask(() => this.store.findById(id));
  }

  override load(id: UserId): Promise<unknown> {
    return this.ask(() => this.store.load(id));
  }

  override parseId(text: string): UserId {
    return this.store.parseId(text);
  }

  private async ask<T>(question: () => Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new StoreTimeout()), ANSWER_WITHIN_MS);
    });
    try {
      return await Promise.race([question(), timeout]);
    } catch (error) {
      // Its text may hold anything; its kind may be told.
      this.logger.error(`The user store failed: ${kindOf(error)}`);
      throw new AuthError('database_unavailable', 'The user store does not answer.');
    } finally {
      clearTimeout(timer);
    }
  }
}
