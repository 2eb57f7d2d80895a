import { ApplicationCalls } from './application-calls';
import type { StoredUser } from './user-store';

/** The client of a request. */
export interface ClientInfo {
  /** The IP address, such as `request.ip`. Default: unknown. */
  readonly ipAddress?: string | null;
  /** The `User-Agent` header. Default: unknown. */
  readonly userAgent?: string | null;
  /** The realm of the call, with the option `realm`. The library's own routes set it. Default: none. */
  readonly realm?: string | null;
}

/** A user whom the first factor has identified. */
export type IdentifiedUser = Pick<StoredUser, 'id' | 'username'>;

/** Decides who needs a second factor. Set the option `secondFactor` to a class that extends this one, or an instance. */
export abstract class SecondFactor {
  /**
   * Returns whether this user needs a second factor. Called by `login` after the password was verified, and by
   * `openSession` with a ticket that has only one method. If it fails, or takes over 5 seconds, the response is 503.
   * @param client the object that was passed to `login` or `openSession`, with the application's further properties
   */
  abstract isRequired(user: IdentifiedUser, client: ClientInfo): boolean | Promise<boolean>;
}

/** The application's `SecondFactor`, if it has one. */
export class ApplicationSecondFactor extends SecondFactor {
  private readonly calls = new ApplicationCalls('AuthSecondFactor', 'second factor');

  constructor(private readonly secondFactor: SecondFactor | null) {
    super();
  }

  isRequired({ id, username }: IdentifiedUser, client: ClientInfo): boolean | Promise<boolean> {
    const { secondFactor } = this;
    if (!secondFactor) return false;
    return this.calls.callBoolean('isRequired', () => secondFactor.isRequired({ id, username }, client));
  }
}
