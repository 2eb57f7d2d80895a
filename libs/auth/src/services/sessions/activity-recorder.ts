import { Inject, Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import { SessionStore, type Touch } from '../../domain/ports/sessions';
import type { SessionRecord } from '../../domain/session';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from '../../options/auth-options';
import { BackgroundTask } from '../maintenance/background-task';

/** How often a failed write is retried, and after how long: a session that stays locked for longer is being ended. */
const RETRY_AFTER_MS = 1_000;
const MAX_TRIES = 10;

/** Writes the last activity of sessions in the background: one write at a time, which delays no request. */
@Injectable()
export class ActivityRecorder implements BeforeApplicationShutdown {
  private readonly logger = new Logger('AuthActivity');
  private pending = new Map<string, number>();
  private beingWritten: ReadonlyMap<string, number> = new Map();
  /** Failed writes, and how often each was tried. */
  private readonly late = new Map<string, { readonly at: number; readonly tries: number }>();
  private tries = new Map<string, number>();
  private readonly intervalMs: number;
  private readonly retries = new BackgroundTask('activity retries', RETRY_AFTER_MS, () => this.retry());
  private writing: Promise<void> | undefined;
  private stopped = false;

  constructor(
    private readonly sessions: SessionStore,
    @Inject(AUTH_OPTIONS) options: ResolvedAuthOptions,
  ) {
    this.intervalMs = options.activityIntervalSeconds * 1000;
  }

  /** Whether the last activity that is stored is old enough to be replaced. */
  isDue({ lastActivity }: SessionRecord, now: number): boolean {
    return now - lastActivity >= this.intervalMs;
  }

  /** Resolves immediately; during a shutdown, when it is written. */
  record(sessionId: string, at: number): Promise<void> {
    if (!this.beingWritten.has(sessionId)) this.pending.set(sessionId, at);
    const writing = this.flush();
    return this.stopped ? writing : Promise.resolve();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stopped = true;
    this.takeLate();
    await Promise.all([this.retries.stop(), this.flush()]);
  }

  /** Resolves when everything recorded so far is written, or given up; never rejects. */
  flush(): Promise<void> {
    if (this.pending.size > 0) this.writing ??= this.writeAll();
    return this.writing ?? Promise.resolve();
  }

  private async writeAll(): Promise<void> {
    // After the request, and together with those that came at the same time.
    if (!this.stopped) await new Promise(setImmediate);
    while (this.pending.size > 0) {
      const touches = [...this.pending].map(([sessionId, at]) => ({ sessionId, at }));
      this.beingWritten = this.pending;
      this.pending = new Map();
      try {
        this.retryLater(await this.sessions.touch(touches));
      } catch {
        this.logger.warn(`The activity of ${touches.length} session(s) could not be written yet.`);
        this.retryLater(touches);
      }
      this.beingWritten = new Map();
    }
    this.writing = undefined;
  }

  /** Those of the last write that were not written. */
  private retryLater(touches: readonly Touch[]): void {
    const before = this.tries;
    this.tries = new Map();
    for (const { sessionId, at } of touches) {
      const tries = (before.get(sessionId) ?? 0) + 1;
      if (tries < MAX_TRIES && !this.stopped) this.late.set(sessionId, { at, tries });
    }
    if (this.late.size > 0) this.retries.start();
  }

  /** Once; a write that fails again schedules the next. */
  private retry(): Promise<void> {
    this.retries.pause();
    this.takeLate();
    return this.flush();
  }

  private takeLate(): void {
    for (const [sessionId, { at, tries }] of this.late) {
      this.tries.set(sessionId, tries);
      if (!this.pending.has(sessionId)) this.pending.set(sessionId, at);
    }
    this.late.clear();
  }
}
