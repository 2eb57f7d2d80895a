import { Inject, Injectable } from '@nestjs/common';
import type { Client } from '../../domain/client';
import type { Admission, AttemptKeys, StreakLimits } from '../../domain/failure-streak';
import { LoginAttemptStore, type StoredUser, type UserId } from '../../domain/ports/accounts';
import { Clock, CryptoSource } from '../../domain/ports/platform';
import { foldName } from '../../domain/username';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from '../../options/auth-options';
import type { Slots } from './attempt-slots';
import type { Failure } from './failed-login-report';

/** Counts failed logins: by the user's id, or by the name where nobody has it; from each network, and from anywhere. */
@Injectable()
export class LoginThrottle {
  private readonly limits: StreakLimits;

  constructor(
    @Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions,
    private readonly clock: Clock,
    private readonly crypto: CryptoSource,
    private readonly store: LoginAttemptStore,
  ) {
    const { throttleFrom, windowSeconds, accountBlock } = options.failedLogins;
    const isThrottled = throttleFrom !== false;
    this.limits = { throttleFrom, windowMs: windowSeconds * 1000, accountBlock: isThrottled && accountBlock };
  }

  /**
   * The keys under which an attempt counts.
   * @param username as given
   * @param user who has the name, if anybody does
   */
  keysOf(username: string, user: StoredUser | null, { network }: Pick<Client, 'network'>): AttemptKeys {
    const account = user ? userAccount(user.id) : `name\0${foldName(username, this.options.nameMatching)}`;
    return { network: this.crypto.sha256(`${network}\0${account}`), account: this.keyOf(account) };
  }

  /** The slots of an attempt: one of the account from the network, and one from anywhere. */
  slotsOf(keys: AttemptKeys, user: StoredUser | null, client: Pick<Client, 'trackedNetwork'>): Slots {
    const key = keys.network;
    if (this.limits.throttleFrom === false) {
      return { key, take: () => Promise.resolve({ kind: 'admitted' }), release: () => Promise.resolve() };
    }
    const isExempt = once(() => this.isFamiliar(user, client));
    const admit = (now: number, isAccountBound: boolean): Promise<Admission> =>
      this.store.admit({ ...keys, now, limits: this.limits, isAccountBound });
    return {
      key,
      take: async (now) => {
        const admission = await admit(now, true);
        const isOfAccount = admission.kind !== 'admitted' && admission.scope === 'account';
        return isOfAccount && (await isExempt()) ? admit(now, false) : admission;
      },
      release: () => this.store.release(keys),
    };
  }

  /** Counts, records and reports a failure. */
  async fail(keys: AttemptKeys, { isKnown, events, emit }: Failure): Promise<void> {
    const now = this.clock.now();
    const attempt = { ...keys, now, limits: this.limits, isKnown };
    emit(await this.store.fail({ ...attempt, events: (counted) => events(counted, now) }));
  }

  /** Ends all failure streaks of a user, as a part of the application's transaction. */
  resetUser(id: UserId): Promise<void> {
    return this.store.reset(this.keyOf(userAccount(id)));
  }

  /** The same for a name, and for the user who has it. */
  async reset(username: string, user: StoredUser | null): Promise<void> {
    await this.store.reset(this.keysOf(username, null, { network: '' }).account);
    if (user) await this.resetUser(user.id);
  }

  /** Whether the account's limits do not concern attempts of this client. Asked for unknown names as well. */
  private isFamiliar(user: StoredUser | null, { trackedNetwork }: Pick<Client, 'trackedNetwork'>): Promise<boolean> {
    if (this.limits.accountBlock !== 'unfamiliar' || trackedNetwork === '') return Promise.resolve(false);
    return this.store.isFamiliar(user?.id ?? null, trackedNetwork);
  }

  private keyOf(account: string): string {
    return this.crypto.sha256(`*\0${account}`);
  }
}

/** Apart from every name, so that nobody can take the place of a user by the choice of a name. */
function userAccount(id: UserId): string {
  return `user\0${String(id)}`;
}

/** Asks the first time only. */
function once<T>(ask: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | undefined;
  return () => (answer ??= ask());
}
