import type { AuthTables } from './auth-tables';
import { forUpdate } from './sql/dialect';
import type { Statement } from './sql/statement';
import { affectedBy, firstOf, rowsOf, type Query, type Unit } from './sql/unit';
import type { UserLocks } from './user-locks';

/** What goes first when there is too much: routine, and last whatever it is. */
const TRIMMED_FIRST = ['token_refresh', 'login_failure', null] as const;

/** Whose lock is taken where the rows are nobody's: no user has an id without a character. */
const NOBODY = '';

/** Keeping the log of a user, and of the names that nobody has, within its number of rows. */
export class HistoryTrimmer {
  private readonly usersOver: Statement;
  private readonly totalOver: Statement;
  private readonly young: Statement;
  private readonly delete: Statement;
  private readonly ofUser: OwnedRows;
  private readonly ofNobody: OwnedRows;

  constructor(
    tables: AuthTables,
    private readonly locks: UserLocks,
  ) {
    const perUser = 'GROUP BY {event.userId} HAVING COUNT(*) > :cap';
    this.usersOver = tables.statement(
      `SELECT {event.userId} AS user_id FROM {event} WHERE {event.userId} > :after ${perUser}
       ORDER BY {event.userId} LIMIT :most`,
    );
    this.totalOver = tables.statement(
      `SELECT COALESCE(SUM(total - :cap), 0) AS total FROM (SELECT COUNT(*) AS total FROM {event}
         WHERE {event.userId} IS NOT NULL AND {event.occurredAt} > :before ${perUser}) counted`,
    );
    this.young = tables.statement(
      'SELECT COUNT(*) AS total FROM {event} WHERE {event.userId} IS NULL AND {event.occurredAt} > :before',
    );
    this.delete = tables.statement('DELETE FROM {event} WHERE {event.id} IN (:ids...)');
    this.ofUser = ownedRows(tables, '{event.userId} = :userId');
    this.ofNobody = ownedRows(tables, '{event.userId} IS NULL');
  }

  counting(before: number, cap: number): Query {
    return this.totalOver.with({ before, cap });
  }

  countingOfNobody(before: number): Query {
    return this.young.with({ before });
  }

  usersOverCap(cap: number, after: string, most: number): Query {
    return this.usersOver.with({ cap, after, most });
  }

  /** Under a lock: two that trim at once must not both take the excess away. */
  *trim(userId: string | null, cap: number, most: number): Unit<number> {
    yield* this.locks.lock(userId ?? NOBODY);
    const { count, oldest, oldestOf } = userId === null ? this.ofNobody : this.ofUser;
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

interface OwnedRows {
  readonly count: Statement;
  readonly oldest: Statement;
  readonly oldestOf: Statement;
}

function ownedRows(tables: AuthTables, owner: string): OwnedRows {
  const select = (what: string, condition: string, rest = ''): Statement =>
    tables.statement(`SELECT ${what} FROM {event} WHERE ${condition} ${rest}`);
  const order = `ORDER BY {event.occurredAt}, {event.id} LIMIT :most ${forUpdate(tables.dialect)}`;
  return {
    count: select('COUNT(*) AS total', owner),
    oldest: select('{event.id} AS id', owner, order),
    oldestOf: select('{event.id} AS id', `${owner} AND {event.event} = :event`, order),
  };
}
