import { Injectable } from '@nestjs/common';
import { invalidAccessToken } from '../base/errors';
import { Login } from '../login/login';
import { type AuthPrincipal, currentSessionOf } from '../sessions/authenticate';
import { OpenSockets } from '../sessions/open-sockets';
import { assertMethods } from '../sessions/proofs';
import { Reissue } from '../sessions/reissue';
import { Clock } from '../base/clock';
import type { Operation } from '../history/client';
import { PASSWORD_METHOD } from '../throttle/limits';
import { TokenIssuer, tokenPair, type TokenPair } from '../tokens/tokens';

/** Confirms a user's identity within a session. The session continues with a new token family. */
@Injectable()
export class Reauthentication {
  constructor(
    private readonly login: Login,
    private readonly clock: Clock,
    private readonly reissues: Reissue,
    private readonly tokens: TokenIssuer,
    private readonly sockets: OpenSockets,
  ) {}

  /**
   * Verifies the user's password and issues a new token family.
   * @throws AuthError with the codes of `Login.verifyPasswordThen`
   */
  confirm(principal: AuthPrincipal, password: string, op: Operation): Promise<TokenPair> {
    return this.login.verifyPasswordThen(principal, password, 'password', op, () =>
      this.reissue(principal, [PASSWORD_METHOD], op),
    );
  }

  /**
   * Records that the application has confirmed the user's identity by these methods, and issues a new token family.
   * @throws AuthError `access_token_invalid` if the principal's access token is no longer valid
   */
  async confirmBy(principal: AuthPrincipal, methods: readonly string[], op: Operation): Promise<TokenPair> {
    assertMethods(methods);
    return this.reissue(principal, methods, op);
  }

  /**
   * Issues a new token family.
   * @throws AuthError `access_token_invalid` if the principal's access token is no longer valid
   */
  private async reissue(principal: AuthPrincipal, methods: readonly string[], op: Operation): Promise<TokenPair> {
    const current = currentSessionOf(principal);
    if (!current) throw invalidAccessToken();
    const { tokens, digests } = this.tokens.issueFamily(current.id, this.clock.now());
    const expiries = await this.reissues.reissueAfterReauthentication(current, digests, methods, op.client);
    if (!expiries) throw invalidAccessToken();
    // All sockets of the session were opened with earlier tokens. For a password change, `SignalPublisher` closes them.
    this.sockets.closeForSessions([current.id]);
    return tokenPair(tokens, expiries);
  }
}
