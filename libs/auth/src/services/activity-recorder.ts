import { Logger } from '@nestjs/common';
import type { SessionStore } from '../domain/ports/session-store';
import type { SessionLimits } from '../domain/session';

/**
 * Writes the last activity of sessions behind the requests' back: a write that fails or is slow harms none. One write at
 * a time; what comes meanwhile is gathered for the next.
 */
export class ActivityRecorder {
  private readonly logger = new Logger('AuthActivity');
  private pending = new Map<string, number>();
  private beingWritten: ReadonlyMap<string, number> = new Map();
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
        await this.sessions.touch(touches, this.limits);
      } catch {
        // Each of them will be recorded again by the next request.
        this.logger.warn(`The activity of ${touches.length} session(s) could not be written.`);
      }
      this.beingWritten = new Map();
    }
    this.writing = undefined;
  }
}
