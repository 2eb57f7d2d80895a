import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../adapters/second-factor';
import { ClientInspector } from '../history/client';
import type { TokenPair } from '../tokens/tokens';
import { Authenticate, type AuthPrincipal } from './authenticate';
import { Refresh } from './refresh';

/** The session operations that exist only in cookie mode. */
@Injectable()
export class CookieSessions {
  constructor(
    private readonly refreshing: Refresh,
    private readonly authentication: Authenticate,
    private readonly clients: ClientInspector,
  ) {}

  refresh(
    { refreshToken, accessToken }: { readonly refreshToken: string; readonly accessToken: string | null },
    client: ClientInfo,
  ): Promise<TokenPair> {
    return this.refreshing.refresh(refreshToken, this.clients.inspect(client), { transport: 'cookie', accessToken });
  }

  authenticateIssued({ accessToken }: TokenPair, client: ClientInfo): Promise<AuthPrincipal | null> {
    return this.authentication.authenticate(accessToken, client, false);
  }

  namesActiveSession(refreshToken: string): Promise<boolean> {
    return this.authentication.namesActiveSession(refreshToken);
  }

  authenticateByRefreshTokens(
    refreshTokens: readonly string[],
    client: ClientInfo,
  ): Promise<AuthPrincipal | null> {
    return this.authentication.byRefreshTokens(refreshTokens, client);
  }
}
