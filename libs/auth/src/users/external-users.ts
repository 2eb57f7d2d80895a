import { ApplicationCalls, checkedUser } from '../adapters/application-calls';
import { isInRealm } from '../adapters/realm';
import { loginNamesOf, type NewUser, type StoredUser, type UserId, type UserStore } from '../adapters/user-store';
import { notSupported } from '../base/errors';
import { foldName, type NameMatching } from '../base/fields';
import type { Database } from '../database/database';
import type { StatementFactory } from '../database/statements';
import { Users, withExactId } from './users';

const UNKNOWN_USER = 'Return true, or false if the user is unknown';

/**
 * The users of the application's `UserStore`, which takes part in no transaction. If a method fails, times out or
 * returns a value of the wrong type, the call rejects with `database_unavailable`. Instead of a user with a different
 * name or id than the requested one, the result is null.
 */
export class ExternalUsers extends Users {
  readonly sql = null;
  readonly hasUniqueIds = false;
  readonly canSetPasswords: boolean;
  readonly canSetActive: boolean;
  private readonly calls = new ApplicationCalls('AuthUserStore', 'user store');

  constructor(
    private readonly store: UserStore,
    private readonly matching: NameMatching,
    database: Database,
    statements: StatementFactory,
  ) {
    super(database, statements);
    this.canSetPasswords = typeof store.setPasswordHash === 'function';
    this.canSetActive = typeof store.setActive === 'function';
  }

  parseId(text: string): UserId {
    return this.store.parseId(text);
  }

  naturalIdOf(): null {
    return null;
  }

  /** With `nameMatching: 'insensitive'`, passes the folded name, which is the same for all spellings. */
  async findByName(username: string, realm: string | null): Promise<StoredUser | null> {
    const name = foldName(username, this.matching);
    if (realm === '') return null;
    return this.userNamed('findByUsername', username, realm, () => this.store.findByUsername(name, { realm }));
  }

  async findById(id: UserId): Promise<StoredUser | null> {
    return withExactId(await this.user('findById', () => this.store.findById(id)), id);
  }

  load(id: UserId): Promise<unknown> {
    return this.calls.call('load', () => this.store.load(id));
  }

  /** The store decides this itself. */
  checkUniqueNames(): Promise<true> {
    return Promise.resolve(true);
  }

  /** Looks the name up first, because the store's own check for a taken name may compare names differently. */
  async create(user: NewUser): Promise<StoredUser | null> {
    if (!this.store.create) throw notSupported('The user store cannot create users. Implement its method `create`.');
    const realm = user.realm ?? null;
    if (await this.findByName(user.username, realm)) return null;
    return this.userNamed('create', user.username, realm, () => this.store.create!(user));
  }

  setHash(id: UserId, passwordHash: string, expectedHash?: string): Promise<boolean> {
    const hint = `${UNKNOWN_USER} or the stored hash is not the expected one.`;
    const set = (): Promise<boolean> => this.store.setPasswordHash!(id, passwordHash, expectedHash);
    return this.calls.callBoolean('setPasswordHash', set, hint);
  }

  setActive(id: UserId, active: boolean): Promise<boolean> {
    return this.calls.callBoolean('setActive', () => this.store.setActive!(id, active), `${UNKNOWN_USER}.`);
  }

  private async userNamed(
    method: 'findByUsername' | 'create',
    username: string,
    realm: string | null,
    invoke: () => Promise<StoredUser | null>,
  ): Promise<StoredUser | null> {
    const user = await this.user(method, invoke);
    if (user && !isInRealm(user, realm)) {
      this.warnOnce('other realm', `${method}() of the user store returned a user of another realm, who was ignored.`);
      return null;
    }
    const name = foldName(username, this.matching);
    if (!user || loginNamesOf(user).some((one) => foldName(one, this.matching) === name)) return user;
    const form = this.matching === 'exact' ? '' : ' after foldName()';
    this.warnOnce(
      'other name',
      `${method}() of the user store returned a user with another name, and the library ignored this user. With ` +
        `nameMatching: '${this.matching}', names are compared byte by byte${form}. Compare them in the same way.`,
    );
    return null;
  }

  private user(method: keyof UserStore, invoke: () => Promise<StoredUser | null>): Promise<StoredUser | null> {
    return this.calls.call(method, async () => checkedUser(await invoke(), this.store));
  }
}
