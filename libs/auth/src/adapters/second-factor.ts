import { ApplicationCalls, checkedBoolean } from './application-calls';
import type { UserId } from './user-store';

/** The client of a request. */
export interface ClientInfo {
  /** The IP address, such as `request.ip`. Default: unknown. */
  readonly ipAddress?: string | null;
  /** The `User-Agent` header. Default: unknown. */
  readonly userAgent?: string | null;
}

/** A user whom the first factor has identified. */
export interface IdentifiedUser {
  readonly id: UserId;
  readonly username: string;
}

/**
 * Decides which users need a second factor. Set the option `secondFactor` to a class that extends this one, or to an
 * instance. If `isRequired` fails, takes longer than 5 seconds or returns no boolean, the response is 503.
 */
export abstract class SecondFactor {
  /**
   * Returns whether this user needs a second factor. Called by `login` after the password was verified, and by
   * `openSession` with a ticket that has only one method.
   * @param client the object that your application passed to `login` or `openSession`, with any further properties,
   *   such as the cookie of a trusted device. The library's own route passes the address and the User-Agent
   */
  abstract isRequired(user: IdentifiedUser, client: ClientInfo): boolean | Promise<boolean>;
}

/** The application's `SecondFactor`, or null. If it fails, times out or returns no boolean, the login fails with 503. */
export class ApplicationSecondFactor extends SecondFactor {
  private readonly calls = new ApplicationCalls('AuthSecondFactor', 'second factor');

  constructor(private readonly secondFactor: SecondFactor | null) {
    super();
  }

  isRequired({ id, username }: IdentifiedUser, client: ClientInfo): boolean | Promise<boolean> {
    const { secondFactor } = this;
    if (!secondFactor) return false;
    return this.calls.call('isRequired', async () =>
      checkedBoolean(await secondFactor.isRequired({ id, username }, client), 'Return true or false.'),
    );
  }
}
