import type { NewAuthEvent } from '../../domain/auth-event';
import type { EventWriter } from '../events/event-writer';
import type { Database, StatementOptions } from '../database/database';
import { failIfDeadlinePassed } from '../database/dialect';
import type { ParameterValues, Statement } from '../database/statement';
import type { StatementFactory } from '../database/statement-factory';
import { affectedBy, REMAINING_MS, type Query, type Transaction } from '../database/transaction';

/**
 * A guard condition with its consequences: an UPDATE of one session `s` whose WHERE clause decides whether it may happen,
 * and the event that records it. Of any number of parallel runs, those whose condition still holds change the row.
 *
 * PostgreSQL runs both as a single statement, other databases as the shortest transaction.
 */
export class GuardedUpdate {
  private readonly update: Statement;

  constructor(
    private readonly database: Database,
    statements: StatementFactory,
    private readonly events: EventWriter,
    /** What follows `UPDATE {session} AS s SET`. */
    assignmentsAndGuard: string,
  ) {
    const update = `UPDATE {session} AS s SET ${assignmentsAndGuard}`;
    this.update = statements.prepared(
      database.dialect === 'postgres'
        ? `WITH changed AS (${update} RETURNING s.{session.userId} AS user_id),
             logged AS (${events.insertForUsersIn('changed')} RETURNING 1 AS one)
           SELECT 1 AS one FROM changed WHERE ${failIfDeadlinePassed(['logged'])}`
        : update,
    );
  }

  /** Returns whether the row was changed. It may be false where an earlier run, whose result was lost, has changed it. */
  async run(values: ParameterValues, event: NewAuthEvent, options: StatementOptions = {}): Promise<boolean> {
    const { database, events, update } = this;
    if (database.dialect === 'postgres') {
      // Each run draws another event id: the first one may be taken.
      const query = (): Query => update.with({ ...values, ...events.valuesOf(event), remainingMs: REMAINING_MS });
      return (await database.autocommit(query, options)).rows.length > 0;
    }
    const updateAndRecord = function* (): Transaction<boolean> {
      if ((yield* affectedBy(update.with(values))) === 0) return false;
      yield* events.write([event]);
      return true;
    };
    return database.transaction(updateAndRecord, { ...options, retryUnknownCommit: true, anyIsolation: true });
  }
}
