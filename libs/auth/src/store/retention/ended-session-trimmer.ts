import type { UserLocks } from '../accounts/user-locks';
import type { Statement } from '../database/statement';
import type { StatementFactory } from '../database/statement-factory';
import { affectedBy, rowsOf, type Step } from '../database/transaction';

/** Keeps the ended sessions of a user within a number of rows. */
export class EndedSessionTrimmer {
  private readonly find: Statement;
  private readonly remove: Statement;

  constructor(
    statements: StatementFactory,
    private readonly locks: UserLocks,
  ) {
    const ended = `{session.userId} = :userId AND {session.state} IN ('expired', 'logged_out', 'revoked')`;
    this.find = statements.statement(
      `SELECT {session.id} AS id FROM (SELECT {session.id}, {session.createdAt} FROM {session} WHERE ${ended} LIMIT :most) ended
       ORDER BY {session.createdAt}, {session.id}`,
    );
    this.remove = statements.statement(
      `DELETE FROM {session} WHERE {session.id} IN (:ids...) AND {session.state} <> 'active'`,
    );
  }

  /**
   * Removes the oldest beyond those that may stay, `most` at most. It reads just as many more than may stay, whatever there
   * is: batch after batch, the oldest of all go. Under the user's lock, so that two do not both remove the excess.
   */
  *trim(userId: string, cap: number, most: number): Step<number> {
    yield* this.locks.lock(userId);
    const found = yield* rowsOf(this.find.with({ userId, most: cap + most }));
    const ids = found.slice(0, Math.max(0, found.length - cap)).map((row) => row['id']);
    return ids.length === 0 ? 0 : yield* affectedBy(this.remove.with({ ids }));
  }
}
