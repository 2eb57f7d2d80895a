import { Injectable, Logger } from '@nestjs/common';
import { SignalBus } from '../../domain/ports/events';
import { Clock, Metrics } from '../../domain/ports/platform';
import { toSessionInfo, type SessionRecord } from '../../domain/session';
import { OncePerMinute } from '../../domain/once-per-minute';
import { SessionLifecycle } from './session-lifecycle';

/**
 * Reports refresh tokens that are newer than the database. Each report is counted. At most once a
 * minute, an error is logged and a signal is emitted. Presenting such a token is not reuse: RFC
 * 9700, section 4.14.2, assumes a server that does not lose commits.
 */
@Injectable()
export class LostCommits {
  private readonly logger = new Logger('AuthSessions');
  /** Limits logs and signals, because one loss of commits can affect many clients. */
  private readonly reportLimit: OncePerMinute;

  constructor(
    clock: Clock,
    private readonly metrics: Metrics,
    private readonly signals: SignalBus,
    private readonly lifecycle: SessionLifecycle,
  ) {
    this.reportLimit = new OncePerMinute(clock);
  }

  report(session: SessionRecord): void {
    this.metrics.count('session_auth.token.newer_than_database', 1);
    this.reportLimit.run(() => this.logAndEmit(session));
  }

  private logAndEmit(session: SessionRecord): void {
    this.logger.error(
      `A refresh token of session ${session.id} is newer than the database. If the database was restored from a backup, or ` +
        'failed over to a server that lagged behind, revoked sessions may be active again. In that case, end all ' +
        "sessions with SessionAdministration.end({ everyone: true }, { actor: '...' }).",
    );
    const userId = this.lifecycle.userIdOf(session);
    this.signals.emit('lost_commits_suspected', { userId, session: toSessionInfo(session, null) });
  }
}
