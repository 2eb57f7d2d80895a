import { Inject, Injectable } from '@nestjs/common';
import type { Client, ClientInfo } from '../../domain/client';
import { type AuthError, invalidAccessToken } from '../../domain/errors';
import { SessionAttemptStore, type StoredUser } from '../../domain/ports/accounts';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from '../../options/auth-options';
import { SessionLifecycle } from '../sessions/session-lifecycle';
import { AttemptSlots, type Slots } from './attempt-slots';
import { FailedLoginReport } from './failed-login-report';

/** A password that is confirmed within a session. */
export interface Confirmation<T> {
  readonly verify: (client: Client) => Promise<boolean>;
  readonly work: () => Promise<T>;
  /** The error for a wrong password. */
  readonly wrong: AuthError;
}

/**
 * Throttles the passwords that are confirmed within a session, apart from logins: strangers who guess at the account do not
 * lock its owner's session, and a thief who holds one gets no more guesses from other networks.
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
   * Runs `work` if the password is right. A wrong one is counted; the 100th in a row ends the session.
   * `work` issues new tokens for the session, which ends its failure streak.
   * @param user whose password it is
   * @throws AuthError `too_many_attempts`, before anything is verified or counted; `access_token_invalid`
   */
  run<T>(sessionId: string, user: StoredUser, info: ClientInfo, { verify, work, wrong }: Confirmation<T>): Promise<T> {
    const { client } = this.lifecycle.operationContext(info);
    return this.slots.enter(client.network, async () => {
      const isRight = await this.slots.run(this.slotsOf(sessionId), async (release) => {
        const matches = await verify(client);
        // Released before the work, which may be part of a transaction of the application that is rolled back.
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
