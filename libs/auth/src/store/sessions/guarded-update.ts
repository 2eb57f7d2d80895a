import type { NewAuthEvent } from '../../domain/auth-event';
import type { EventWriter } from '../events/event-writer';
import type { Database, StatementOptions } from '../database/database';
import { failIfDeadlinePassed, SERVER_NOW } from '../database/dialect';
import type { ParameterValues, Statement } from '../database/statement';
import type { StatementFactory } from '../database/statement-factory';
import {
  affectedBy,
  DEADLINE_AT,
  firstOf,
  REMAINING_MS,
  type Query,
  type Row,
  type Transaction,
} from '../database/transaction';

/** What the update returns of the changed row `s` besides, on PostgreSQL. */
export interface Returned {
  /** Expressions with their names. A subquery on the same table reads the row as it was before. */
  readonly columns: string;
  /** The details of the event, where those columns decide them. */
  readonly extra?: string;
  /** Whether they are returned elsewhere too, where that takes another statement. */
  readonly everywhere?: boolean;
}

/**
 * A guard condition with its consequences: an UPDATE of one session `s` whose WHERE clause decides whether it may happen,
 * and the event that records it. Of any number of parallel runs, those whose condition still holds change the row.
 *
 * PostgreSQL runs both as a single statement, other databases as the shortest transaction.
 */
export class GuardedUpdate {
  private readonly update: Statement;
  private readonly readBack: Statement | null;

  constructor(
    private readonly database: Database,
    statements: StatementFactory,
    private readonly events: EventWriter,
    /** What follows `UPDATE {session} AS s SET`. */
    assignmentsAndGuard: string,
    returned: Returned = { columns: '1 AS one' },
  ) {
    const update = `UPDATE {session} AS s SET ${assignmentsAndGuard}`;
    this.update = statements.prepared(
      database.dialect === 'postgres'
        ? `WITH changed AS (${update} RETURNING s.{session.userId} AS user_id, ${returned.columns}),
             logged AS (${events.insertForUsersIn('changed', returned.extra)} RETURNING 1 AS one)
           SELECT changed.*, ${SERVER_NOW} FROM changed WHERE ${failIfDeadlinePassed(['logged'])}`
        : update,
    );
    this.readBack = returned.everywhere
      ? statements.statement(`SELECT ${returned.columns} FROM {session} s WHERE s.{session.id} = :id`)
      : null;
  }

  /**
   * Returns null where the row was not changed; that an earlier run has changed it, whose result was lost, is possible.
   * Otherwise it returns what PostgreSQL reports of the row. Elsewhere the row is empty, unless it is read again.
   */
  async run(values: ParameterValues, event: NewAuthEvent, options: StatementOptions = {}): Promise<Row | null> {
    const { database, events, update, readBack } = this;
    if (database.dialect === 'postgres') {
      // Each run draws another event id: the first one may be taken.
      const query = (): Query =>
        update.with({ ...values, ...events.valuesOf(event), remainingMs: REMAINING_MS, deadlineAt: DEADLINE_AT });
      const [row] = (await database.autocommit(query, options)).rows;
      if (row) events.countWritten(String(row['user_id']));
      return row ?? null;
    }
    const updateAndRecord = function* (): Transaction<Row | null> {
      if ((yield* affectedBy(update.with(values))) === 0) return null;
      yield* events.write([event]);
      return readBack ? yield* firstOf(readBack.with(values)) : {};
    };
    return database.transaction(updateAndRecord, { ...options, retryUnknownCommit: true, anyIsolation: true });
  }
}
