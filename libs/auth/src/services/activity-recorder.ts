import { Logger } from '@nestjs/common';
import type { SessionStore, Touch } from '../domain/ports/session-store';
import type { SessionLimits } from '../domain/session';

/** When what could not be written is tried again, and how often: a session that stays locked for longer is being ended. */
const TRY_AGAIN_MS = 1_000;
const MOST_TRIES = 10;

/**
 * Writes the last activity of sessions behind the requests' back: a write that fails or is slow harms none. One write at
 * a time; what comes meanwhile is gathered for the next.
 */
export class ActivityRecorder {
  private readonly logger = new Logger('AuthActivity');
  private pending = new Map<string, number>();
  private beingWritten: ReadonlyMap<string, number> = new Map();
  /** What could not be written, and how often that was tried. */
  private readonly late = new Map<string, { readonly at: number; readonly tries: number }>();
  private tries = new Map<string, number>();
  private timer: NodeJS.Timeout | undefined;
  private writing: Promise<void> | undefined;
  private stopped = false;

  constructor(
    private readonly sessions: SessionStore,
    private readonly limits: SessionLimits,
  ) {}

  /** Resolves at once; after `stop`, when it is written, so that the shutdown does not get ahead of it. */
  record(sessionId: string, at: number): Promise<void> {
    if (!this.beingWritten.has(sessionId)) this.pending.set(sessionId, at);
    const writing = this.flush();
    return this.stopped ? writing : Promise.resolve();
  }

  stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    this.takeLate();
    return this.flush();
  }

  /** Resolves when all that was recorded until now is written, or given up; never rejects. */
  flush(): Promise<void> {
    if (this.pending.size > 0) this.writing ??= this.writeAll();
    return this.writing ?? Promise.resolve();
  }

  private async writeAll(): Promise<void> {
    // Not in the way of the request, and together with those that came at the same time.
    if (!this.stopped) await new Promise(setImmediate);
    while (this.pending.size > 0) {
      const touches = [...this.pending].map(([sessionId, at]) => ({ sessionId, at }));
      this.beingWritten = this.pending;
      this.pending = new Map();
      try {
        this.tryLater(await this.sessions.touch(touches, this.limits));
      } catch {
        this.logger.warn(`The activity of ${touches.length} session(s) could not be written yet.`);
        this.tryLater(touches);
      }
      this.beingWritten = new Map();
    }
    this.writing = undefined;
  }

  /** Those of the last write that were not written. */
  private tryLater(touches: readonly Touch[]): void {
    const before = this.tries;
    this.tries = new Map();
    for (const { sessionId, at } of touches) {
      const tries = (before.get(sessionId) ?? 0) + 1;
      if (tries < MOST_TRIES && !this.stopped) this.late.set(sessionId, { at, tries });
    }
    if (this.late.size === 0 || this.timer || this.stopped) return;
    this.timer = setTimeout(() => {
      this.timer = undefined;
      this.takeLate();
      void this.flush();
    }, TRY_AGAIN_MS).unref();
  }

  private takeLate(): void {
    for (const [sessionId, { at, tries }] of this.late) {
      this.tries.set(sessionId, tries);
      if (!this.pending.has(sessionId)) this.pending.set(sessionId, at);
    }
    this.late.clear();
  }
}
