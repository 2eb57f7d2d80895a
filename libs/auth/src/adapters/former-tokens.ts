import type { TransportCall } from './token-source';
import type { UserId } from './user-store';

/** What a valid token of an earlier system contains. */
export interface FormerToken {
  readonly userId: UserId;
  /** When the token was issued, such as `new Date(claims.iat * 1000)` for a JWT. */
  readonly issuedAt: Date;
}

/**
 * Accepts the tokens of an earlier system, such as JWTs, until their users have logged in again. Set the option
 * `formerTokens` to a class that extends this one, or to an instance.
 */
export abstract class FormerTokens {
  /**
   * Returns the user and the time of issue of a valid token, or null. Called for tokens that do not have the form of the
   * library's tokens. The library then refuses users who are not active, and tokens from before the user's last password
   * change, reset, `logout/all/`, `endSessions`, reuse or disabling. An exception is logged, and refuses the call with 401.
   */
  abstract verify(token: string, call: TransportCall): FormerToken | null | Promise<FormerToken | null>;
}
