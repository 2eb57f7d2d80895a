import type { TrimmedEvents, TrimPosition, UsersOverCap } from '../../domain/ports/maintenance';
import type { UserLocks } from '../accounts/user-locks';
import type { Statement } from '../database/statement';
import type { StatementFactory } from '../database/statement-factory';
import { affectedBy, firstOf, rowsOf, type Query, type Row, type Step } from '../database/transaction';
import { firstEventIdAt } from '../events/event-ids';

/** What is removed first when there is too much: routine and what strangers cause, and at last whatever is oldest. */
const TRIMMED_FIRST = ['token_refresh', 'login_failure', 'login_blocked', 'password_reset_requested', null] as const;

/** The lock for rows without a user: no user has an empty id. */
const NO_USER = '';

/** The most events that one statement reads to find users, or events of one name. */
const READ_AT_ONCE = 10_000;

/** Keeps the log of each user, and that of unknown names, within its number of rows. No statement reads a whole log. */
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
         WHERE {event.userId} > :after ORDER BY {event.userId} LIMIT ${READ_AT_ONCE}) next_events
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

  /** Reads how many events since `before` exceed the caps of their users, and how many have none: `over_cap`, `without_user`. */
  counting(before: number, cap: number): Query {
    return this.count.with({ before: firstEventIdAt(before), cap });
  }

  /** Reads how many events the next users have, for `usersOverCap`. */
  countingNext(after: string): Query {
    return this.nextUsers.with({ after });
  }

  /** Under a lock: two that trim at the same time must not both remove the excess. */
  *trim(userId: string | null, cap: number, most: number, position: TrimPosition): Step<TrimmedEvents> {
    yield* this.locks.lock(userId ?? NO_USER);
    const owned = userId === null ? this.ofUnknownNames : this.ofUser;
    const owner = userId === null ? {} : { userId };
    const excess = yield* this.excessOf(owned, owner, cap, most);
    let { rank, from } = position;
    let removed = 0;
    while (removed < excess && rank < TRIMMED_FIRST.length) {
      const event = TRIMMED_FIRST[rank]!;
      const few = { ...owner, from, most: excess - removed };
      const found = yield* rowsOf(event === null ? owned.oldest.with(few) : owned.oldestOf.with({ ...few, event }));
      const ids = found.map((row) => Number(row['id']));
      if (ids.length > 0) removed += yield* affectedBy(this.delete.with({ ids }));
      from = ids.at(-1) ?? from;
      if (removed >= excess) break;
      // The next batch continues behind what was searched, so that no batch searches all.
      const searchedTo = event === null ? null : yield* firstOf(owned.searchedTo.with({ ...owner, from: few.from }));
      if (searchedTo) return { removed, next: { rank, from: Number(searchedTo['id']) } };
      rank++;
      from = 0;
    }
    return { removed, next: excess < most || rank === TRIMMED_FIRST.length ? null : { rank, from } };
  }

  /** How many events are older than those that may stay, `most` at most. */
  private *excessOf(owned: OwnedRows, owner: object, cap: number, most: number): Step<number> {
    const oldestKept = yield* firstOf(owned.nthNewest.with({ ...owner, newer: cap - 1 }));
    if (!oldestKept) return 0;
    return Number((yield* firstOf(owned.countOlder.with({ ...owner, id: oldestKept['id'], most })))?.['total']);
  }
}

/** Those of the users that were read who have more events than the cap. The events of the last one may not all be among them. */
export function usersOverCap(read: readonly Row[], cap: number): UsersOverCap {
  const users = read.map((row) => ({ id: String(row['user_id']), total: Number(row['total']) }));
  const isLast = users.reduce((sum, { total }) => sum + total, 0) < READ_AT_ONCE;
  // One user who fills the read may have more: trimming counts again.
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
  const behind = `${rows} AND {event.id} > :from ${oldestFirst}`;
  return {
    nthNewest: statements.statement(`SELECT {event.id} AS id ${rows} ORDER BY {event.id} DESC LIMIT 1 OFFSET :newer`),
    countOlder: statements.statement(
      `SELECT COUNT(*) AS total FROM (SELECT {event.id} ${rows} AND {event.id} < :id ${oldestFirst} :most) older`,
    ),
    oldest: statements.statement(`SELECT {event.id} AS id ${behind} :most`),
    oldestOf: statements.statement(
      `SELECT {event.id} AS id FROM (SELECT {event.id}, {event.event} ${behind} ${READ_AT_ONCE}) searched
       WHERE {event.event} = :event ${oldestFirst} :most`,
    ),
    searchedTo: statements.statement(`SELECT {event.id} AS id ${behind} 1 OFFSET ${READ_AT_ONCE - 1}`),
  };
}
