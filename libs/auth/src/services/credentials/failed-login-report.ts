import { Inject, Injectable } from '@nestjs/common';
import type { Client } from '../../domain/client';
import type { CountedFailure } from '../../domain/failure-streak';
import type { StoredUser } from '../../domain/ports/accounts';
import { SignalBus } from '../../domain/ports/events';
import { newEvent } from '../../domain/session-events';
import type { AuthSignals } from '../../domain/signals';
import { maskName } from '../../domain/username';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from '../../options/auth-options';
import type { Failure } from './attempt-slots';

/** The events and signals of a wrong password, and of the delay and block that it begins. */
@Injectable()
export class FailedLoginReport {
  constructor(
    @Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions,
    private readonly signals: SignalBus,
  ) {}

  /** @param user the user who has the name, if any */
  of(client: Client, name: string, user: StoredUser | null): Failure {
    const userId = user ? String(user.id) : null;
    // An unknown name may be a password in the wrong field.
    const username = user ? name : maskName(name);
    return {
      isKnown: user !== null,
      events: ({ streaks, blocks }, now) => [
        newEvent('login_failure', userId, client, now, { username, failure_count: streaks.network.failures }),
        ...blocks.map(({ scope, until }) =>
          newEvent('login_blocked', userId, client, now, { scope, until: until && new Date(until).toISOString() }),
        ),
      ],
      emit: (counted) => this.emit(counted, { username, userId: user?.id ?? null, ipAddress: client.ipAddress }),
    };
  }

  private emit({ streaks, blocks, isHalfway }: CountedFailure, who: Who): void {
    const failureCount = streaks.network.failures;
    const { username, ipAddress } = who;
    this.signals.emit('login_failed', { ...who, failureCount });
    if (failureCount === this.options.failedLogins.signalAt) {
      this.signals.emit('brute_force_threshold_hit', { username, ipAddress, failureCount, scope: 'network' });
    }
    if (isHalfway) {
      const ofAccount = { failureCount: streaks.name.failures, scope: 'account' } as const;
      this.signals.emit('brute_force_threshold_hit', { username, ipAddress, ...ofAccount });
    }
    for (const { scope, until } of blocks) {
      this.signals.emit('login_blocked', { ...who, scope, until: until === null ? null : new Date(until) });
    }
  }
}

type Who = Pick<AuthSignals['login_failed'], 'username' | 'userId' | 'ipAddress'>;
