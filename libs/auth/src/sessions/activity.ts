import { type BeforeApplicationShutdown, Inject, Injectable, Logger } from '@nestjs/common';
import { Database } from '../database/database';
import { forUpdateSkipLocked } from '../database/dialect';
import { letters, StatementFactory } from '../database/statements';
import { affectedBy, rowsOf, type Transaction } from '../database/transaction';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from '../options/auth-options';
import { type SessionRecord, SessionSql } from './session';

/** The maximum number of sessions in one UPDATE. */
const SESSIONS_PER_UPDATE = 100;

/**
 * Writes the last activity of sessions in the background, one batch at a time. Requests wait for the writes only during
 * a shutdown. An activity that cannot be written, for example because another transaction has locked the session, is
 * dropped. The next request of the session is due again.
 */
@Injectable()
export class Activity implements BeforeApplicationShutdown {
  private readonly logger = new Logger('AuthActivity');
  private readonly intervalMs: number;
  private readonly lockAvailable;
  private readonly update;
  /** The instants to write, by session. */
  private pending = new Map<string, number>();
  private beingWritten: ReadonlyMap<string, number> = new Map();
  private writing: Promise<void> | undefined;
  private stopped = false;

  constructor(
    private readonly database: Database,
    statements: StatementFactory,
    sql: SessionSql,
    @Inject(AUTH_OPTIONS) options: ResolvedAuthOptions,
  ) {
    this.intervalMs = options.activityIntervalSeconds * 1000;
    this.lockAvailable = statements.statement(
      `SELECT {session.id} AS id FROM {session} WHERE {session.id} IN (:ids...) ${forUpdateSkipLocked(statements.dialect)}`,
    );
    this.update = statements.forCount((count) => {
      const cases = Array.from({ length: count }, (_, i) => `WHEN :id${letters(i)} THEN :at${letters(i)}`).join(' ');
      const at = `(CASE s.{session.id} ${cases} ELSE s.{session.lastActivity} END)`;
      return `UPDATE {session} AS s SET ${sql.activityAt(at)}
        WHERE s.{session.id} IN (:ids...) AND s.{session.state} = 'active' AND s.{session.lastActivity} < ${at}`;
    });
  }

  /** Returns whether the session's stored last activity is at least `activityIntervalSeconds` old. */
  isDue({ lastActivity }: Pick<SessionRecord, 'lastActivity'>, now: number): boolean {
    return now - lastActivity >= this.intervalMs;
  }

  /**
   * Schedules the write of an activity, unless the session is being written, and resolves immediately. During a
   * shutdown, resolves when the writes have finished.
   */
  record(sessionId: string, at: number): Promise<void> {
    if (!this.beingWritten.has(sessionId)) this.pending.set(sessionId, at);
    const writing = this.flush();
    return this.stopped ? writing : Promise.resolve();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stopped = true;
    await this.flush();
  }

  /** Resolves when the write of every recorded activity has succeeded or failed. Never rejects. */
  flush(): Promise<void> {
    if (this.pending.size > 0) this.writing ??= this.writeAll();
    return this.writing ?? Promise.resolve();
  }

  private async writeAll(): Promise<void> {
    // Yields to the event loop, so that activities that other requests record in the meantime are
    // written together.
    if (!this.stopped) await new Promise(setImmediate);
    while (this.pending.size > 0) {
      this.beingWritten = this.pending;
      this.pending = new Map();
      const all = [...this.beingWritten];
      try {
        for (let i = 0; i < all.length; i += SESSIONS_PER_UPDATE) {
          const batch = all.slice(i, i + SESSIONS_PER_UPDATE);
          await this.database.transaction(null, () => this.writeBatch(batch));
        }
      } catch {
        this.logger.warn(`Writing the last activity of up to ${all.length} session(s) failed.`);
      }
      this.beingWritten = new Map();
    }
    this.writing = undefined;
  }

  /** Skips sessions that other transactions have locked, so that they do not delay the rest of the batch. */
  private *writeBatch(batch: readonly (readonly [string, number])[]): Transaction<void> {
    const rows = yield* rowsOf(this.lockAvailable.with({ ids: batch.map(([id]) => id) }));
    const ids = rows.map((row) => String(row['id']));
    const locked = batch.filter(([id]) => ids.includes(id));
    if (locked.length === 0) return;
    const values: Record<string, unknown> = { ids };
    locked.forEach(([id, at], i) => {
      values[`id${letters(i)}`] = id;
      values[`at${letters(i)}`] = at;
    });
    yield* affectedBy(this.update(locked.length).with(values));
  }
}
