import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../../domain/client';
import { Metrics } from '../../domain/ports/platform';
import { SessionStore } from '../../domain/ports/sessions';
import { isExpired, viewSession } from '../../domain/session';
import { parseRefreshToken, type TokenPair } from '../../domain/tokens';
import { measured } from '../maintenance/measured';
import { Authentication, type AuthPrincipal, SessionPrincipal } from './authentication';
import { Refresh } from './refresh';
import { SessionLifecycle } from './session-lifecycle';
import { TokenIssuer } from './token-issuer';

/** How many tokens of a kind are looked up for one request: other hosts of the site can add cookies of any name. */
export const MAX_TOKENS = 10;

/** The tokens in the cookies of a request. */
export interface CookieTokens {
  readonly refreshToken: string;
  readonly accessToken: string | null;
}

/** What only clients with cookies do with sessions. */
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
   * Returns the pair that follows the refresh token, or the presented pair itself: tabs that wake up together present the
   * pair that one of them got just before.
   * @throws AuthError `invalid_refresh_token`
   */
  refresh({ refreshToken, accessToken }: CookieTokens, client: ClientInfo): Promise<TokenPair> {
    return measured(this.metrics, 'session_auth.refresh.duration', () =>
      this.refreshing.refresh(refreshToken, client, { transport: 'cookie', accessToken }),
    );
  }

  /**
   * The principal of a pair that the response is about to give to the client, or null. The response can be lost, and the
   * client repeat its request from another network: only a request with the new access token is its first use.
   */
  authenticateIssued({ accessToken }: TokenPair, client: ClientInfo): Promise<AuthPrincipal | null> {
    const lookUp = (): Promise<AuthPrincipal | null> =>
      this.authentication.authenticate(accessToken, client, { isReceived: false });
    return measured(this.metrics, 'session_auth.lookup.duration', lookUp);
  }

  /**
   * Whether the text is a refresh token that names an active session. It is no proof that the token is genuine: it only
   * decides whether cookies are cleared.
   */
  async namesActiveSession(refreshToken: string): Promise<boolean> {
    const claims = parseRefreshToken(refreshToken);
    const found = claims && (await this.sessions.find(claims.sessionId));
    return found !== null && !isExpired(found.session, this.lifecycle.now());
  }

  /**
   * For a logout alone: the principal of the first refresh token that belongs to the token family of a live session, of
   * whatever generation, or null. At most 10 well-formed tokens are looked up. It is no refresh: nothing is recorded, and
   * a used token is not reuse.
   */
  async authenticateByRefreshTokens(
    refreshTokens: readonly string[],
    client: ClientInfo,
  ): Promise<AuthPrincipal | null> {
    const wellFormed = [...new Set(refreshTokens)].flatMap((token) => parseRefreshToken(token) ?? []);
    for (const { sessionId, familySecret } of wellFormed.slice(0, MAX_TOKENS)) {
      const found = await this.sessions.findFamily(sessionId);
      if (found?.familyDigest !== this.tokens.digest(familySecret)) continue;
      if (!(await this.lifecycle.isLive(found, this.lifecycle.now(), client))) continue;
      const { session } = found;
      return new SessionPrincipal(
        this.lifecycle.userIdOf(session),
        viewSession(session, session.id),
        new Date(session.authenticatedAt),
        found,
        null,
        null,
      );
    }
    return null;
  }
}
