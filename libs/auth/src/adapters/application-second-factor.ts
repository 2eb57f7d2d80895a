import type { ClientInfo } from '../domain/client';
import { type IdentifiedUser, SecondFactor } from '../domain/ports/login-tickets';
import { ApplicationCalls } from './application-calls';
import { checkedBoolean } from './checked-results';

/** Calls the application's `SecondFactor`. If it fails, times out or returns no boolean, the login fails with 503. */
export class ApplicationSecondFactor extends SecondFactor {
  private readonly calls = new ApplicationCalls('AuthSecondFactor', 'second factor');

  constructor(private readonly secondFactor: SecondFactor) {
    super();
  }

  isRequired(user: IdentifiedUser, client: ClientInfo): Promise<boolean> {
    return this.calls.call('isRequired', async () =>
      checkedBoolean(await this.secondFactor.isRequired(user, client), 'Return true or false.'),
    );
  }
}
