import type { Client } from '../domain/client';
import { AuthError } from '../domain/errors';
import type { CryptoSource } from '../domain/ports/crypto-source';
import type { OpenSession, SessionStore } from '../domain/ports/session-store';
import type { SignalBus } from '../domain/ports/signal-bus';
import type { UserId } from '../domain/ports/user-store';
import { viewSession } from '../domain/session';
import type { OpenedSession } from '../domain/token-pair';
import type { ResolvedAuthOptions } from '../options/auth-options';
import type { SessionNotices } from './session-notices';
import { pairOf, type TokenIssuer } from './token-issuer';

/** Opens a session for a user whose identity has been proven. */
export class SessionOpening {
  constructor(
    private readonly options: ResolvedAuthOptions,
    private readonly crypto: CryptoSource,
    private readonly tokens: TokenIssuer,
    private readonly sessions: SessionStore,
    private readonly signals: SignalBus,
    private readonly notices: SessionNotices,
  ) {}

  /**
   * @param proof what the credentials were proven with: see `OpenSession`
   * @returns null where the credentials changed while they were being verified
   * @throws AuthError `session_limit_reached`
   */
  async open(
    userId: UserId,
    client: Client,
    proof: Pick<OpenSession, 'credentialsVersion' | 'attempt'>,
  ): Promise<OpenedSession | null> {
    const at = this.notices.circumstances(client);
    const { now, limits } = at;
    const access = this.tokens.issue('access');
    const refresh = this.tokens.issue('refresh');
    const absoluteExpiresAt = now + limits.absoluteMs;
    const outcome = await this.sessions.open({
      ...at,
      ...proof,
      session: {
        id: this.crypto.uuid(),
        userId: String(userId),
        state: 'active',
        ipAddress: client.ipAddress,
        ...client.device,
        createdAt: now,
        authenticatedAt: now,
        lastActivity: now,
        idleExpiresAt: now + limits.idleMs,
        absoluteExpiresAt,
      },
      accessDigest: access.digest,
      accessExpiresAt: Math.min(now + this.options.accessTokenTtlSeconds * 1000, absoluteExpiresAt),
      refreshDigest: refresh.digest,
      refreshExpiresAt: Math.min(now + this.options.refreshTokenTtlSeconds * 1000, absoluteExpiresAt),
      maxSessions: this.maxSessions,
      onLimit: this.options.sessionPolicy === 'single' ? 'revoke_oldest' : this.options.onSessionLimit,
    });
    if (outcome.kind === 'credentials_changed') return null;
    if (outcome.kind === 'limit_reached') {
      this.signals.emit('session_limit_reached', { userId, activeSessions: outcome.activeSessions });
      throw new AuthError('session_limit_reached', 'The session limit is reached.');
    }
    this.notices.tellEnds(outcome.ended);
    const session = viewSession(outcome.session, outcome.session.id);
    this.signals.emit('user_logged_in', { userId, session, newDevice: outcome.newDevice });
    return { ...pairOf(access, refresh), sessionId: outcome.session.id };
  }

  private get maxSessions(): number | null {
    const { sessionPolicy, maxSessions } = this.options;
    if (sessionPolicy === 'multi') return null;
    return sessionPolicy === 'single' ? 1 : maxSessions;
  }
}
