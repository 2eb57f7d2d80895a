import { Injectable, Logger } from '@nestjs/common';
import { SignalBus } from '../../domain/ports/events';
import { Clock, Metrics } from '../../domain/ports/platform';
import { viewSession, type SessionRecord } from '../../domain/session';
import { SessionLifecycle } from './session-lifecycle';

/** Many clients notice the same loss. */
const INTERVAL_MS = 60_000;

/**
 * Reports refresh tokens that are newer than the database: counts each, and logs and emits one per minute. Nobody is accused.
 * (RFC 9700, section 4.14.2, assumes a server that does not forget.)
 */
@Injectable()
export class LostCommits {
  private readonly logger = new Logger('AuthSessions');
  private reportedAt = -Infinity;

  constructor(
    private readonly clock: Clock,
    private readonly metrics: Metrics,
    private readonly signals: SignalBus,
    private readonly lifecycle: SessionLifecycle,
  ) {}

  report(session: SessionRecord): void {
    this.metrics.count('session_auth.token.newer_than_database', 1);
    const now = this.clock.now();
    if (now - this.reportedAt < INTERVAL_MS) return;
    this.reportedAt = now;
    this.logger.error(
      `A refresh token of session ${session.id} is newer than the database. Was it restored from a backup, or did it fail ` +
        'over to a server that lagged behind? Revoked sessions are active again. End all sessions: ' +
        "administration.end({ everyone: true }, { actor: '...' }).",
    );
    const userId = this.lifecycle.userIdOf(session);
    this.signals.emit('lost_commits_suspected', { userId, session: viewSession(session, null) });
  }
}
