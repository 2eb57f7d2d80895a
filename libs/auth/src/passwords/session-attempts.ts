import { Inject, Injectable } from '@nestjs/common';
import type { StoredUser } from '../adapters/user-store';
import { type AuthError, invalidAccessToken } from '../base/errors';
import type { Client, Operation } from '../history/client';
import type { NewAuthEvent } from '../history/event-log';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from '../options/auth-options';
import type { CurrentSession } from '../sessions/authenticate';
import { Clock } from '../base/clock';
import { Database } from '../database/database';
import { EndSessions } from '../sessions/end-sessions';
import { AttemptSlots, type Slots } from '../throttle/attempt-slots';
import { type CountedFailure, PASSWORD_METHOD } from '../throttle/limits';
import { SessionAttemptStore } from '../throttle/sql-session-attempt-store';
import { FailedAttemptEvents } from '../throttle/throttle';

/** An attempt within a session that failed because of a wrong password or code. */
export interface FailedSessionAttempt {
  readonly now: number;
  readonly client: Client;
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
    private readonly database: Database,
    private readonly endSessions: EndSessions,
    private readonly clock: Clock,
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
    op: Operation,
    { verify, work, wrongPasswordError }: Confirmation<T>,
  ): Promise<T> {
    return this.slots.enter(op.client.network, async () => {
      if (!(await this.check(sessionId, user, op, PASSWORD_METHOD, verify))) throw wrongPasswordError;
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
    op: Operation,
    method: string,
    verify: Check,
  ): Promise<boolean> {
    return this.slots.enter(op.client.network, async () => {
      if (!(await this.check(current.id, user, op, method, verify))) return false;
      const now = this.clock.now();
      if (!(await this.store.recordProof(current, method, now, this.database.outside(op.tx))))
        throw invalidAccessToken();
      return true;
    });
  }

  private check(sessionId: string, user: StoredUser, op: Operation, method: string, verify: Check): Promise<boolean> {
    return this.slots.run(this.slotsOf(sessionId, op), async (release) => {
      const matches = await verify(op.client);
      // The slot is released before the work runs, because the application may roll back the transaction of the work.
      if (matches) await release();
      else await this.fail(sessionId, op, user, method);
      return matches;
    });
  }

  private slotsOf(sessionId: string, op: Operation): Slots {
    const tx = this.database.outside(op.tx);
    return {
      key: sessionId,
      take: async (now) => {
        const admission = await this.store.admit(sessionId, now, tx);
        if (!admission) throw invalidAccessToken();
        return admission;
      },
      release: (takenAt) => this.store.release(sessionId, takenAt, tx),
    };
  }

  private async fail(sessionId: string, op: Operation, user: StoredUser, method: string): Promise<void> {
    const tx = this.database.outside(op.tx);
    const { client } = op;
    const { events, emit } = this.attemptEvents.failureOf(client, user.username, user, 'session');
    const now = this.clock.now();
    const { throttleFrom } = this.options.failedLogins;
    const attempt = { sessionId, method, now, client, throttleFrom };
    const { counted, ended } = await this.store.fail({ ...attempt, events: (result) => events(result, now) }, tx);
    emit(counted, tx);
    this.endSessions.publish(ended, tx, sessionId);
  }
}
