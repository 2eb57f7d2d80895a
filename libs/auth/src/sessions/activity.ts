import { type BeforeApplicationShutdown, Inject, Injectable, Logger } from '@nestjs/common';
import { BackgroundTask } from '../base/background-task';
import { Database } from '../database/database';
import { forUpdateSkipLocked } from '../database/dialect';
import { letters, StatementFactory } from '../database/statements';
import { affectedBy, rowsOf, type Transaction } from '../database/transaction';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from '../options/auth-options';
import { type SessionRecord, SessionSql } from './session';

interface Touch {
  readonly sessionId: string;
  readonly at: number;
}

/** The maximum number of sessions in one UPDATE. */
const SESSIONS_PER_UPDATE = 100;

/**
 * The delay before a failed write is retried, and the maximum number of tries. A session that stays locked during all
 * tries is probably being ended.
 */
const RETRY_AFTER_MS = 1_000;

const MAX_TRIES = 10;

/**
 * Writes the last activity of sessions in the background, one write at a time. Requests wait for the writes only during
 * a shutdown.
 */
@Injectable()
export class Activity implements BeforeApplicationShutdown {
  private readonly logger = new Logger('AuthActivity');
  private pending = new Map<string, number>();
  private beingWritten: ReadonlyMap<string, number> = new Map();
  /** The activities whose last write failed, each with the number of tries. */
  private readonly failed = new Map<string, { readonly at: number; readonly tries: number }>();
  private triesBySession = new Map<string, number>();
  private readonly intervalMs: number;
  private readonly retries = new BackgroundTask('activity retries', RETRY_AFTER_MS, () => this.retry());
  private writing: Promise<void> | undefined;
  private stopped = false;

  private readonly lockAvailable;
  private readonly update;

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
  isDue({ lastActivity }: SessionRecord, now: number): boolean {
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
    this.requeueFailed();
    await Promise.all([this.retries.stop(), this.flush()]);
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
      const touches = [...this.pending].map(([sessionId, at]) => ({ sessionId, at }));
      this.beingWritten = this.pending;
      this.pending = new Map();
      try {
        this.retryLater(await this.write(touches));
      } catch {
        this.logger.warn(
          `Writing the last activity of ${touches.length} session(s) failed. Each write is tried at most ${MAX_TRIES} times.`,
        );
        this.retryLater(touches);
      }
      this.beingWritten = new Map();
    }
    this.writing = undefined;
  }

  /** Schedules a retry for activities that the last write did not store. Each activity is tried at most 10 times. */
  private retryLater(touches: readonly Touch[]): void {
    const before = this.triesBySession;
    this.triesBySession = new Map();
    for (const { sessionId, at } of touches) {
      const tries = (before.get(sessionId) ?? 0) + 1;
      if (tries < MAX_TRIES && !this.stopped) this.failed.set(sessionId, { at, tries });
    }
    if (this.failed.size > 0) this.retries.start();
  }

  /** Retries once. A write that fails again schedules the next retry. */
  private retry(): Promise<void> {
    this.retries.pause();
    this.requeueFailed();
    return this.flush();
  }

  private requeueFailed(): void {
    for (const [sessionId, { at, tries }] of this.failed) {
      this.triesBySession.set(sessionId, tries);
      if (!this.pending.has(sessionId)) this.pending.set(sessionId, at);
    }
    this.failed.clear();
  }

  /**
   * Writes the last activity of sessions.
   * @returns the touches of sessions that other transactions have locked, or that no longer exist
   */
  private async write(touches: readonly Touch[]): Promise<readonly Touch[]> {
    const skipped: Touch[] = [];
    for (let i = 0; i < touches.length; i += SESSIONS_PER_UPDATE) {
      const batch = touches.slice(i, i + SESSIONS_PER_UPDATE);
      skipped.push(...(await this.database.transaction(null, () => this.writeBatch(batch))));
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
