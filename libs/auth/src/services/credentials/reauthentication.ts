import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../../domain/client';
import { invalidAccessToken } from '../../domain/errors';
import { SessionTransitions } from '../../domain/ports/sessions';
import { assertMethods, PASSWORD_METHOD } from '../../domain/proofs';
import { tokenPair, type TokenPair } from '../../domain/tokens';
import { type AuthPrincipal, currentSessionOf } from '../sessions/authentication';
import { OpenSockets } from '../sessions/open-sockets';
import { SessionLifecycle } from '../sessions/session-lifecycle';
import { TokenIssuer } from '../sessions/token-issuer';
import { Login } from './login';

/** Confirms a user's identity within a session, which continues with a pair of a new token family. */
@Injectable()
export class Reauthentication {
  constructor(
    private readonly login: Login,
    private readonly lifecycle: SessionLifecycle,
    private readonly transitions: SessionTransitions,
    private readonly tokens: TokenIssuer,
    private readonly sockets: OpenSockets,
  ) {}

  /** Confirms it by the password. @throws AuthError `access_token_invalid` as `reissue` */
  confirm(principal: AuthPrincipal, password: string, info: ClientInfo): Promise<TokenPair> {
    return this.login.confirm(principal, password, 'password', info, () =>
      this.reissue(principal, [PASSWORD_METHOD], info),
    );
  }

  /** Stores that the application has confirmed it by these methods. @throws AuthError `access_token_invalid` as `reissue` */
  async confirmBy(principal: AuthPrincipal, methods: readonly string[], info: ClientInfo): Promise<TokenPair> {
    assertMethods(methods);
    return this.reissue(principal, methods, info);
  }

  /** @throws AuthError `access_token_invalid` if the principal's access token is not live any more */
  private async reissue(principal: AuthPrincipal, methods: readonly string[], info: ClientInfo): Promise<TokenPair> {
    const current = currentSessionOf(principal);
    if (!current) throw invalidAccessToken();
    const context = this.lifecycle.operationContext(info);
    const { tokens, digests } = this.tokens.issueFamily(current.id, context.now);
    const expiries = await this.transitions.reissue(current, digests, methods, context);
    if (!expiries) throw invalidAccessToken();
    // What the earlier tokens have opened ends with them, as at a password change. The new pair has opened nothing yet.
    this.sockets.closeOf([current.id]);
    return tokenPair(tokens, expiries);
  }
}
