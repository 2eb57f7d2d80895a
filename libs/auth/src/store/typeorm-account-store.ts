import { AccountStore } from '../domain/ports/account-store';
import type { Circumstances } from '../domain/ports/session-store';
import type { UserId, UserStore } from '../domain/ports/user-store';
import { isOver, type EndedSession } from '../domain/session';
import type { AuthTables } from './auth-tables';
import { EntityUserStore } from './entity-user-store';
import type { EventWriter } from './event-writer';
import { ending, type SessionEnder, type WriteEvents } from './session-ender';
import type { Database } from './sql/database';
import { affectedBy, type Unit } from './sql/unit';
import type { UserLocks } from './user-locks';

/** Accounts on the host's DataSource, or with the host's own user store. */
export class TypeOrmAccountStore extends AccountStore {
  private readonly removals;

  constructor(
    private readonly database: Database,
    tables: AuthTables,
    private readonly users: UserStore,
    private readonly locks: UserLocks,
    private readonly ender: SessionEnder,
    private readonly events: EventWriter,
  ) {
    super();
    const sessions = 'SELECT {session.id} FROM {session} WHERE {session.userId} = :userId';
    this.removals = [
      `DELETE FROM {refresh} WHERE {refresh.sessionId} IN (${sessions})`,
      'DELETE FROM {session} WHERE {session.userId} = :userId',
      'DELETE FROM {event} WHERE {event.userId} = :userId',
      'DELETE FROM {reset} WHERE {reset.userId} = :userId',
      'DELETE FROM {lock} WHERE {lock.userId} = :userId',
    ].map((template) => tables.statement(template));
  }

  get canSetActive(): boolean {
    return typeof this.users.setActive === 'function';
  }

  async disable(userId: UserId, at: Circumstances): Promise<readonly EndedSession[] | null> {
    const { users } = this;
    if (users instanceof EntityUserStore) {
      return this.events.revoke((write) => this.disableInUnit(userId, users, at, write));
    }
    // Disabled first: the guard ends what is left, should the rest fail.
    if (!(await users.setActive?.(userId, false))) return null;
    return this.events.revoke((write) => this.endAll(userId, at, write));
  }

  async enable(userId: UserId): Promise<boolean> {
    return (await this.users.setActive?.(userId, true)) ?? false;
  }

  forget(userId: string, at: Circumstances): Promise<readonly EndedSession[]> {
    return this.database.atomic(() => this.forgetInUnit(userId, at));
  }

  private *disableInUnit(
    userId: UserId,
    users: EntityUserStore,
    at: Circumstances,
    write: WriteEvents,
  ): Unit<readonly EndedSession[] | null> {
    yield* this.locks.lock(String(userId));
    if (!(yield* users.setActiveInUnit(userId, false))) return null;
    return yield* this.endAll(userId, at, write);
  }

  private *endAll(userId: UserId, at: Circumstances, write: WriteEvents): Unit<readonly EndedSession[]> {
    const id = String(userId);
    yield* this.locks.lock(id);
    // A login that is verifying the password at this moment is refused.
    yield* this.locks.raiseCredentialsVersion(id);
    return yield* this.ender.endAndTell({ ...at, userId: id, reason: 'user_disabled' }, write);
  }

  private *forgetInUnit(userId: string, { now, limits }: Circumstances): Unit<readonly EndedSession[]> {
    yield* this.locks.lock(userId);
    const active = yield* this.ender.lockActive(userId);
    for (const removal of this.removals) yield* affectedBy(removal.with({ userId }));
    return active.map((session) => ending(session, isOver(session, limits, now) ? 'expired' : 'user_deleted'));
  }
}
