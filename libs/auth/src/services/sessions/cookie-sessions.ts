import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../../domain/client';
import { Metrics } from '../../domain/ports/platform';
import { SessionStore } from '../../domain/ports/sessions';
import { isExpired, toSessionInfo } from '../../domain/session';
import { parseRefreshToken, type TokenPair } from '../../domain/tokens';
import { measureDuration } from '../maintenance/measure-duration';
import { Authentication, type AuthPrincipal, SessionPrincipal } from './authentication';
import { Refresh } from './refresh';
import { SessionLifecycle } from './session-lifecycle';
import { TokenIssuer } from './token-issuer';

/**
 * The maximum number of tokens of each kind that are looked up for one request. The number is bounded because a
 * request can contain any number of cookies with the same name.
 */
export const MAX_TOKENS = 10;

/** The tokens in the cookies of a request. */
export interface CookieTokens {
  readonly refreshToken: string;
  readonly accessToken: string | null;
}

/** The session operations that exist only in cookie mode. */
@Injectable()
export class CookieSessions {
  constructor(
    private readonly refreshing: Refresh,
    private readonly authentication: Authentication,
    private readonly sessions: SessionStore,
    private readonly tokens: TokenIssuer,
    private readonly lifecycle: SessionLifecycle,
    private readonly metrics: Metrics,
  ) {}

  /**
   * Exchanges the refresh token for a new pair. If a cookie refresh issued the presented pair within the grace period,
   * returns that pair, because browser tabs that wake up together present the pair that one tab has just received.
   * @throws AuthError `invalid_refresh_token`, `database_unavailable`
   */
  refresh({ refreshToken, accessToken }: CookieTokens, client: ClientInfo): Promise<TokenPair> {
    return measureDuration(this.metrics, 'session_auth.refresh.duration', () =>
      this.refreshing.refresh(refreshToken, client, { transport: 'cookie', accessToken }),
    );
  }

  /**
   * Returns the principal of a pair that the current response sends to the client, or null. The call does not count as
   * the first use of the access token, because the response can be lost, and the client can repeat its request from
   * another network.
   */
  authenticateIssued({ accessToken }: TokenPair, client: ClientInfo): Promise<AuthPrincipal | null> {
    const lookUp = (): Promise<AuthPrincipal | null> =>
      this.authentication.authenticate(accessToken, client, { isReceived: false });
    return measureDuration(this.metrics, 'session_auth.lookup.duration', lookUp);
  }

  /**
   * Returns whether the text is a refresh token that contains the id of an active session. The result does not prove
   * that the token is genuine, and only decides whether cookies are cleared.
   */
  async namesActiveSession(refreshToken: string): Promise<boolean> {
    const claims = parseRefreshToken(refreshToken);
    const found = claims && (await this.sessions.find(claims.sessionId));
    return found !== null && !isExpired(found.session, this.lifecycle.now());
  }

  /**
   * Returns the principal of the first refresh token that belongs to the current token family of an active session,
   * or null. Only a logout calls this method. A logout accepts used tokens, because a logout issues no tokens. The call
   * does not count as reuse. If a session has expired or its user is not active, ends the session, like
   * `SessionLifecycle.isValid`. At most 10 well-formed tokens are looked up.
   */
  async authenticateByRefreshTokens(
    refreshTokens: readonly string[],
    client: ClientInfo,
  ): Promise<AuthPrincipal | null> {
    const wellFormed = [...new Set(refreshTokens)].flatMap((token) => parseRefreshToken(token) ?? []);
    for (const { sessionId, familySecret } of wellFormed.slice(0, MAX_TOKENS)) {
      const found = await this.sessions.findFamily(sessionId);
      if (found?.familyDigest !== this.tokens.digest(familySecret)) continue;
      if (!(await this.lifecycle.isValid(found, this.lifecycle.now(), client))) continue;
      const { session } = found;
      return new SessionPrincipal(
        this.lifecycle.userIdOf(session),
        toSessionInfo(session, session.id),
        new Date(session.authenticatedAt),
        found,
        null,
        null,
      );
    }
    return null;
  }
}
