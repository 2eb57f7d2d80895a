import { Inject, Injectable } from '@nestjs/common';
import type { ClientInfo } from '../adapters/second-factor';
import type { StoredUser } from '../adapters/user-store';
import { type AuthError, invalidAccessToken } from '../base/errors';
import type { Client, OperationContext } from '../history/client';
import type { NewAuthEvent } from '../history/event-log';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from '../options/auth-options';
import type { CurrentSession } from '../sessions/authenticate';
import { SessionLifecycle } from '../sessions/lifecycle';
import { AttemptSlots, type Slots } from '../throttle/attempt-slots';
import { type CountedFailure, PASSWORD_METHOD } from '../throttle/limits';
import { SessionAttemptStore } from '../throttle/sql-session-attempt-store';
import { FailedAttemptEvents } from '../throttle/throttle';

/** An attempt within a session that failed because of a wrong password or code. */
export interface FailedSessionAttempt extends OperationContext {
  readonly sessionId: string;
  readonly method: string;
  readonly throttleFrom: number | false;
  /** Returns the events that record the failure. */
  readonly events: (counted: CountedFailure) => readonly NewAuthEvent[];
}

/** Returns whether the entered secret is correct. */
type Check = (client: Client) => Promise<boolean>;

/** How to verify a password within a session, and what to do if it is correct. */
export interface Confirmation<T> {
  readonly verify: Check;
  readonly work: () => Promise<T>;
  readonly wrongPasswordError: AuthError;
}

/**
 * Throttles the checks of passwords and other secrets within a session. Failures are counted separately from failed
 * logins, so that failed logins do not block a user's open sessions. Failures from all networks count together, so
 * that an attacker with a stolen session gets no more guesses by changing networks.
 */
@Injectable()
export class SessionAttempts {
  constructor(
    @Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions,
    private readonly slots: AttemptSlots,
    private readonly store: SessionAttemptStore,
    private readonly lifecycle: SessionLifecycle,
    private readonly attemptEvents: FailedAttemptEvents,
  ) {}

  /**
   * Runs `work` if the password is correct. The 100th failure of a failure streak ends the
   * session. `work` must issue new tokens for the session, which ends the streak, unless a different
   * method has failed and not succeeded since.
   * @param user the owner of the session
   * @throws AuthError `too_many_attempts` or `busy`, before the password is verified; `access_token_invalid`;
   *   `wrongPasswordError`
   */
  run<T>(
    sessionId: string,
    user: StoredUser,
    info: ClientInfo,
    { verify, work, wrongPasswordError }: Confirmation<T>,
  ): Promise<T> {
    return this.enter(info, async (client) => {
      if (!(await this.check(sessionId, user, client, PASSWORD_METHOD, verify))) throw wrongPasswordError;
      return work();
    });
  }

  /**
   * Checks a secret other than the password. A wrong secret counts in the same failure streak as a wrong password. A
   * correct secret adds the method to the session. The correct secret also ends the streak, unless a different method
   * has failed and not succeeded since.
   * @returns whether the secret is correct
   * @throws AuthError `too_many_attempts` or `busy`, before the secret is verified; `access_token_invalid`
   */
  attempt(
    current: CurrentSession,
    user: StoredUser,
    info: ClientInfo,
    method: string,
    verify: Check,
  ): Promise<boolean> {
    return this.enter(info, async (client) => {
      if (!(await this.check(current.id, user, client, method, verify))) return false;
      const now = this.lifecycle.now();
      if (!(await this.slots.storeOutsideTransaction(() => this.store.recordProof(current, method, now))))
        throw invalidAccessToken();
      return true;
    });
  }

  private enter<T>(info: ClientInfo, work: (client: Client) => Promise<T>): Promise<T> {
    const { client } = this.lifecycle.operationContext(info);
    return this.slots.enter(client.network, () => work(client));
  }

  private check(sessionId: string, user: StoredUser, client: Client, method: string, verify: Check): Promise<boolean> {
    return this.slots.run(this.slotsOf(sessionId), async (release) => {
      const matches = await verify(client);
      // The slot is released before the work runs, because the application may roll back the transaction of the work.
      if (matches) await release();
      else await this.slots.storeOutsideTransaction(() => this.fail(sessionId, client, user, method));
      return matches;
    });
  }

  private slotsOf(sessionId: string): Slots {
    return {
      key: sessionId,
      take: async (now) => {
        const admission = await this.store.admit(sessionId, now);
        if (!admission) throw invalidAccessToken();
        return admission;
      },
      release: (takenAt) => this.store.release(sessionId, takenAt),
    };
  }

  private async fail(sessionId: string, client: Client, user: StoredUser, method: string): Promise<void> {
    const { events, emit } = this.attemptEvents.failureOf(client, user.username, user, 'session');
    const now = this.lifecycle.now();
    const { throttleFrom } = this.options.failedLogins;
    const attempt = { sessionId, method, now, client, throttleFrom };
    const { counted, ended } = await this.store.fail({ ...attempt, events: (result) => events(result, now) });
    emit(counted);
    this.lifecycle.publishSessionEnded(ended, sessionId);
  }
}
