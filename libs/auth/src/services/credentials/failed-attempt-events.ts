import { Inject, Injectable } from '@nestjs/common';
import type { Client } from '../../domain/client';
import type { NewAuthEvent } from '../../domain/auth-event';
import { HALFWAY_FAILURES, type BlockScope, type CountedFailure } from '../../domain/failure-streak';
import type { StoredUser } from '../../domain/ports/accounts';
import { SignalBus } from '../../domain/ports/events';
import { newEvent } from '../../domain/session-events';
import type { AuthSignals } from '../../domain/signals';
import { maskName } from '../../domain/username';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from '../../options/auth-options';

/** The events to record and the signals to emit for a failed attempt. */
export interface Failure {
  /** Whether a user with this name exists. */
  readonly isKnown: boolean;
  readonly events: (counted: CountedFailure, now: number) => readonly NewAuthEvent[];
  /** Emits the signals. Called after the commit. */
  readonly emit: (counted: CountedFailure) => void;
}

/** Creates the events and signals of a failed attempt, and of the delays and blocks that the attempt starts. */
@Injectable()
export class FailedAttemptEvents {
  constructor(
    @Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions,
    private readonly signals: SignalBus,
  ) {}

  /**
   * Returns the events and signals of a failed attempt.
   * @param user the user with this name, or null
   * @param scope the streak whose length is the `failureCount`: `network` or `session`
   */
  failureOf(client: Client, name: string, user: StoredUser | null, scope: BlockScope): Failure {
    const userId = user ? String(user.id) : null;
    // An unknown name may be a password that was entered in the wrong field.
    const username = user ? name : maskName(name);
    return {
      isKnown: user !== null,
      events: ({ failureCount, blocks }, now) => [
        newEvent('login_failure', userId, client, now, { username, failure_count: failureCount }),
        ...blocks.map((block) => {
          const until = block.until === null ? null : new Date(block.until).toISOString();
          return newEvent('login_blocked', userId, client, now, { scope: block.scope, until });
        }),
      ],
      emit: (counted) => this.emit(counted, scope, { username, userId: user?.id ?? null, ipAddress: client.ipAddress }),
    };
  }

  private emit(
    { failureCount, blocks, isHalfway }: CountedFailure,
    scope: BlockScope,
    identity: AttemptIdentity,
  ): void {
    const { username, ipAddress } = identity;
    this.signals.emit('login_failed', { ...identity, failureCount });
    if (failureCount === this.options.failedLogins.signalAt) {
      this.signals.emit('brute_force_threshold_hit', { username, ipAddress, failureCount, scope });
    }
    if (isHalfway) {
      const halfway = { failureCount: HALFWAY_FAILURES, scope: 'account' } as const;
      this.signals.emit('brute_force_threshold_hit', { username, ipAddress, ...halfway });
    }
    for (const { scope: blocked, until } of blocks) {
      this.signals.emit('login_blocked', {
        ...identity,
        scope: blocked,
        until: until === null ? null : new Date(until),
      });
    }
  }
}

type AttemptIdentity = Pick<AuthSignals['login_failed'], 'username' | 'userId' | 'ipAddress'>;
