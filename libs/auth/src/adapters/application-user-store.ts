import { Logger } from '@nestjs/common';
import { AuthError } from '../domain/errors';
import { kindOf } from '../domain/loggable';
import { type NewUser, type StoredUser, type UserId, UserStore } from '../domain/ports/accounts';
import { withTimeout } from '../domain/with-timeout';

/** A store that has not answered by then "does not answer". */
const USER_STORE_TIMEOUT_MS = 5_000;

class StoreTimeout extends Error {
  override readonly name = 'StoreTimeout';
}

/** The application's own user store. A store that throws is one that does not answer. */
export class ApplicationUserStore extends UserStore {
  private readonly logger = new Logger('AuthUserStore');

  constructor(private readonly store: UserStore) {
    super();
    // They exist only where the application's store has them.
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
    try {
      return await withTimeout(USER_STORE_TIMEOUT_MS, question(), () => {
        throw new StoreTimeout();
      });
    } catch (error) {
      // Its message may contain anything, so only its kind is logged.
      this.logger.error(`The user store failed: ${kindOf(error)}`);
      throw new AuthError('database_unavailable', 'The user store does not answer.');
    }
  }
}
