import { Injectable } from '@nestjs/common';
import type { UserId } from '../adapters/user-store';
import { assertValidField, AuthError, unknownUser } from '../base/errors';
import { newUsernameProblem, USERNAME_LENGTH } from '../base/fields';
import { Database } from '../database/database';
import type { Step, Transaction } from '../database/transaction';
import type { Client, Operation } from '../history/client';
import { EventLog, type WriteEvents } from '../history/event-log';
import { Passwords } from '../passwords/passwords';
import { EndSessions } from '../sessions/end-sessions';
import type { EndedSession } from '../sessions/session';
import { Throttle } from '../throttle/throttle';
import { UserLock } from '../users/user-lock';
import { Users } from '../users/users';
import { ForgetUser } from './forget-user';

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

/** Creates, disables, enables and loads users, and resets failed logins. */
@Injectable()
export class Accounts {
  constructor(
    private readonly database: Database,
    private readonly users: Users,
    private readonly lock: UserLock,
    private readonly endSessions: EndSessions,
    private readonly events: EventLog,
    private readonly forgetUser: ForgetUser,
    private readonly passwords: Passwords,
    private readonly throttle: Throttle,
  ) {}

  /**
   * Creates a user and, unless ids are never reused, deletes what `ForgetUser` deletes of an earlier user with the same
   * id. A natural key is known before the row exists. In that case, the data is deleted first, so that no earlier
   * session becomes valid even if a later step fails. Any other id is known only after the row exists, but databases
   * rarely reuse generated ids. In both cases, a login of the earlier user that is still verifying a password cannot
   * open a session of the new user.
   */
  async create(
    { username, password, properties }: UserToCreate,
    skipPolicy: boolean,
    op: Operation,
  ): Promise<CreatedUser> {
    assertValidField('username', newUsernameProblem(username, USERNAME_LENGTH));
    const passwordHash = password === null ? null : await this.hash(password, username, skipPolicy, op.client.network);
    if (!this.users.canCreate) {
      throw new AuthError('not_supported', 'The user store cannot create users. Implement its method `create`.');
    }
    const user = { username, passwordHash, ...(properties ? { properties } : {}) };
    const naturalId = this.users.naturalIdOf(user);
    if (naturalId !== null) {
      if (await this.users.findByName(username, op.tx)) throw usernameTaken();
      await this.forgetUser.forget(naturalId, op);
    }
    const created = await this.users.create(user, op.tx);
    if (!created) throw usernameTaken();
    const id = String(created.id);
    if (!this.users.hasUniqueIds) {
      if (naturalId === null) await this.forgetUser.forget(id, op);
      await this.forgetUser.startAccess(id, op);
    }
    return { id: created.id, username: created.username };
  }

  /** Disables a user, ends all sessions and revokes reset tokens and login tickets. */
  async disable(userId: UserId, op: Operation): Promise<void> {
    if (!this.users.canSetActive) throw cannotSetActive();
    const user = await this.users.findById(userId, op.tx);
    // A `UserStore` takes part in no transaction, so the user is disabled first. If ending the sessions fails, the
    // guard refuses these sessions.
    const isDisabled = user && (this.users.steps !== null || (await this.users.setActive(user.id, false, op.tx)));
    const ended =
      isDisabled && (await this.events.revoke(op.tx, (write) => this.disableAndEnd(user.id, op.client, write)));
    if (!ended) throw unknownUser();
    this.endSessions.publish(ended, op.tx);
  }

  async enable(userId: UserId, op: Operation): Promise<void> {
    if (!this.users.canSetActive) throw cannotSetActive();
    const user = await this.users.findById(userId, op.tx);
    if (!user) throw unknownUser();
    // The application may have disabled the user in its own table, which did not revoke any tokens.
    await this.database.transaction(op.tx, () => this.revokeCredentials(String(user.id)));
    if (!(await this.users.setActive(user.id, true, op.tx))) throw unknownUser();
  }

  /** Resets the failure streaks of a username, and of the user who has it. */
  async resetFailedLogins(username: string, op: Operation): Promise<void> {
    await this.throttle.reset(username, await this.users.findByName(username, op.tx), op.tx);
  }

  private hash(password: string, username: string, skipPolicy: boolean, network: string): Promise<string> {
    return skipPolicy
      ? this.passwords.hash(password, 'password', { network })
      : this.passwords.hashNew(password, 'password', username, { network });
  }

  private *disableAndEnd(
    userId: UserId,
    client: Client,
    write: WriteEvents,
  ): Transaction<readonly EndedSession[] | null> {
    const id = String(userId);
    yield* this.lock.lock(id);
    if (this.users.steps && !(yield* this.users.steps.setActive(userId, false))) return null;
    yield* this.lock.revokeCredentials(id);
    return yield* this.endSessions.endAndRecord({ userId: id, reason: 'user_disabled' }, client, write);
  }

  private *revokeCredentials(userId: string): Step<void> {
    yield* this.lock.lock(userId);
    yield* this.lock.revokeCredentials(userId);
  }
}

function usernameTaken(): AuthError {
  return new AuthError('username_taken', 'A user with this username already exists.');
}

function cannotSetActive(): AuthError {
  const message = 'Users cannot be enabled or disabled. Map `active` or `disabledAt`, or implement `setActive`.';
  return new AuthError('not_supported', message);
}
