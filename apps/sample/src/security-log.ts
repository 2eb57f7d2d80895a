import { Injectable, Logger } from '@nestjs/common';
import { OnAuthSignal, type AuthSignals } from 'nestjs-session-auth';
import type { NextFunction, Request, Response } from 'express';

type Fields = Readonly<Record<string, string | number | bigint | null>>;

/**
 * Logs each signal that an operator should see. The log contains the ids of users and not their names,
 * because an unknown name may be a password that was typed into the wrong field.
 */
@Injectable()
export class SecurityLog {
  private readonly logger = new Logger('Security');

  @OnAuthSignal('token_reuse_detected')
  logTokenReuse({ userId, session, ipAddress, reuse, sessionsEnded }: AuthSignals['token_reuse_detected']): void {
    const { generationsBehind } = reuse;
    this.write('token_reuse_detected', { userId, sessionId: session.id, ipAddress, generationsBehind, sessionsEnded });
  }

  @OnAuthSignal('login_blocked')
  logLoginBlocked({ userId, ipAddress, scope, until }: AuthSignals['login_blocked']): void {
    this.write('login_blocked', { userId, ipAddress, scope, until: until && until.toISOString() });
  }

  @OnAuthSignal('brute_force_threshold_hit')
  logBruteForce({ ipAddress, scope, failureCount }: AuthSignals['brute_force_threshold_hit']): void {
    this.write('brute_force_threshold_hit', { ipAddress, scope, failureCount });
  }

  @OnAuthSignal('session_network_changed')
  logNetworkChange({ userId, session, from, to }: AuthSignals['session_network_changed']): void {
    this.write('session_network_changed', { userId, sessionId: session.id, from, to });
  }

  @OnAuthSignal('lost_commits_suspected')
  logLostCommits({ userId, session }: AuthSignals['lost_commits_suspected']): void {
    this.write('lost_commits_suspected', { userId, sessionId: session.id });
  }

  @OnAuthSignal('session_limit_reached')
  logSessionLimit({ userId, activeSessions }: AuthSignals['session_limit_reached']): void {
    this.write('session_limit_reached', { userId, activeSessions });
  }

  @OnAuthSignal('password_changed')
  logPasswordChange({ userId }: AuthSignals['password_changed']): void {
    this.write('password_changed', { userId });
  }

  private write(signal: string, fields: Fields): void {
    const texts = Object.entries(fields).map(([name, value]) => `${name}=${value ?? 'unknown'}`);
    this.logger.warn([signal, ...texts].join(' '));
  }
}

/** Returns middleware that logs each response with a 5xx status, without the query, which may contain secrets. */
export function logFailedRequests(): (request: Request, response: Response, next: NextFunction) => void {
  const logger = new Logger('Requests');
  return ({ method, path }, response, next) => {
    const startedAt = performance.now();
    response.on('finish', () => {
      if (response.statusCode < 500) return;
      logger.error(`${method} ${path} ${response.statusCode} after ${Math.round(performance.now() - startedAt)} ms`);
    });
    next();
  };
}
