import type { Touch } from '../domain/ports/session-store';
import type { SessionLimits } from '../domain/session';
import type { AuthTables } from './auth-tables';
import type { Database } from './sql/database';
import { forUpdateOfFree } from './sql/dialect';
import { letters, type Statement } from './sql/statement';
import { affectedBy, rowsOf, type Unit } from './sql/unit';

/** Sessions of one UPDATE. */
const SESSIONS_AT_ONCE = 100;

/** Writes the last activity of many sessions at once. */
export class ActivityWriter {
  private readonly free: Statement;
  private readonly updates = new Map<number, Statement>();

  constructor(
    private readonly tables: AuthTables,
    private readonly database: Database,
  ) {
    this.free = tables.statement(
      `SELECT {session.id} AS id FROM {session} WHERE {session.id} IN (:ids...) ${forUpdateOfFree(tables.dialect)}`,
    );
  }

  /** @returns what somebody has locked, or what is not there any more */
  async write(touches: readonly Touch[], limits: SessionLimits): Promise<readonly Touch[]> {
    const passedOver: Touch[] = [];
    for (let i = 0; i < touches.length; i += SESSIONS_AT_ONCE) {
      const batch = touches.slice(i, i + SESSIONS_AT_ONCE);
      passedOver.push(...(await this.database.atomic(() => this.writeBatch(batch, limits))));
    }
    return passedOver;
  }

  /** Passes over sessions that somebody has locked: nobody else is kept waiting for one. */
  private *writeBatch(touches: readonly Touch[], { idleMs }: SessionLimits): Unit<readonly Touch[]> {
    const ids = touches.map(({ sessionId }) => sessionId);
    const free = new Set((yield* rowsOf(this.free.with({ ids }))).map((row) => String(row['id'])));
    const batch = touches.filter(({ sessionId }) => free.has(sessionId));
    const passedOver = touches.filter(({ sessionId }) => !free.has(sessionId));
    if (batch.length === 0) return passedOver;
    const instants: [string, unknown][] = batch.flatMap(({ sessionId, at }, i) => [
      [`id${letters(i)}`, sessionId],
      [`at${letters(i)}`, at],
    ]);
    yield* affectedBy(this.updateOf(batch.length).with({ ...Object.fromEntries(instants), ids: [...free], idleMs }));
    return passedOver;
  }

  private updateOf(count: number): Statement {
    let statement = this.updates.get(count);
    if (!statement) {
      const cases = Array.from({ length: count }, (_, i) => `WHEN :id${letters(i)} THEN :at${letters(i)}`).join(' ');
      const at = `(CASE {session.id} ${cases} ELSE {session.lastActivity} END)`;
      // MySQL assigns from left to right: the idle time is reckoned before the activity that it is reckoned from changes.
      statement = this.tables.statement(
        `UPDATE {session} SET
           {session.idleExpiresAt} = CASE WHEN {session.idleExpiresAt} - {session.lastActivity} < :idleMs
             THEN ${at} + {session.idleExpiresAt} - {session.lastActivity} ELSE ${at} + :idleMs END,
           {session.lastActivity} = ${at}
         WHERE {session.id} IN (:ids...) AND {session.state} = 'active' AND {session.lastActivity} < ${at}`,
      );
      this.updates.set(count, statement);
    }
    return statement;
  }
}
