import type { UserLocks } from '../accounts/user-locks';
import type { Statement } from '../database/statement';
import type { StatementFactory } from '../database/statement-factory';
import { affectedBy, rowsOf, type Step } from '../database/transaction';

/** Limits the number of ended sessions that are stored for each user. */
export class EndedSessionTrimmer {
  private readonly find: Statement;
  private readonly remove: Statement;

  constructor(
    statements: StatementFactory,
    private readonly locks: UserLocks,
  ) {
    const ended = `{session.userId} = :userId AND {session.state} IN ('expired', 'logged_out', 'revoked')`;
    this.find = statements.statement(
      `SELECT {session.id} AS id FROM (SELECT {session.id}, {session.createdAt} FROM {session} WHERE ${ended} LIMIT :limit) ended
       ORDER BY {session.createdAt}, {session.id}`,
    );
    this.remove = statements.statement(
      `DELETE FROM {session} WHERE {session.id} IN (:ids...) AND {session.state} <> 'active'`,
    );
  }

  /**
   * Removes at most `limit` ended sessions of the user, but never one of the newest `cap`. Each
   * call reads at most `cap + limit` sessions, however many sessions the user has. A removed
   * session is older than `cap` other ended sessions. The user's lock prevents two parallel calls
   * from both removing the excess.
   */
  *trim(userId: string, cap: number, limit: number): Step<number> {
    yield* this.locks.lock(userId);
    const found = yield* rowsOf(this.find.with({ userId, limit: cap + limit }));
    const ids = found.slice(0, Math.max(0, found.length - cap)).map((row) => row['id']);
    return ids.length === 0 ? 0 : yield* affectedBy(this.remove.with({ ids }));
  }
}
