import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../../domain/client';
import { assertValidField, AuthError, unknownUser } from '../../domain/errors';
import { newUsernameProblem } from '../../domain/fields';
import { AccountStore, type ReportEnded, type UserId, UserStore } from '../../domain/ports/accounts';
import { USERNAME_LENGTH } from '../../domain/username';
import { SessionLifecycle } from '../sessions/session-lifecycle';
import { LoginThrottle } from './login-throttle';
import { Passwords } from './passwords';

/** A user to create. */
export interface UserToCreate {
  readonly username: string;
  /** Null for a user who logs in otherwise. */
  readonly password: string | null;
  /**
   * What else to store. For a mapped entity: its further columns by property, such as
   * `{ fullName: 'Alice Liddell' }`; embedded and related ones by path (`'profile.phone'`, `'team.id'`).
   * A `UserStore` receives them in `create`. Default: none.
   */
  readonly properties?: Readonly<Record<string, unknown>>;
}

/** A user who has just been created. */
export interface CreatedUser {
  readonly id: UserId;
  readonly username: string;
}

/** How a user is created. */
export interface CreateUserOptions {
  /** For an existing password that `passwordPolicy` would refuse. Default: false. */
  readonly skipPolicy?: boolean;
}

/** Creates, disables, enables and forgets users. */
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
    if (!this.users.create) throw new AuthError('not_supported', 'The user store cannot create users.');
    const user = { username, passwordHash, ...(properties ? { properties } : {}) };
    const created = await this.accounts.create(user, this.lifecycle.operationContext(info), this.publishEnded);
    if (!created) throw new AuthError('username_taken', 'A user with this name exists.');
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
   * The application may have removed the user already, or does so afterwards.
   * @throws AuthError `database_unavailable`; batches that are committed stay, and another call continues
   */
  async forget(userId: UserId): Promise<void> {
    await this.throttle.resetUser(userId);
    await this.accounts.forget(String(userId), this.lifecycle.operationContext({}), this.publishEnded);
  }

  /** Ends the failure streaks of a name, and of the user who has it. */
  async resetFailedLogins(username: string): Promise<void> {
    await this.throttle.reset(username, await this.users.findByUsername(username));
  }

  /** Loads the application's own user object. */
  load(userId: UserId): Promise<unknown> {
    return this.users.load(userId);
  }
}

function cannotSetActive(): AuthError {
  return new AuthError('not_supported', 'The user store cannot enable and disable users.');
}
