import { AuthError, invalidRefreshToken } from '../../domain/errors';
import type { ClientInfo } from '../../domain/client';
import type { TokenPair } from '../../domain/tokens';
import { type CookieSessions, MAX_TOKENS } from '../../services/sessions/cookie-sessions';
import type { AuthResponse } from '../platform/request';
import type { CookieRequest, CookieTransport } from './cookie-transport';

/** Refreshes a session with the cookies of a request. */
export class CookieRefresh {
  constructor(
    private readonly cookies: CookieTransport,
    private readonly sessions: Pick<CookieSessions, 'refresh' | 'namesActiveSession'>,
  ) {}

  /**
   * Refreshes with the tokens in the cookies, and sets the cookies of the returned pair. If the refresh is
   * refused, clears the cookies, unless a refresh token in the cookies contains the id of an active session,
   * for example because another browser tab has replaced the cookies.
   * @throws AuthError `credentials_ambiguous`; `invalid_refresh_token` if the cookie is missing or its
   * token is refused
   */
  async refresh(request: CookieRequest, response: AuthResponse, client: ClientInfo): Promise<TokenPair> {
    try {
      const refreshToken = this.cookies.refreshToken(request);
      if (refreshToken === null) throw invalidRefreshToken();
      const accessToken = this.cookies.accessToken(request);
      const pair = await this.sessions.refresh({ refreshToken, accessToken }, client);
      this.cookies.set(response, pair);
      return pair;
    } catch (error) {
      if (isRefusal(error) && !(await this.namesActiveSession(request))) this.cookies.clear(response);
      throw error;
    }
  }

  private async namesActiveSession(request: CookieRequest): Promise<boolean> {
    const { refresh } = this.cookies.allTokens(request);
    for (const token of refresh.slice(0, MAX_TOKENS)) {
      if (await this.sessions.namesActiveSession(token)) return true;
    }
    return false;
  }
}

function isRefusal(error: unknown): boolean {
  return error instanceof AuthError && ['invalid_refresh_token', 'credentials_ambiguous'].includes(error.code);
}
