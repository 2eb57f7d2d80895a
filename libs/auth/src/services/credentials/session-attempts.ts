import { Inject, Injectable } from '@nestjs/common';
import type { Client, ClientInfo } from '../../domain/client';
import { type AuthError, invalidAccessToken } from '../../domain/errors';
import { SessionAttemptStore, type StoredUser } from '../../domain/ports/accounts';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from '../../options/auth-options';
import { SessionLifecycle } from '../sessions/session-lifecycle';
import { AttemptSlots, type Slots } from './attempt-slots';
import { FailedLoginReport } from './failed-login-report';

/** How to confirm a password within a session, and what to do if it is correct. */
export interface Confirmation<T> {
  readonly verify: (client: Client) => Promise<boolean>;
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
    const { client } = this.lifecycle.operationContext(info);
    return this.slots.enter(client.network, async () => {
      const isRight = await this.slots.run(this.slotsOf(sessionId), async (release) => {
        const matches = await verify(client);
        // Released before `work`, because the application may roll back the transaction that `work` takes part in.
        if (matches) await release();
        else await this.slots.settle(() => this.fail(sessionId, client, user));
        return matches;
      });
      if (!isRight) throw wrong;
      return work();
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
