import { Inject, Injectable } from '@nestjs/common';
import type { ClientInfo } from '../../domain/client';
import { AuthError } from '../../domain/errors';
import { type OpenSession, SessionTransitions } from '../../domain/ports/sessions';
import type { UserId } from '../../domain/ports/accounts';
import type { StoredProofs } from '../../domain/proofs';
import { SESSION_LIMIT, type SessionPolicy } from '../../domain/session-policy';
import { tokenPair, type OpenedSession } from '../../domain/tokens';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from '../../options/auth-options';
import { SessionLifecycle } from './session-lifecycle';
import { TokenIssuer } from './token-issuer';

/** Opens a session for a user whose identity has been proven. */
@Injectable()
export class SessionOpening {
  private readonly policy: SessionPolicy;

  constructor(
    @Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions,
    private readonly tokens: TokenIssuer,
    private readonly transitions: SessionTransitions,
    private readonly lifecycle: SessionLifecycle,
  ) {
    this.policy = policyOf(options);
  }

  /**
   * Opens a session, and applies the session limit.
   * @param proof the credentials version, the failure streaks to end, and the login ticket: see `OpenSession`
   * @param proofsAt returns the methods by which the user was identified, and the application's data
   * @returns the session, the error `session_limit_reached`, or null if the user is not active, the
   *   credentials changed after they were verified, or the login ticket changed or is no longer valid
   * @throws the error of `proofsAt` if the methods or the data are invalid
   */
  async open(
    userId: UserId,
    info: ClientInfo,
    proof: Pick<OpenSession, 'credentialsVersion' | 'attempt' | 'ticket'>,
    proofsAt: (now: number) => StoredProofs,
  ): Promise<OpenedSession | AuthError | null> {
    const context = this.lifecycle.operationContext(info);
    const { now, client } = context;
    const { methods, data } = proofsAt(now);
    const id = this.tokens.newSessionId();
    const idleExpiresAt = now + this.options.idleTimeoutSeconds * 1000;
    const absoluteExpiresAt = now + this.options.absoluteTimeoutSeconds * 1000;
    const { tokens, digests } = this.tokens.issueFamily(id, now);
    const expiries = {
      accessExpiresAt: Math.min(digests.accessExpiresAt, absoluteExpiresAt),
      refreshExpiresAt: Math.min(digests.refreshExpiresAt, absoluteExpiresAt),
    };
    const outcome = await this.transitions.open({
      ...context,
      ...proof,
      ...this.policy,
      session: {
        id,
        userId: String(userId),
        state: 'active',
        ipAddress: client.ipAddress,
        ...client.device,
        methods,
        data,
        createdAt: now,
        authenticatedAt: now,
        lastActivity: now,
        idleExpiresAt,
        absoluteExpiresAt,
        expiresAt: Math.min(idleExpiresAt, absoluteExpiresAt),
      },
      issued: { ...digests, ...expiries },
    });
    if (outcome.kind === 'credentials_changed') return null;
    if (outcome.kind === 'limit_reached') {
      this.lifecycle.signals.emit('session_limit_reached', { userId, activeSessions: outcome.activeSessions });
      return new AuthError('session_limit_reached', 'The session limit has been reached.');
    }
    this.lifecycle.publishSessionOpened(outcome);
    return { ...tokenPair(tokens, expiries), sessionId: id };
  }
}

function policyOf({ sessionPolicy, maxSessions, onSessionLimit }: ResolvedAuthOptions): SessionPolicy {
  if (sessionPolicy === 'multi') return { maxSessions: SESSION_LIMIT, onLimit: 'end_least_recently_used' };
  if (sessionPolicy === 'single') return { maxSessions: 1, onLimit: 'end_oldest' };
  return { maxSessions, onLimit: onSessionLimit === 'reject' ? 'reject' : 'end_oldest' };
}
