import type { OperationContext } from '../../domain/ports/sessions';
import type { PrunedSessions } from '../../domain/ports/maintenance';
import { toEndedSession, inactiveReason, isExpired, type EndedSession } from '../../domain/session';
import { endEvents } from '../../domain/session-events';
import { forUpdateSkipLocked, least } from '../database/dialect';
import { accountFromRow, sessionFromRow } from '../database/rows';
import type { StatementFactory } from '../database/statement-factory';
import { affectedBy, rowsOf, type Query, type Row, type Step } from '../database/transaction';
import type { WriteEvents } from '../events/revocation-runner';
import type { SessionRevocation } from '../sessions/session-revocation';

/**
 * Processes the sessions that are due. Ended sessions are deleted. Active sessions end if they have
 * expired or, if statements can read the accounts, if their user is inactive. All other active sessions
 * are rescheduled. Refreshes and activity writes do not change `checkAt`, because it has an index,
 * and PostgreSQL cannot perform a HOT update that changes an indexed column.
 */
export class SessionPruner {
  private readonly due;
  private readonly remove;
  private readonly reschedule;
  private readonly count;

  constructor(
    statements: StatementFactory,
    private readonly revocation: SessionRevocation,
  ) {
    const { dialect, expiresAt, accountStatus } = statements;
    const isDue = 's.{session.checkAt} <= :now';
    this.due = statements.selectSessionWithAccount(
      `WHERE ${isDue} ORDER BY s.{session.checkAt} LIMIT :limit ${forUpdateSkipLocked(dialect)}`,
    );
    const ended = `{session.state} <> 'active'`;
    this.remove = statements.statement(`DELETE FROM {session} WHERE {session.id} IN (:ids...) AND ${ended}`);
    this.reschedule = statements.statement(
      `UPDATE {session} SET {session.checkAt} = ${least(dialect, '{session.idleExpiresAt}', '{session.absoluteExpiresAt}')}
       WHERE {session.id} IN (:ids...) AND {session.state} = 'active'`,
    );
    const isEnding = `(${expiresAt} <= :now OR ${accountStatus} IN ('disabled', 'deleted'))`;
    this.count = statements.statement(
      `SELECT COUNT(CASE WHEN s.{session.state} = 'active' AND ${isEnding} THEN 1 END) AS to_end,
         COUNT(CASE WHEN s.${ended} THEN 1 END) AS to_remove FROM {session} s WHERE ${isDue}`,
    );
  }

  /**
   * Processes at most `limit` due sessions. Takes no user lock, and skips locked sessions instead
   * of waiting for them.
   */
  *prune({ now, client }: OperationContext, limit: number, write: WriteEvents): Step<PrunedSessions> {
    const rows = yield* rowsOf(this.due.with({ now, limit }));
    const ended: EndedSession[] = [];
    const toRemove: string[] = [];
    const toReschedule: string[] = [];
    for (const row of rows) {
      const end = endOf(row, now);
      if (row['state'] !== 'active') toRemove.push(String(row['id']));
      else if (end) ended.push(end);
      else toReschedule.push(String(row['id']));
    }
    const removed = toRemove.length === 0 ? 0 : yield* affectedBy(this.remove.with({ ids: toRemove }));
    if (toReschedule.length > 0) yield* affectedBy(this.reschedule.with({ ids: toReschedule }));
    yield* this.revocation.storeEnded(ended, now);
    yield* write(endEvents(ended, client, now));
    return { visited: rows.length, removed, ended };
  }

  /** Returns a query that counts the due sessions to end, as `to_end`, and to remove, as `to_remove`. */
  countDue(now: number): Query {
    return this.count.with({ now });
  }
}

/** Returns how a due active session ends, or null if it remains active. */
function endOf(row: Row, now: number): EndedSession | null {
  const session = sessionFromRow(row);
  const reason = isExpired(session, now) ? 'expired' : inactiveReason(accountFromRow(row));
  return reason && toEndedSession(session, reason);
}
