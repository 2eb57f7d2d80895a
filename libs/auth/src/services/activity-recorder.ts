import { Logger } from '@nestjs/common';
import type { SessionStore } from '../domain/ports/session-store';
import type { SessionLimits } from '../domain/session';

/** Writes the last activity of sessions behind the requests' back: a write that fails or is slow harms none. */
export class ActivityRecorder {
  private readonly logger = new Logger('AuthActivity');
  private pending = new Map<string, number>();
  private writing: Promise<void> = Promise.resolve();
  private scheduled = false;
  private stopped = false;

  constructor(
    private readonly sessions: SessionStore,
    private readonly limits: SessionLimits,
  ) {}

  /** Resolves at once; after `stop`, when it is written, so that the shutdown does not get ahead of it. */
  record(sessionId: string, at: number): Promise<void> {
    this.pending.set(sessionId, at);
    if (this.stopped) return this.flush();
    if (!this.scheduled) {
      this.scheduled = true;
      setImmediate(() => void this.flush());
    }
    return Promise.resolve();
  }

  stop(): Promise<void> {
    this.stopped = true;
    return this.flush();
  }

  /** Writes what is pending; resolves when it is written, and never rejects. */
  flush(): Promise<void> {
    this.scheduled = false;
    const touches = [...this.pending].map(([sessionId, at]) => ({ sessionId, at }));
    this.pending = new Map();
    if (touches.length > 0) {
      this.writing = this.writing
        .then(() => this.sessions.touch(touches, this.limits))
        .catch(() => this.logger.warn(`The activity of ${touches.length} session(s) could not be written.`));
    }
    return this.writing;
  }
}
