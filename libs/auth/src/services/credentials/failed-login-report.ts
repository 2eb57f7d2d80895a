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

/** What is recorded and emitted of a failed attempt. */
export interface Failure {
  /** Whether a user has the name. */
  readonly isKnown: boolean;
  readonly events: (counted: CountedFailure, now: number) => readonly NewAuthEvent[];
  /** Emits the signals, after the commit. */
  readonly emit: (counted: CountedFailure) => void;
}

/** The events and signals of a wrong password, and of the delay and block that it begins. */
@Injectable()
export class FailedLoginReport {
  constructor(
    @Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions,
    private readonly signals: SignalBus,
  ) {}

  /**
   * @param user the user who has the name, if any
   * @param scope where its failures in a row are counted
   */
  of(client: Client, name: string, user: StoredUser | null, scope: BlockScope): Failure {
    const userId = user ? String(user.id) : null;
    // An unknown name may be a password in the wrong field.
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

  private emit({ failureCount, blocks, isHalfway }: CountedFailure, scope: BlockScope, who: Who): void {
    const { username, ipAddress } = who;
    this.signals.emit('login_failed', { ...who, failureCount });
    if (failureCount === this.options.failedLogins.signalAt) {
      this.signals.emit('brute_force_threshold_hit', { username, ipAddress, failureCount, scope });
    }
    if (isHalfway) {
      const ofAccount = { failureCount: HALFWAY_FAILURES, scope: 'account' } as const;
      this.signals.emit('brute_force_threshold_hit', { username, ipAddress, ...ofAccount });
    }
    for (const { scope: blocked, until } of blocks) {
      this.signals.emit('login_blocked', { ...who, scope: blocked, until: until === null ? null : new Date(until) });
    }
  }
}

type Who = Pick<AuthSignals['login_failed'], 'username' | 'userId' | 'ipAddress'>;
