import type { TrimmedEvents, TrimPosition, UsersOverCap } from '../../domain/ports/maintenance';
import type { UserLocks } from '../accounts/user-locks';
import type { Statement } from '../database/statement';
import type { StatementFactory } from '../database/statement-factory';
import { affectedBy, firstOf, rowsOf, type Query, type Row, type Step } from '../database/transaction';
import { firstEventIdAt } from '../events/event-ids';

/**
 * The order in which events are removed: routine events and events that outsiders can cause first, then the
 * oldest remaining events (null).
 */
const TRIM_ORDER = ['token_refresh', 'login_failure', 'login_blocked', 'password_reset_requested', null] as const;

/** The key of the lock for events without a user. It is not expected to be the id of a user. */
const NO_USER = '';

/** The maximum number of events that one statement reads to find users, or events of one name. */
const MAX_EVENTS_READ = 10_000;

/**
 * Limits the number of stored events of each user, and of all unknown names together. The
 * statements of `trim` read a limited number of events, however long the history is.
 */
export class HistoryTrimmer {
  private readonly nextUsers: Statement;
  private readonly count: Statement;
  private readonly delete: Statement;
  private readonly ofUser: OwnedRows;
  private readonly ofUnknownNames: OwnedRows;

  constructor(
    statements: StatementFactory,
    private readonly locks: UserLocks,
  ) {
    const perUser = 'GROUP BY {event.userId}';
    this.nextUsers = statements.statement(
      `SELECT {event.userId} AS user_id, COUNT(*) AS total FROM (SELECT {event.userId} FROM {event}
         WHERE {event.userId} > :after ORDER BY {event.userId} LIMIT ${MAX_EVENTS_READ}) next_events
       ${perUser} ORDER BY {event.userId}`,
    );
    this.count = statements.statement(
      `SELECT COALESCE(SUM(total - :cap), 0) AS over_cap,
         (SELECT COUNT(*) FROM {event} WHERE {event.userId} IS NULL AND {event.id} >= :before) AS without_user
       FROM (SELECT COUNT(*) AS total FROM {event}
         WHERE {event.userId} IS NOT NULL AND {event.id} >= :before ${perUser} HAVING COUNT(*) > :cap) counted`,
    );
    this.delete = statements.statement('DELETE FROM {event} WHERE {event.id} IN (:ids...)');
    this.ofUser = ownedRows(statements, '{event.userId} = :userId');
    this.ofUnknownNames = ownedRows(statements, '{event.userId} IS NULL');
  }

  /**
   * Returns a query that counts the events since `before` that exceed the cap of their user, as `over_cap`,
   * and the events without a user, as `without_user`.
   */
  countOverCap(before: number, cap: number): Query {
    return this.count.with({ before: firstEventIdAt(before), cap });
  }

  /** Returns a query that counts the events of the users after `after`, for `usersOverCap`. */
  countNextUsers(after: string): Query {
    return this.nextUsers.with({ after });
  }

  /**
   * Removes at most `limit` events beyond the cap. The lock prevents two parallel calls from both removing
   * the excess.
   */
  *trim(userId: string | null, cap: number, limit: number, position: TrimPosition): Step<TrimmedEvents> {
    yield* this.locks.lock(userId ?? NO_USER);
    const owned = userId === null ? this.ofUnknownNames : this.ofUser;
    const owner = userId === null ? {} : { userId };
    const excess = yield* this.excessOf(owned, owner, cap, limit);
    let { rank, from } = position;
    let removed = 0;
    while (removed < excess && rank < TRIM_ORDER.length) {
      const event = TRIM_ORDER[rank]!;
      const range = { ...owner, from, limit: excess - removed };
      const found = yield* rowsOf(event === null ? owned.oldest.with(range) : owned.oldestOf.with({ ...range, event }));
      const ids = found.map((row) => Number(row['id']));
      const hasAll = ids.length === range.limit;
      // The next batch continues after the events that were searched, so that no batch searches the whole
      // history. The position is read before the events are removed.
      const searchedTo =
        event === null || hasAll ? null : yield* firstOf(owned.searchedTo.with({ ...owner, from: range.from }));
      if (ids.length > 0) removed += yield* affectedBy(this.delete.with({ ids }));
      from = ids.at(-1) ?? from;
      if (removed >= excess) break;
      if (searchedTo) return { removed, next: { rank, from: Number(searchedTo['id']) } };
      rank++;
      from = 0;
    }
    return { removed, next: excess < limit || rank === TRIM_ORDER.length ? null : { rank, from } };
  }

  /** Counts the events that are older than the newest `cap` events, up to `limit`. */
  private *excessOf(owned: OwnedRows, owner: object, cap: number, limit: number): Step<number> {
    const oldestKept = yield* firstOf(owned.nthNewest.with({ ...owner, newer: cap - 1 }));
    if (!oldestKept) return 0;
    return Number((yield* firstOf(owned.countOlder.with({ ...owner, id: oldestKept['id'], limit })))?.['total']);
  }
}

/**
 * Returns the users who may have more events than the cap. Unless this page is the last one or has
 * only one user, its last user is left for the next page, because not all events of that user may
 * have been read.
 */
export function usersOverCap(read: readonly Row[], cap: number): UsersOverCap {
  const users = read.map((row) => ({ id: String(row['user_id']), total: Number(row['total']) }));
  const isLast = users.reduce((sum, { total }) => sum + total, 0) < MAX_EVENTS_READ;
  // A single user fills the page and may have more events than were read. Trimming counts the events of
  // this user again.
  if (!isLast && users.length === 1) return { users: [users[0]!.id], next: users[0]!.id };
  const complete = isLast ? users : users.slice(0, -1);
  return {
    users: complete.filter(({ total }) => total > cap).map(({ id }) => id),
    next: isLast ? null : complete.at(-1)!.id,
  };
}

type OwnedRows = Readonly<Record<'nthNewest' | 'countOlder' | 'oldest' | 'oldestOf' | 'searchedTo', Statement>>;

function ownedRows(statements: StatementFactory, owner: string): OwnedRows {
  const rows = `FROM {event} WHERE ${owner}`;
  const oldestFirst = 'ORDER BY {event.id} LIMIT';
  const afterPosition = `${rows} AND {event.id} > :from ${oldestFirst}`;
  return {
    nthNewest: statements.statement(`SELECT {event.id} AS id ${rows} ORDER BY {event.id} DESC LIMIT 1 OFFSET :newer`),
    countOlder: statements.statement(
      `SELECT COUNT(*) AS total FROM (SELECT {event.id} ${rows} AND {event.id} < :id ${oldestFirst} :limit) older`,
    ),
    oldest: statements.statement(`SELECT {event.id} AS id ${afterPosition} :limit`),
    oldestOf: statements.statement(
      `SELECT {event.id} AS id FROM (SELECT {event.id}, {event.event} ${afterPosition} ${MAX_EVENTS_READ}) searched
       WHERE {event.event} = :event ${oldestFirst} :limit`,
    ),
    searchedTo: statements.statement(`SELECT {event.id} AS id ${afterPosition} 1 OFFSET ${MAX_EVENTS_READ - 1}`),
  };
}
