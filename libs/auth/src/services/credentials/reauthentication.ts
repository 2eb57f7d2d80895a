import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../../domain/client';
import { invalidAccessToken } from '../../domain/errors';
import { SessionTransitions } from '../../domain/ports/sessions';
import { tokenPair, type TokenPair } from '../../domain/tokens';
import { accessDigestOf, type AuthPrincipal } from '../sessions/authentication';
import { OpenSockets } from '../sessions/open-sockets';
import { SessionLifecycle } from '../sessions/session-lifecycle';
import { TokenIssuer } from '../sessions/token-issuer';
import { Login } from './login';

/** Confirms a user's password within a session, which continues with a pair of a new token family. */
@Injectable()
export class Reauthentication {
  constructor(
    private readonly login: Login,
    private readonly lifecycle: SessionLifecycle,
    private readonly transitions: SessionTransitions,
    private readonly tokens: TokenIssuer,
    private readonly sockets: OpenSockets,
  ) {}

  /** @throws AuthError `access_token_invalid` if the principal's access token is not live any more */
  confirm(principal: AuthPrincipal, password: string, info: ClientInfo): Promise<TokenPair> {
    return this.login.confirm(principal, password, 'password', info, async () => {
      const context = this.lifecycle.operationContext(info);
      const { id } = principal.session;
      const { tokens, digests } = this.tokens.issueFamily(id, context.now);
      const current = { id, userId: String(principal.userId), accessDigest: accessDigestOf(principal) ?? '' };
      const expiries = await this.transitions.reissue(current, digests, context);
      if (!expiries) throw invalidAccessToken();
      // What the earlier tokens have opened ends with them, as at a password change. The new pair has opened nothing yet.
      this.sockets.closeOf([id]);
      return tokenPair(tokens, expiries);
    });
  }
}
