import { Logger } from '@nestjs/common';
import { AuthError } from '../domain/errors';
import { reportFailure } from '../domain/failure-report';
import { type NewUser, type StoredUser, type UserId, UserStore, withExactId } from '../domain/ports/accounts';
import { withTimeout } from '../domain/with-timeout';

/** A store that has not answered by then "does not answer". */
const USER_STORE_TIMEOUT_MS = 5_000;

class StoreTimeout extends Error {
  override readonly name = 'StoreTimeout';

  constructor() {
    super(`No answer within ${USER_STORE_TIMEOUT_MS} ms`);
  }
}

/** The application's own user store. A store that throws is one that does not answer. */
export class ApplicationUserStore extends UserStore {
  private readonly logger = new Logger('AuthUserStore');

  constructor(private readonly store: UserStore) {
    super();
    // They exist only where the application's store has them.
    if (store.setPasswordHash) {
      this.setPasswordHash = (id, hash, expected) =>
        this.ask('setPasswordHash', () => store.setPasswordHash!(id, hash, expected));
    }
    if (store.setActive) this.setActive = (id, active) => this.ask('setActive', () => store.setActive!(id, active));
    if (store.create) this.create = (user: NewUser) => this.ask('create', () => store.create!(user));
  }

  findByUsername(username: string): Promise<StoredUser | null> {
    return this.ask('findByUsername', () => this.store.findByUsername(username));
  }

  async findById(id: UserId): Promise<StoredUser | null> {
    return withExactId(await this.ask('findById', () => this.store.findById(id)), id);
  }

  override load(id: UserId): Promise<unknown> {
    return this.ask('load', () => this.store.load(id));
  }

  override parseId(text: string): UserId {
    return this.store.parseId(text);
  }

  private async ask<T>(method: keyof UserStore, question: () => Promise<T>): Promise<T> {
    try {
      return await withTimeout(USER_STORE_TIMEOUT_MS, question(), () => {
        throw new StoreTimeout();
      });
    } catch (error) {
      const { summary, stack } = reportFailure(error);
      this.logger.error(`The user store failed in ${method}(): ${summary}`, stack);
      throw new AuthError('database_unavailable', 'The user store does not answer.');
    }
  }
}
