import { Injectable, Logger } from '@nestjs/common';
import { SignalBus } from '../../domain/ports/events';
import { Clock, Metrics } from '../../domain/ports/platform';
import { viewSession, type SessionRecord } from '../../domain/session';
import { OncePerMinute } from '../../domain/once-per-minute';
import { SessionLifecycle } from './session-lifecycle';

/**
 * Reports refresh tokens that are newer than the database: counts each, and logs and emits one per minute. Nobody is accused.
 * (RFC 9700, section 4.14.2, assumes a server that does not forget.)
 */
@Injectable()
export class LostCommits {
  private readonly logger = new Logger('AuthSessions');
  /** Many clients notice the same loss. */
  private readonly limit: OncePerMinute;

  constructor(
    clock: Clock,
    private readonly metrics: Metrics,
    private readonly signals: SignalBus,
    private readonly lifecycle: SessionLifecycle,
  ) {
    this.limit = new OncePerMinute(clock);
  }

  report(session: SessionRecord): void {
    this.metrics.count('session_auth.token.newer_than_database', 1);
    this.limit.run(() => this.logAndEmit(session));
  }

  private logAndEmit(session: SessionRecord): void {
    this.logger.error(
      `A refresh token of session ${session.id} is newer than the database. Was it restored from a backup, or did it fail ` +
        'over to a server that lagged behind? Revoked sessions are active again. End all sessions: ' +
        "administration.end({ everyone: true }, { actor: '...' }).",
    );
    const userId = this.lifecycle.userIdOf(session);
    this.signals.emit('lost_commits_suspected', { userId, session: viewSession(session, null) });
  }
}
