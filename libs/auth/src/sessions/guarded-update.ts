import type { Database, StatementOptions } from '../database/database';
import { failIfDeadlinePassed } from '../database/dialect';
import type { ParameterValues, Statement, StatementFactory } from '../database/statements';
import { affectedBy, firstOf, type Query, REMAINING_MS, type Row, type Transaction } from '../database/transaction';
import type { EventLog, NewAuthEvent } from '../history/event-log';

/** Values that the UPDATE returns from the changed row `s` on PostgreSQL. */
export interface Returned {
  /** Expressions with aliases. A subquery on the same table reads the row as it was before the update. */
  readonly columns: string;
  /** An expression for the details of the event, if they depend on these columns. */
  readonly extra?: string;
  /** Whether other databases return the columns too, which requires another statement. */
  readonly everywhere?: boolean;
}

/**
 * A compare-and-set: an UPDATE of one session `s` whose WHERE clause is the guard condition, and the event
 * that records the change. Of several parallel runs, only a run whose condition still holds changes the
 * row.
 *
 * PostgreSQL runs the UPDATE and the INSERT of the event as a single statement. Other databases run them
 * in one transaction.
 */
export class GuardedUpdate {
  private readonly update: Statement;
  private readonly readBack: Statement | null;

  constructor(
    private readonly database: Database,
    statements: StatementFactory,
    private readonly events: EventLog,
    /** The SQL after `UPDATE {session} AS s SET`. */
    assignmentsAndGuard: string,
    returned: Returned = { columns: '1 AS one' },
  ) {
    const update = `UPDATE {session} AS s SET ${assignmentsAndGuard}`;
    this.update = statements.prepared(
      database.dialect === 'postgres'
        ? `WITH changed AS (${update} RETURNING s.{session.userId} AS user_id, ${returned.columns}),
             logged AS (${events.insertForUsersIn('changed', returned.extra)} RETURNING 1 AS one)
           SELECT changed.* FROM changed WHERE ${failIfDeadlinePassed(['logged'])}`
        : update,
    );
    this.readBack = returned.everywhere
      ? statements.statement(`SELECT ${returned.columns} FROM {session} s WHERE s.{session.id} = :id`)
      : null;
  }

  /**
   * Runs the update. Returns null if the condition did not hold, possibly because an earlier run, whose
   * result was lost, has already changed the row. Otherwise returns `Returned.columns` on PostgreSQL, and an
   * empty row on other databases unless `everywhere` is set.
   */
  async run(values: ParameterValues, event: NewAuthEvent, options: StatementOptions = {}): Promise<Row | null> {
    const { database, events, update, readBack } = this;
    if (database.dialect === 'postgres') {
      // Each run generates a new event id, because the previous id may be taken.
      const query = (): Query => update.with({ ...values, ...events.valuesOf(event), remainingMs: REMAINING_MS });
      const [row] = (await database.run(null, query, options)).rows;
      if (row) events.countWritten(1);
      return row ?? null;
    }
    const updateAndRecord = function* (): Transaction<Row | null> {
      if ((yield* affectedBy(update.with(values))) === 0) return null;
      yield* events.write([event]);
      return readBack ? yield* firstOf(readBack.with(values)) : {};
    };
    return database.transaction(null, updateAndRecord, { ...options, retryUnknownCommit: true });
  }
}
