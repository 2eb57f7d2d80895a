import { Injectable } from '@nestjs/common';
import { Database } from '../database/database';
import { forUpdateSkipLocked } from '../database/dialect';
import { letters, StatementFactory } from '../database/statements';
import { affectedBy, rowsOf, type Transaction } from '../database/transaction';

export interface Touch {
  readonly sessionId: string;
  readonly at: number;
}

/** The maximum number of sessions in one UPDATE. */
const SESSIONS_PER_UPDATE = 100;

/** Writes the last activity of many sessions, up to 100 in one UPDATE. */
@Injectable()
export class ActivityWriter {
  private readonly lockAvailable;
  private readonly update;

  constructor(
    statements: StatementFactory,
    private readonly database: Database,
  ) {
    this.lockAvailable = statements.statement(
      `SELECT {session.id} AS id FROM {session} WHERE {session.id} IN (:ids...) ${forUpdateSkipLocked(statements.dialect)}`,
    );
    this.update = statements.forCount((count) => {
      const cases = Array.from({ length: count }, (_, i) => `WHEN :id${letters(i)} THEN :at${letters(i)}`).join(' ');
      const at = `(CASE s.{session.id} ${cases} ELSE s.{session.lastActivity} END)`;
      return `UPDATE {session} AS s SET ${statements.activityAt(at)}
        WHERE s.{session.id} IN (:ids...) AND s.{session.state} = 'active' AND s.{session.lastActivity} < ${at}`;
    });
  }

  /**
   * Writes the last activity of sessions.
   * @returns the touches of sessions that other transactions have locked, or that no longer exist
   */
  async write(touches: readonly Touch[]): Promise<readonly Touch[]> {
    const skipped: Touch[] = [];
    for (let i = 0; i < touches.length; i += SESSIONS_PER_UPDATE) {
      const batch = touches.slice(i, i + SESSIONS_PER_UPDATE);
      skipped.push(...(await this.database.transaction(() => this.writeBatch(batch))));
    }
    return skipped;
  }

  /** Skips sessions that other transactions have locked, so that locked sessions do not delay the rest of the batch. */
  private *writeBatch(touches: readonly Touch[]): Transaction<readonly Touch[]> {
    const ids = touches.map(({ sessionId }) => sessionId);
    const locked = new Set((yield* rowsOf(this.lockAvailable.with({ ids }))).map((row) => String(row['id'])));
    const batch = touches.filter(({ sessionId }) => locked.has(sessionId));
    const skipped = touches.filter(({ sessionId }) => !locked.has(sessionId));
    if (batch.length === 0) return skipped;
    const instants: [string, unknown][] = batch.flatMap(({ sessionId, at }, i) => [
      [`id${letters(i)}`, sessionId],
      [`at${letters(i)}`, at],
    ]);
    yield* affectedBy(this.update(batch.length).with({ ...Object.fromEntries(instants), ids: [...locked] }));
    return skipped;
  }
}
