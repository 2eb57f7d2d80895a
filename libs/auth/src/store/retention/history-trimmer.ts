import type { StatementFactory } from '../database/statement-factory';
import { forUpdate } from '../database/dialect';
import { firstEventIdAt } from '../events/event-ids';
import type { Statement } from '../database/statement';
import { affectedBy, firstOf, rowsOf, type Query, type Step } from '../database/transaction';
import type { UserLocks } from '../accounts/user-locks';

/** What is removed first when there is too much: routine, and at last whatever is oldest. */
const TRIMMED_FIRST = ['token_refresh', 'login_failure', 'login_blocked', null] as const;

/** The lock for rows without a user: no user has an empty id. */
const NO_USER = '';

/** Keeps the log of each user, and that of unknown names, within its number of rows. */
export class HistoryTrimmer {
  private readonly usersOver: Statement;
  private readonly count: Statement;
  private readonly delete: Statement;
  private readonly ofUser: OwnedRows;
  private readonly ofUnknownNames: OwnedRows;

  constructor(
    statements: StatementFactory,
    private readonly locks: UserLocks,
  ) {
    const perUser = 'GROUP BY {event.userId} HAVING COUNT(*) > :cap';
    this.usersOver = statements.statement(
      `SELECT {event.userId} AS user_id FROM {event} WHERE {event.userId} > :after ${perUser}
       ORDER BY {event.userId} LIMIT :most`,
    );
    this.count = statements.statement(
      `SELECT COALESCE(SUM(total - :cap), 0) AS over_cap,
         (SELECT COUNT(*) FROM {event} WHERE {event.userId} IS NULL AND {event.id} >= :before) AS without_user
       FROM (SELECT COUNT(*) AS total FROM {event}
         WHERE {event.userId} IS NOT NULL AND {event.id} >= :before ${perUser}) counted`,
    );
    this.delete = statements.statement('DELETE FROM {event} WHERE {event.id} IN (:ids...)');
    this.ofUser = ownedRows(statements, '{event.userId} = :userId');
    this.ofUnknownNames = ownedRows(statements, '{event.userId} IS NULL');
  }

  /** Reads how many events since `before` exceed the caps of their users, and how many have none: `over_cap`, `without_user`. */
  counting(before: number, cap: number): Query {
    return this.count.with({ before: firstEventIdAt(before), cap });
  }

  usersOverCap(cap: number, after: string, most: number): Query {
    return this.usersOver.with({ cap, after, most });
  }

  /** Under a lock: two that trim at the same time must not both remove the excess. */
  *trim(userId: string | null, cap: number, most: number): Step<number> {
    yield* this.locks.lock(userId ?? NO_USER);
    const { count, oldest, oldestOf } = userId === null ? this.ofUnknownNames : this.ofUser;
    const owner = userId === null ? {} : { userId };
    const total = Number((yield* firstOf(count.with(owner)))?.['total']);
    const excess = Math.min(total - cap, most);
    let removed = 0;
    for (const event of TRIMMED_FIRST) {
      if (removed >= excess) break;
      const few = { ...owner, most: excess - removed };
      const query = event === null ? oldest.with(few) : oldestOf.with({ ...few, event });
      const ids = (yield* rowsOf(query)).map((row) => row['id']);
      if (ids.length > 0) removed += yield* affectedBy(this.delete.with({ ids }));
    }
    return removed;
  }
}

type OwnedRows = Readonly<Record<'count' | 'oldest' | 'oldestOf', Statement>>;

function ownedRows(statements: StatementFactory, owner: string): OwnedRows {
  const select = (what: string, condition: string, rest = ''): Statement =>
    statements.statement(`SELECT ${what} FROM {event} WHERE ${condition} ${rest}`);
  const order = `ORDER BY {event.id} LIMIT :most ${forUpdate(statements.dialect)}`;
  return {
    count: select('COUNT(*) AS total', owner),
    oldest: select('{event.id} AS id', owner, order),
    oldestOf: select('{event.id} AS id', `${owner} AND {event.event} = :event`, order),
  };
}
