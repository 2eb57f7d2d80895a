import { Injectable } from '@nestjs/common';
import type { Client, ClientInfo } from '../../domain/client';
import type { AuthError } from '../../domain/errors';
import type { AttemptKeys } from '../../domain/failure-streak';
import { CredentialStore, type FoundCredentials, type StoredUser } from '../../domain/ports/accounts';
import { ClientInspector } from '../sessions/client-inspector';
import { AttemptSlots } from './attempt-slots';
import { FailedLoginReport } from './failed-login-report';
import { LoginThrottle } from './login-throttle';

/** A login whose slots are taken: what its name leads to is verified now. */
export interface LoginAttempt extends FoundCredentials {
  readonly keys: AttemptKeys;
  readonly client: Client;
}

/** The result of a verification. */
export type Verdict<T> =
  | { readonly right: T }
  /** The error to refuse it with, and the user who has the name, if any. */
  | { readonly wrong: AuthError; readonly user: StoredUser | null };

/** Throttles logins, and has those counted and reported whose password is wrong. */
@Injectable()
export class LoginAttempts {
  constructor(
    private readonly inspector: ClientInspector,
    private readonly credentials: CredentialStore,
    private readonly slots: AttemptSlots,
    private readonly throttle: LoginThrottle,
    private readonly report: FailedLoginReport,
  ) {}

  /**
   * Runs the verification of one password, and counts it if it was wrong. A right one ends the
   * failure streaks when a session is opened with the attempt's keys.
   * @throws AuthError `too_many_attempts`, before anything is verified or counted
   */
  run<T>(username: string, info: ClientInfo, verify: (attempt: LoginAttempt) => Promise<Verdict<T>>): Promise<T> {
    const client = this.inspector.inspect(info);
    return this.slots.enter(client.network, async () => {
      // Read first, because failures count by the user's id. Read again it is not: a password that is replaced meanwhile is
      // noticed by its version when the session opens.
      const found = await this.credentials.find(username);
      const keys = this.throttle.keysOf(username, found.user, client);
      const verdict = await this.slots.run(this.throttle.slotsOf(keys, found.user, client), async () => {
        const result = await verify({ ...found, keys, client });
        if ('wrong' in result) {
          const failure = this.report.of(client, username, result.user, 'network');
          await this.slots.settle(() => this.throttle.fail(keys, failure));
        }
        return result;
      });
      if ('right' in verdict) return verdict.right;
      throw verdict.wrong;
    });
  }
}
