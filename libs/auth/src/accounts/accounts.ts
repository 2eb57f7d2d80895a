import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../adapters/second-factor';
import { type UserId, UserStore } from '../adapters/user-store';
import { assertValidField, AuthError, unknownUser } from '../base/errors';
import { newUsernameProblem, USERNAME_LENGTH } from '../base/fields';
import { Passwords } from '../passwords/passwords';
import { SessionLifecycle } from '../sessions/lifecycle';
import { LoginThrottle } from '../throttle/throttle';
import { AccountStore, type ReportEnded } from './forget-user';

/** The username, the password and further values of a user to create. */
export interface UserToCreate {
  readonly username: string;
  /** The password in plain text, or null for a user who logs in by another method. */
  readonly password: string | null;
  /**
   * Further values to store. With a mapped entity, each key is a property of the entity, as in
   * `{ fullName: 'Alice Liddell' }`. The key of an embedded or related property is its path, such as
   * `'profile.phone'` or `'team.id'`. A custom `UserStore` receives the object in `create`. The
   * library's own entity, `AuthUser`, accepts no properties. Default: none.
   */
  readonly properties?: Readonly<Record<string, unknown>>;
}

/** The user that `createUser` created. */
export interface CreatedUser {
  readonly id: UserId;
  readonly username: string;
}

/** Options of `createUser`. */
export interface CreateUserOptions {
  /** Whether to skip `passwordPolicy`, for example to import users with existing passwords. Default: false. */
  readonly skipPolicy?: boolean;
}

/** Creates, disables, enables and loads users, deletes the stored data of a user, and resets failed logins. */
@Injectable()
export class Accounts {
  private readonly publishEnded: ReportEnded = (ended) => this.lifecycle.publishSessionEnded(ended);

  constructor(
    private readonly users: UserStore,
    private readonly accounts: AccountStore,
    private readonly passwords: Passwords,
    private readonly throttle: LoginThrottle,
    private readonly lifecycle: SessionLifecycle,
  ) {}

  async create(
    { username, password, properties }: UserToCreate,
    skipPolicy: boolean,
    info: ClientInfo,
  ): Promise<CreatedUser> {
    assertValidField('username', newUsernameProblem(username, USERNAME_LENGTH));
    const { network } = this.lifecycle.operationContext(info).client;
    const origin = { network };
    const hash = (given: string): Promise<string> =>
      skipPolicy
        ? this.passwords.hash(given, 'password', origin)
        : this.passwords.hashNew(given, 'password', username, origin);
    const passwordHash = password === null ? null : await hash(password);
    if (!this.users.create) {
      throw new AuthError('not_supported', 'The user store cannot create users. Implement its method `create`.');
    }
    const user = { username, passwordHash, ...(properties ? { properties } : {}) };
    const created = await this.accounts.create(user, this.lifecycle.operationContext(info), this.publishEnded);
    if (!created) throw new AuthError('username_taken', 'A user with this username already exists.');
    return { id: created.id, username: created.username };
  }

  async disable(userId: UserId, info: ClientInfo): Promise<void> {
    if (!this.users.setActive) throw cannotSetActive();
    const user = await this.users.findById(userId);
    const ended = user && (await this.accounts.disable(user.id, this.lifecycle.operationContext(info)));
    if (!ended) throw unknownUser();
    this.lifecycle.publishSessionEnded(ended);
  }

  async enable(userId: UserId): Promise<void> {
    if (!this.users.setActive) throw cannotSetActive();
    const user = await this.users.findById(userId);
    if (!user || !(await this.accounts.enable(user.id))) throw unknownUser();
  }

  /**
   * Deletes the data that the library stores about a user. The application deletes the user's row itself, before or
   * after this call.
   * @throws AuthError `database_unavailable`. The rows of committed batches stay deleted. Repeat the call to delete
   *   the rest
   */
  async forget(userId: UserId): Promise<void> {
    await this.throttle.resetUser(userId);
    await this.accounts.forget(String(userId), this.lifecycle.operationContext({}), this.publishEnded);
  }

  /** Resets the failure streaks of a username, and of the user who has it. */
  async resetFailedLogins(username: string): Promise<void> {
    await this.throttle.reset(username, await this.users.findByUsername(username));
  }

  /** Loads the application's user object. */
  load(userId: UserId): Promise<unknown> {
    return this.users.load(userId);
  }
}

function cannotSetActive(): AuthError {
  const message = 'Users cannot be enabled or disabled. Map `active` or `disabledAt`, or implement `setActive`.';
  return new AuthError('not_supported', message);
}
