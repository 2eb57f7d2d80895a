import { Logger } from '@nestjs/common';
import { ApplicationCalls, checkedBoolean, checkedUser } from '../adapters/application-calls';
import { type NewUser, type StoredUser, type UserId, UserStore } from '../adapters/user-store';
import { foldName, type NameMatching } from '../base/fields';
import { withExactId } from './user-ids';
import { withSameName } from './user-names';

/** The context of log messages. */
const CONTEXT = 'AuthUserStore';

const UNCHANGED_HASH = 'if the user is unknown or the stored hash is not the expected one';

const UNKNOWN_USER = 'if the user is unknown';

/**
 * Calls the application's `UserStore`. If an asynchronous method fails, times out or returns a value of the wrong type,
 * the call rejects with `database_unavailable`. Instead of a user with a different name or id than the requested one,
 * the result is null.
 */
export class ApplicationUserStore extends UserStore {
  private readonly logger = new Logger(CONTEXT);
  private readonly calls = new ApplicationCalls(CONTEXT, 'user store');
  private hasWarned = false;

  constructor(
    private readonly store: UserStore,
    private readonly matching: NameMatching,
  ) {
    super();
    // Optional methods exist only if the application's store has them.
    if (store.setPasswordHash) {
      this.setPasswordHash = (id, hash, expected) =>
        this.callForBoolean('setPasswordHash', UNCHANGED_HASH, () => store.setPasswordHash!(id, hash, expected));
    }
    if (store.setActive) {
      this.setActive = (id, active) =>
        this.callForBoolean('setActive', UNKNOWN_USER, () => store.setActive!(id, active));
    }
    if (store.create) this.create = (user) => this.createNew(user);
  }

  /** With `nameMatching: 'insensitive'`, passes the folded name, which is the same for all spellings. */
  findByUsername(username: string): Promise<StoredUser | null> {
    const name = foldName(username, this.matching);
    return this.callForUserNamed('findByUsername', username, () => this.store.findByUsername(name));
  }

  async findById(id: UserId): Promise<StoredUser | null> {
    return withExactId(await this.callForUser('findById', () => this.store.findById(id)), id);
  }

  override load(id: UserId): Promise<unknown> {
    return this.calls.call('load', () => this.store.load(id));
  }

  override parseId(text: string): UserId {
    return this.store.parseId(text);
  }

  /** Looks the name up first, because the store's own check for a taken name may compare names differently. */
  private async createNew(user: NewUser): Promise<StoredUser | null> {
    if (await this.findByUsername(user.username)) return null;
    return this.callForUserNamed('create', user.username, () => this.store.create!(user));
  }

  private async callForUserNamed(
    method: 'findByUsername' | 'create',
    username: string,
    invoke: () => Promise<StoredUser | null>,
  ): Promise<StoredUser | null> {
    const user = await this.callForUser(method, invoke);
    const same = withSameName(user, username, this.matching);
    if (user && !same) this.warnAboutOtherName(method);
    return same;
  }

  private callForUser(method: keyof UserStore, invoke: () => Promise<StoredUser | null>): Promise<StoredUser | null> {
    return this.calls.call(method, async () => checkedUser(await invoke(), this.store));
  }

  private callForBoolean(method: keyof UserStore, whenFalse: string, invoke: () => Promise<boolean>): Promise<boolean> {
    return this.calls.call(method, async () => checkedBoolean(await invoke(), `Return true, or false ${whenFalse}.`));
  }

  private warnAboutOtherName(method: string): void {
    if (this.hasWarned) return;
    this.hasWarned = true;
    const form = this.matching === 'exact' ? '' : ' after foldName()';
    this.logger.warn(
      `${method}() of the user store returned a user with another name, and the library ignored ` +
        `this user. With nameMatching: '${this.matching}', names are compared byte by byte${form}. ` +
        'Compare them in the same way in the user store.',
    );
  }
}
