import { Logger } from '@nestjs/common';
import { AuthError } from '../domain/errors';
import { reportFailure } from '../domain/failure-report';
import { withExactId, withSameName } from '../domain/found-user';
import { type NewUser, type StoredUser, type UserId, UserStore } from '../domain/ports/accounts';
import { foldName, type NameMatching } from '../domain/username';
import { withTimeout } from '../domain/with-timeout';
import { checkedBoolean, checkedUser, UserStoreResultError } from './user-store-results';

/** A store that has not answered by then "does not answer". */
const USER_STORE_TIMEOUT_MS = 5_000;

const UNSET_HASH = 'for an unknown user or another hash than the expected one';

class StoreTimeout extends Error {
  override readonly name = 'StoreTimeout';

  constructor() {
    super(`No answer within ${USER_STORE_TIMEOUT_MS} ms`);
  }
}

/**
 * The application's own user store. A store that throws, or returns what its type excludes, is one that does not answer,
 * and one that returns a user with another name has found nobody.
 */
export class ApplicationUserStore extends UserStore {
  private readonly logger = new Logger('AuthUserStore');
  private hasWarned = false;

  constructor(
    private readonly store: UserStore,
    private readonly matching: NameMatching,
  ) {
    super();
    // They exist only where the application's store has them.
    if (store.setPasswordHash) {
      this.setPasswordHash = (id, hash, expected) =>
        this.askWhether('setPasswordHash', UNSET_HASH, () => store.setPasswordHash!(id, hash, expected));
    }
    if (store.setActive) {
      this.setActive = (id, active) =>
        this.askWhether('setActive', 'for an unknown user', () => store.setActive!(id, active));
    }
    if (store.create) this.create = (user) => this.createNew(user);
  }

  /** The store is asked for the form in which names are compared: all spellings of a name find the same user. */
  findByUsername(username: string): Promise<StoredUser | null> {
    const name = foldName(username, this.matching);
    return this.askForName('findByUsername', username, () => this.store.findByUsername(name));
  }

  async findById(id: UserId): Promise<StoredUser | null> {
    return withExactId(await this.askForUser('findById', () => this.store.findById(id)), id);
  }

  override load(id: UserId): Promise<unknown> {
    return this.ask('load', () => this.store.load(id));
  }

  override parseId(text: string): UserId {
    return this.store.parseId(text);
  }

  /** The store's own check for a taken name may compare names in another form. */
  private async createNew(user: NewUser): Promise<StoredUser | null> {
    if (await this.findByUsername(user.username)) return null;
    return this.askForName('create', user.username, () => this.store.create!(user));
  }

  private async askForName(
    method: 'findByUsername' | 'create',
    username: string,
    question: () => Promise<StoredUser | null>,
  ): Promise<StoredUser | null> {
    const user = await this.askForUser(method, question);
    const same = withSameName(user, username, this.matching);
    if (user && !same) this.warnAboutOtherName(method);
    return same;
  }

  private askForUser(method: keyof UserStore, question: () => Promise<StoredUser | null>): Promise<StoredUser | null> {
    return this.ask(method, async () => checkedUser(await question(), this.store));
  }

  private askWhether(method: keyof UserStore, otherwise: string, question: () => Promise<boolean>): Promise<boolean> {
    return this.ask(method, async () => checkedBoolean(await question(), otherwise));
  }

  private warnAboutOtherName(method: string): void {
    if (this.hasWarned) return;
    this.hasWarned = true;
    const form = this.matching === 'exact' ? '' : ' after foldName()';
    this.logger.warn(
      `The user store returned from ${method}() a user with another name, who counts as unknown: with ` +
        `nameMatching: '${this.matching}', names are compared byte by byte${form}.`,
    );
  }

  private async ask<T>(method: keyof UserStore, question: () => Promise<T>): Promise<T> {
    try {
      return await withTimeout(USER_STORE_TIMEOUT_MS, question(), () => {
        throw new StoreTimeout();
      });
    } catch (error) {
      this.logFailure(method, error);
      throw new AuthError('database_unavailable', 'The user store does not answer.', {}, 5);
    }
  }

  private logFailure(method: keyof UserStore, error: unknown): void {
    if (error instanceof UserStoreResultError) {
      this.logger.error(`The user store returned from ${method}() ${error.message}`);
      return;
    }
    const { summary, stack } = reportFailure(error);
    this.logger.error(`The user store failed in ${method}(): ${summary}`, stack);
  }
}
