import { Injectable, Logger } from '@nestjs/common';
import { OnAuthSignal, type AuthSignals } from 'nestjs-session-auth';
import type { NextFunction, Request, Response } from 'express';

type Fields = Readonly<Record<string, string | number | bigint | null>>;

/**
 * Writes a line for each signal that an operator should see. It names users by their ids: a name that nobody has may be
 * a password that was typed into the wrong field.
 */
@Injectable()
export class SecurityLog {
  private readonly logger = new Logger('Security');

  @OnAuthSignal('token_reuse_detected')
  tokenReused({ userId, session, ipAddress, reuse, sessionsEnded }: AuthSignals['token_reuse_detected']): void {
    const { generationsBehind } = reuse;
    this.write('token_reuse_detected', { userId, sessionId: session.id, ipAddress, generationsBehind, sessionsEnded });
  }

  @OnAuthSignal('login_blocked')
  loginBlocked({ userId, ipAddress, scope, until }: AuthSignals['login_blocked']): void {
    this.write('login_blocked', { userId, ipAddress, scope, until: until && until.toISOString() });
  }

  @OnAuthSignal('brute_force_threshold_hit')
  thresholdHit({ ipAddress, scope, failureCount }: AuthSignals['brute_force_threshold_hit']): void {
    this.write('brute_force_threshold_hit', { ipAddress, scope, failureCount });
  }

  @OnAuthSignal('session_network_changed')
  networkChanged({ userId, session, from, to }: AuthSignals['session_network_changed']): void {
    this.write('session_network_changed', { userId, sessionId: session.id, from, to });
  }

  @OnAuthSignal('lost_commits_suspected')
  commitsLost({ userId, session }: AuthSignals['lost_commits_suspected']): void {
    this.write('lost_commits_suspected', { userId, sessionId: session.id });
  }

  @OnAuthSignal('session_limit_reached')
  limitReached({ userId, activeSessions }: AuthSignals['session_limit_reached']): void {
    this.write('session_limit_reached', { userId, activeSessions });
  }

  @OnAuthSignal('password_changed')
  passwordChanged({ userId }: AuthSignals['password_changed']): void {
    this.write('password_changed', { userId });
  }

  private write(signal: string, fields: Fields): void {
    const texts = Object.entries(fields).map(([name, value]) => `${name}=${value ?? 'unknown'}`);
    this.logger.warn([signal, ...texts].join(' '));
  }
}

/** Middleware that writes a line for each request that failed with 5xx. The path has no query, which may hold secrets. */
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
