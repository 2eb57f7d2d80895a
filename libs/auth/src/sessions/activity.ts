import { type BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import { Database } from '../database/database';
import { forUpdateSkipLocked } from '../database/dialect';
import { StatementFactory } from '../database/statements';
import { affectedBy, rowsOf, type Transaction } from '../database/transaction';
import { SessionSql } from './session';

const BATCH_SIZE = 100;

/**
 * Writes the last activity of sessions, in the background. An instant that cannot be written, for example because another
 * transaction has locked the row, is dropped, and is due again with the next request.
 */
@Injectable()
export class Activity implements BeforeApplicationShutdown {
  private readonly logger = new Logger('AuthActivity');
  private readonly lockAvailable;
  private readonly update;
  /** The instants to write or being written, by id. */
  private readonly pending = new Map<string, number>();
  private writing: Promise<void> | undefined;
  private stopped = false;

  constructor(
    private readonly database: Database,
    statements: StatementFactory,
    sql: SessionSql,
  ) {
    this.lockAvailable = statements.statement(
      `SELECT {session.id} AS id FROM {session} WHERE {session.id} IN (:ids...) ${forUpdateSkipLocked(statements.dialect)}`,
    );
    this.update = statements.statement(
      `UPDATE {session} AS s SET ${sql.activityAt(':at')}
       WHERE s.{session.id} IN (:ids...) AND s.{session.state} = 'active' AND s.{session.lastActivity} < :at`,
    );
  }

  /** Schedules the write of an instant, and resolves immediately, or during a shutdown when the writes have finished. */
  record(id: string, at: number): Promise<void> {
    if (!this.pending.has(id)) this.pending.set(id, at);
    const writing = this.flush();
    return this.stopped ? writing : Promise.resolve();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stopped = true;
    await this.flush();
  }

  /** Never rejects. */
  flush(): Promise<void> {
    if (this.pending.size > 0) this.writing ??= this.writeAll();
    return this.writing ?? Promise.resolve();
  }

  private async writeAll(): Promise<void> {
    // Other requests can record instants in the meantime, which are then written in the same statement.
    if (!this.stopped) await new Promise(setImmediate);
    while (this.pending.size > 0) {
      const batch = [...this.pending].slice(0, BATCH_SIZE);
      try {
        await this.database.transaction(null, () => this.writeBatch(batch));
        for (const [id] of batch) this.pending.delete(id);
      } catch {
        this.logger.warn(`Writing the last activity of up to ${this.pending.size} session(s) failed.`);
        this.pending.clear();
      }
    }
    this.writing = undefined;
  }

  /** Writes the earliest instant of the batch, so that one statement with one value updates all of its rows. */
  private *writeBatch(batch: readonly (readonly [string, number])[]): Transaction<void> {
    const rows = yield* rowsOf(this.lockAvailable.with({ ids: batch.map(([id]) => id) }));
    if (rows.length === 0) return;
    const at = Math.min(...batch.map(([, recordedAt]) => recordedAt));
    yield* affectedBy(this.update.with({ ids: rows.map((row) => row['id']), at }));
  }
}
