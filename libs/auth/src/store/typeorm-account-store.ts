import { AccountStore } from '../domain/ports/account-store';
import type { Circumstances } from '../domain/ports/session-store';
import type { UserId, UserStore } from '../domain/ports/user-store';
import { ending, isOver, type EndedSession } from '../domain/session';
import type { AuthTables } from './auth-tables';
import { EntityUserStore } from './entity-user-store';
import type { EventWriter } from './event-writer';
import type { SessionEnder, WriteEvents } from './session-ender';
import type { Database } from './sql/database';
import { affectedBy, rowsOf, type Unit } from './sql/unit';
import type { UserLocks } from './user-locks';

/** As many ids as every database takes in one statement. */
const IDS_AT_ONCE = 1_000;

/** Accounts on the host's DataSource, or with the host's own user store. */
export class TypeOrmAccountStore extends AccountStore {
  private readonly sessionsOf;
  private readonly removeTokens;
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
    this.sessionsOf = tables.statement('SELECT {session.id} AS id FROM {session} WHERE {session.userId} = :userId');
    this.removeTokens = tables.statement('DELETE FROM {refresh} WHERE {refresh.sessionId} IN (:ids...)');
    this.removals = [
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
    const ids = (yield* rowsOf(this.sessionsOf.with({ userId }))).map((row) => row['id']);
    for (let i = 0; i < ids.length; i += IDS_AT_ONCE) {
      yield* affectedBy(this.removeTokens.with({ ids: ids.slice(i, i + IDS_AT_ONCE) }));
    }
    for (const removal of this.removals) yield* affectedBy(removal.with({ userId }));
    return active.map((session) => ending(session, isOver(session, limits, now) ? 'expired' : 'user_deleted'));
  }
}
