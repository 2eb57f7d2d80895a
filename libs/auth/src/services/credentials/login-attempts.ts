import { Injectable } from '@nestjs/common';
import type { Client, ClientInfo } from '../../domain/client';
import type { AuthError } from '../../domain/errors';
import type { AttemptKeys } from '../../domain/failure-streak';
import { CredentialStore, type FoundCredentials, type StoredUser } from '../../domain/ports/accounts';
import { ClientInspector } from '../sessions/client-inspector';
import { AttemptSlots } from './attempt-slots';
import { FailedAttemptEvents } from './failed-attempt-events';
import { LoginThrottle } from './login-throttle';

/** A login attempt that holds its slots, with the credentials that were found for the entered name. */
export interface LoginAttempt extends FoundCredentials {
  readonly keys: AttemptKeys;
  readonly client: Client;
}

/** The result of verifying a login. */
export type Verdict<T> =
  | { readonly accepted: T }
  /** The error that refuses the login, and the user with the entered name, or null. */
  | { readonly refused: AuthError; readonly user: StoredUser | null };

/** Throttles logins, and counts and reports failed logins. */
@Injectable()
export class LoginAttempts {
  constructor(
    private readonly inspector: ClientInspector,
    private readonly credentials: CredentialStore,
    private readonly slots: AttemptSlots,
    private readonly throttle: LoginThrottle,
    private readonly attemptEvents: FailedAttemptEvents,
  ) {}

  /**
   * Runs `verify`, and counts a failure if `verify` refuses the login. If `verify` accepts the
   * login, it must call `SessionOpening.open` or `LoginTickets.issue` with the keys of the attempt.
   * Both end the failure streaks, even if the session limit refuses the session.
   * @throws AuthError `too_many_attempts` or `busy`, before anything is verified or counted; the error in `refused`
   */
  run<T>(username: string, info: ClientInfo, verify: (attempt: LoginAttempt) => Promise<Verdict<T>>): Promise<T> {
    const client = this.inspector.inspect(info);
    return this.slots.enter(client.network, async () => {
      // The credentials are read before the slots are taken, because failures are counted by the user's id. If the
      // password is replaced in the meantime, the credentials version no longer matches when the session opens.
      const found = await this.credentials.find(username);
      const keys = this.throttle.keysOf(username, found.user, client);
      const verdict = await this.slots.run(this.throttle.slotsOf(keys, found.user, client), async () => {
        const result = await verify({ ...found, keys, client });
        if ('refused' in result) {
          const failure = this.attemptEvents.failureOf(client, username, result.user, 'network');
          await this.slots.storeOutsideTransaction(() => this.throttle.fail(keys, failure));
        }
        return result;
      });
      if ('accepted' in verdict) return verdict.accepted;
      throw verdict.refused;
    });
  }
}
