import { Inject, Injectable } from '@nestjs/common';
import type { Client } from '../../domain/client';
import type { Admission, AttemptKeys, StreakLimits } from '../../domain/failure-streak';
import { LoginAttemptStore, type StoredUser, type UserId } from '../../domain/ports/accounts';
import { Clock, CryptoSource } from '../../domain/ports/platform';
import { PASSWORD_METHOD } from '../../domain/proofs';
import { foldName } from '../../domain/username';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from '../../options/auth-options';
import type { Slots } from './attempt-slots';
import type { Failure } from './failed-attempt-events';

/**
 * Throttles failed logins, and failed attempts with login tickets, per account and method. An account is a user, or a
 * username that belongs to no user. Each failure counts toward two failure streaks: the account's streak in the
 * client's network, and the account's streak across all networks.
 */
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
   * Returns the keys of the failure streaks that count a login by password.
   * @param username the name as it was entered
   * @param user the user with that name, or null
   */
  keysOf(username: string, user: StoredUser | null, { network }: Pick<Client, 'network'>): AttemptKeys {
    const account = user ? userAccount(user.id) : `name\0${foldName(username, this.options.nameMatching)}`;
    const owner = this.accountKeyOf(account);
    return { network: this.networkKeyOf(network, account), account: owner, owner, method: PASSWORD_METHOD };
  }

  /** Returns the keys of the failure streaks that count a user's attempts with one method. */
  keysOfMethod(method: string, user: StoredUser, client: Pick<Client, 'network'>): AttemptKeys {
    const passwordKeys = this.keysOf(user.username, user, client);
    if (method === PASSWORD_METHOD) return passwordKeys;
    const account = `method\0${method}\0${String(user.id)}`;
    const network = this.networkKeyOf(client.network, account);
    return { network, account: this.accountKeyOf(account), owner: passwordKeys.owner, method };
  }

  /**
   * Returns the slots that an attempt needs: one in the account's streak in the client's network, and one in the
   * account's streak across all networks. With `throttleFrom: false`, an attempt needs no slots.
   */
  slotsOf(keys: AttemptKeys, user: StoredUser | null, client: Pick<Client, 'trackedNetwork'>): Slots {
    const key = keys.network;
    if (this.limits.throttleFrom === false) {
      return { key, take: () => Promise.resolve({ kind: 'admitted' }), release: () => Promise.resolve() };
    }
    const isExempt = once(() => this.isFamiliar(user, client));
    const admit = (now: number, enforceAccountLimits: boolean): Promise<Admission> =>
      this.store.admit({ ...keys, now, limits: this.limits, enforceAccountLimits });
    return {
      key,
      take: async (now) => {
        const admission = await admit(now, true);
        const isAccountLimit = admission.kind !== 'admitted' && admission.scope === 'account';
        return isAccountLimit && (await isExempt()) ? admit(now, false) : admission;
      },
      release: () => this.store.release(keys),
    };
  }

  /** Counts a failed attempt, records its events and emits its signals. */
  async fail(keys: AttemptKeys, { isKnown, events, emit }: Failure): Promise<void> {
    const now = this.clock.now();
    const attempt = { ...keys, now, limits: this.limits, isKnown };
    emit(await this.store.fail({ ...attempt, events: (counted) => events(counted, now) }));
  }

  /** Resets a user's failure streaks of every method. Takes part in the application's transaction, if there is one. */
  resetUser(id: UserId): Promise<void> {
    return this.store.reset(this.accountKeyOf(userAccount(id)));
  }

  /**
   * Resets a user's failure streaks for passwords. The streaks of other methods continue, because a password reset
   * must not allow more guesses with other methods.
   */
  resetPasswordStreaks(id: UserId): Promise<void> {
    return this.store.reset(this.accountKeyOf(userAccount(id)), PASSWORD_METHOD);
  }

  /** Resets all failure streaks of a name, and of the user with that name. */
  async reset(username: string, user: StoredUser | null): Promise<void> {
    await this.store.reset(this.keysOf(username, null, { network: '' }).account);
    if (user) await this.resetUser(user.id);
  }

  /**
   * Returns whether the client is exempt from the account limits, because its network is familiar
   * to the user. With `accountBlock: 'strict'`, no client is exempt. The query also runs for
   * unknown names, so that the response time does not reveal whether a name exists.
   */
  private isFamiliar(user: StoredUser | null, { trackedNetwork }: Pick<Client, 'trackedNetwork'>): Promise<boolean> {
    if (this.limits.accountBlock !== 'unfamiliar' || trackedNetwork === '') return Promise.resolve(false);
    return this.store.isFamiliar(user?.id ?? null, trackedNetwork);
  }

  private networkKeyOf(network: string, account: string): string {
    return this.crypto.sha256(`${network}\0${account}`);
  }

  /** Returns the key of the account's streak across all networks. */
  private accountKeyOf(account: string): string {
    return this.crypto.sha256(`*\0${account}`);
  }
}

/**
 * Returns the text that identifies a user's account. Unknown names have a different prefix, so that no name can
 * produce a user's key.
 */
function userAccount(id: UserId): string {
  return `user\0${String(id)}`;
}

/** Returns a function that calls `load` on its first call, and returns the same promise on every call. */
function once<T>(load: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined;
  return () => (result ??= load());
}
