import { Inject, Injectable } from '@nestjs/common';
import type { Client, ClientInfo } from '../../domain/client';
import { type AuthError, invalidAccessToken } from '../../domain/errors';
import { SessionAttemptStore, type StoredUser } from '../../domain/ports/accounts';
import type { CurrentSession } from '../../domain/ports/sessions';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from '../../options/auth-options';
import { SessionLifecycle } from '../sessions/session-lifecycle';
import { AttemptSlots, type Slots } from './attempt-slots';
import { FailedLoginReport } from './failed-login-report';

/** Whether what was entered is right. */
type Check = (client: Client) => Promise<boolean>;

/** How to confirm a password within a session, and what to do if it is correct. */
export interface Confirmation<T> {
  readonly verify: Check;
  readonly work: () => Promise<T>;
  /** The error for a wrong password. */
  readonly wrong: AuthError;
}

/**
 * Throttles password confirmations within a session. They are counted separately from logins: failed logins do not block the
 * open sessions of a user, and whoever steals a session gains no further guesses by changing networks.
 */
@Injectable()
export class SessionAttempts {
  constructor(
    @Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions,
    private readonly slots: AttemptSlots,
    private readonly store: SessionAttemptStore,
    private readonly lifecycle: SessionLifecycle,
    private readonly report: FailedLoginReport,
  ) {}

  /**
   * Runs `work` if the password is correct. A wrong password is counted; the 100th in a row ends the session.
   * `work` issues new tokens for the session, which ends its failure streak.
   * @param user the owner of the session
   * @throws AuthError `too_many_attempts` or `busy`, before the password is verified; `access_token_invalid`; `wrong`
   */
  run<T>(sessionId: string, user: StoredUser, info: ClientInfo, { verify, work, wrong }: Confirmation<T>): Promise<T> {
    return this.enter(info, async (client) => {
      if (!(await this.check(sessionId, user, client, verify))) throw wrong;
      return work();
    });
  }

  /**
   * Runs the check of another secret of the session's user, counted in the same streak. A right one adds the method to the
   * session and ends the streak.
   * @returns whether it was right
   * @throws AuthError as `run`
   */
  attempt(
    current: CurrentSession,
    user: StoredUser,
    info: ClientInfo,
    method: string,
    verify: Check,
  ): Promise<boolean> {
    return this.enter(info, async (client) => {
      if (!(await this.check(current.id, user, client, verify))) return false;
      const now = this.lifecycle.now();
      if (!(await this.slots.settle(() => this.store.prove(current, method, now)))) throw invalidAccessToken();
      return true;
    });
  }

  private enter<T>(info: ClientInfo, work: (client: Client) => Promise<T>): Promise<T> {
    const { client } = this.lifecycle.operationContext(info);
    return this.slots.enter(client.network, () => work(client));
  }

  private check(sessionId: string, user: StoredUser, client: Client, verify: Check): Promise<boolean> {
    return this.slots.run(this.slotsOf(sessionId), async (release) => {
      const matches = await verify(client);
      // Released before what follows, because the application may roll back the transaction that it takes part in.
      if (matches) await release();
      else await this.slots.settle(() => this.fail(sessionId, client, user));
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

  private async fail(sessionId: string, client: Client, user: StoredUser): Promise<void> {
    const { events, emit } = this.report.of(client, user.username, user, 'session');
    const now = this.lifecycle.now();
    const { throttleFrom } = this.options.failedLogins;
    const attempt = { sessionId, now, client, throttleFrom };
    const { counted, ended } = await this.store.fail({ ...attempt, events: (result) => events(result, now) });
    emit(counted);
    this.lifecycle.publishSessionEnded(ended, sessionId);
  }
}
