import { Injectable, Logger } from '@nestjs/common';
import { OnAuthSignal, type AuthSignals } from 'nestjs-session-auth';

@Injectable()
export class SecurityAlerts {
  private readonly logger = new Logger('SecurityAlerts');

  @OnAuthSignal('token_reuse_detected')
  alert({ userId, ipAddress, reuse, sessionsEnded }: AuthSignals['token_reuse_detected']) {
    const { generationsBehind, lastRefreshAt } = reuse;
    this.logger.warn(
      `User ${userId}: refresh token reused from ${ipAddress}, ${sessionsEnded} sessions ended ` +
        `(generations behind: ${generationsBehind}, last refresh: ${lastRefreshAt.toISOString()})`,
    );
  }
}
