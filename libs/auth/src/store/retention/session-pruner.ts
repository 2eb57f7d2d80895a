import type { OperationContext } from '../../domain/ports/sessions';
import type { PrunedSessions } from '../../domain/ports/maintenance';
import { ending, inactiveReason, isExpired, type EndedSession } from '../../domain/session';
import { endEvents } from '../../domain/session-events';
import { forUpdateSkipLocked, least } from '../database/dialect';
import { accountFromRow, sessionFromRow } from '../database/rows';
import type { StatementFactory } from '../database/statement-factory';
import { affectedBy, rowsOf, type Query, type Row, type Step } from '../database/transaction';
import type { WriteEvents } from '../events/revocation-runner';
import type { SessionRevocation } from '../sessions/session-revocation';

/**
 * Visits the sessions that are due. Active ones end if they have expired or, where statements read the accounts, if their
 * user is inactive; the others are scheduled again. Ended ones are deleted. Requests never write `checkAt`: it has an index,
 * and an update that changes an indexed column is not HOT.
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
      `WHERE ${isDue} ORDER BY s.{session.checkAt} LIMIT :most ${forUpdateSkipLocked(dialect)}`,
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

  /** Prunes up to `most` due sessions, without a user's lock. It skips sessions that others have locked, to wait for none. */
  *prune({ now, client }: OperationContext, most: number, write: WriteEvents): Step<PrunedSessions> {
    const rows = yield* rowsOf(this.due.with({ now, most }));
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

  /** Counts what is due, as `to_end` and `to_remove`. */
  counting(now: number): Query {
    return this.count.with({ now });
  }
}

/** How an active session that is due ends, or null where it goes on. */
function endOf(row: Row, now: number): EndedSession | null {
  const session = sessionFromRow(row);
  const reason = isExpired(session, now) ? 'expired' : inactiveReason(accountFromRow(row));
  return reason && ending(session, reason);
}
