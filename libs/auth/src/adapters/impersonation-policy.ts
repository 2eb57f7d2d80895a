import type { RequestUser } from './user-store';

/** What an administrator asks for. */
export interface ImpersonationRequest {
  /** Why, as 1 to 255 characters, such as a number of a ticket. The user can read it in their history. */
  readonly reason: string;
  /** How long the session lasts, in seconds. */
  readonly seconds: number;
}

/**
 * Decides which administrators may act as which users. Set the option `impersonationPolicy` to a class that extends this
 * one, or to an instance.
 */
export abstract class ImpersonationPolicy {
  /**
   * Returns whether the administrator may act as the user. Both are active, and have the properties of `request.user`,
   * such as `roles` and the columns of `users.select`. If the method throws, returns no boolean, or takes over 2 seconds,
   * no session opens, and the response is 503.
   */
  abstract isAllowed(
    administrator: RequestUser,
    user: RequestUser,
    request: ImpersonationRequest,
  ): boolean | Promise<boolean>;
}
