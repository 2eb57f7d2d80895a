import { Inject, Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { PasswordHasher } from '../adapters/password-hasher';
import type { StoredUser } from '../adapters/user-store';
import { Clock, OncePerMinute } from '../base/clock';
import { assertValidField, invalidField, tooBusy } from '../base/errors';
import { loggable } from '../base/failures';
import { FIELD_MESSAGES, passwordProblem } from '../base/fields';
import { Metrics } from '../base/telemetry';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from '../options/auth-options';
import { predictabilityProblem } from './password-policy';

/**
 * Queues the password hashes of this process. The capacity is bounded, and one network can use at most half of it.
 * Among the hashes that wait, the networks take turns. Password hashes usually run on libuv's thread pool: without a
 * bound, many parallel hashes would delay file access and DNS lookups. (ASVS 15.1.3)
 */
@Injectable()
export class HashQueue {
  /** The callbacks that start the hashes that wait, by network. The first network is next. */
  private readonly waiting = new Map<string, (() => void)[]>();
  /** The number of callers inside `enter`, by network. */
  private readonly entered = new Map<string, number>();
  private readonly capacity: number;
  private enteredCount = 0;
  private running = 0;

  constructor(@Inject(AUTH_OPTIONS) private readonly options: Pick<ResolvedAuthOptions, 'hashing'>) {
    this.capacity = options.hashing.concurrent + options.hashing.waiting;
  }

  get load(): { readonly running: number; readonly waiting: number } {
    return { running: this.running, waiting: [...this.waiting.values()].flat().length };
  }

  /**
   * Runs work that may hash any number of passwords. The work must not call `enter` again.
   * @throws AuthError `busy` if the queue is at capacity, or if the network already uses half of the capacity
   */
  async enter<T>(network: string, work: () => Promise<T>): Promise<T> {
    const ofNetwork = this.entered.get(network) ?? 0;
    if (this.enteredCount >= this.capacity || ofNetwork >= Math.floor(this.capacity / 2)) throw tooBusy();
    this.enteredCount++;
    this.entered.set(network, ofNetwork + 1);
    try {
      return await work();
    } finally {
      this.enteredCount--;
      const left = this.entered.get(network)! - 1;
      if (left > 0) this.entered.set(network, left);
      else this.entered.delete(network);
    }
  }

  /** Runs a password hash within `enter`, after a wait if `concurrent` hashes are already running. */
  async runHash<T>(network: string, work: () => Promise<T>): Promise<T> {
    if (this.running < this.options.hashing.concurrent) this.running++;
    else await new Promise<void>((start) => this.waiting.set(network, [...(this.waiting.get(network) ?? []), start]));
    try {
      return await work();
    } finally {
      // The next hash takes over the slot of this one, so that no new caller can overtake it.
      if (!this.startNext()) this.running--;
    }
  }

  /** Starts the hash that has waited longest in the network that is next in turn. Returns false if none waits. */
  private startNext(): boolean {
    const [next] = this.waiting;
    if (!next) return false;
    const [network, [start, ...others]] = next;
    // Moves the network to the end of the map, so that all other networks are served before its next turn.
    this.waiting.delete(network);
    if (others.length > 0) this.waiting.set(network, others);
    start!();
    return true;
  }
}

@Injectable()
export class Passwords implements OnModuleInit {
  private readonly logger = new Logger('AuthPasswords');
  private readonly warningLimit;
  private dummyHash: Promise<string> | undefined;

  constructor(
    @Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions,
    private readonly hasher: PasswordHasher,
    private readonly queue: HashQueue,
    metrics: Metrics,
    clock: Clock,
  ) {
    this.warningLimit = new OncePerMinute(clock);
    metrics.observe('session_auth.hashing.running', () => queue.load.running);
    metrics.observe('session_auth.hashing.waiting', () => queue.load.waiting);
  }

  /** Starts the dummy hash, for which the first logins wait, whether or not their names exist. */
  onModuleInit(): void {
    this.hashDummy().catch(() => undefined);
  }

  /**
   * Returns whether the password is correct. Verifies exactly one hash: the user's, or a dummy hash if there is no user
   * or the user's hash cannot be used. Call this method within `HashQueue.enter`.
   */
  async verify(password: string, user: StoredUser | null, network: string): Promise<boolean> {
    const hash = user?.passwordHash ?? null;
    const dummyHash = await this.hashDummy();
    const isAccepted = hash !== null && this.hasher.accepts(hash);
    const usable = isAccepted && Buffer.byteLength(password) <= this.hasher.maxPasswordBytes;
    // For the dummy hash, the password is truncated, because a hasher may refuse a longer one without doing any work.
    const passwordToVerify = usable ? password : truncate(password, this.hasher.maxPasswordBytes);
    const verify = (): Promise<boolean> => this.hasher.verify(passwordToVerify, usable ? hash : dummyHash);
    const matches = await this.queue.runHash(network, verify);
    if (user && hash !== null && !isAccepted) this.warningLimit.run(() => this.warnAboutUnknownHash(user));
    return usable && matches;
  }

  needsRehash(hash: string): boolean {
    return this.hasher.needsRehash(hash);
  }

  /**
   * @param network the client's network. Clients without one share the limit of one network
   * @param hasEntered whether the caller is already inside `HashQueue.enter`
   * @throws AuthError `busy`; `invalid_field` if the password is invalid, or too long to be hashed in full
   */
  async hash(password: string, field: string, network: string, hasEntered = false): Promise<string> {
    this.assertHashable(password, field);
    const hash = (): Promise<string> => this.queue.runHash(network, () => this.hasher.hash(password));
    return hasEntered ? hash() : this.queue.enter(network, hash);
  }

  /**
   * Checks a password against the policy: its length, its predictability, and the application's own check. There are
   * no composition rules. (NIST SP 800-63B-4, 3.1.1.2; ASVS 6.2.1, 6.2.4, 6.2.5)
   * @throws AuthError `invalid_field` if the password violates the policy or cannot be hashed
   */
  async assertAllowed(password: string, field: string, names: readonly string[]): Promise<void> {
    this.assertHashable(password, field);
    const { minLength, allowPredictable, check } = this.options.passwordPolicy;
    if ([...password].length < minLength) throw invalidField(field, FIELD_MESSAGES.tooShort(minLength));
    if (!allowPredictable) assertValidField(field, predictabilityProblem(password, names));
    assertValidField(field, (await check?.(password, { username: names[0]! })) ?? null);
  }

  /** Does not log the hash, because the stored text may be a password in plain text. */
  private warnAboutUnknownHash({ id }: StoredUser): void {
    this.logger.warn(
      `The password hash of user ${loggable(String(id))} has a format or a cost that the configured passwordHasher does ` +
        'not accept, so no password matches it. Configure a passwordHasher that accepts it (for example ' +
        'Argon2PasswordHasher, or MigratingPasswordHasher for the hashes of a previous system), or reset the ' +
        'password. For a user without a password, store null. This warning is logged at most once a minute.',
    );
  }

  private assertHashable(password: string, field: string): void {
    assertValidField(field, passwordProblem(password));
    const maxBytes = this.hasher.maxPasswordBytes;
    if (Buffer.byteLength(password) > maxBytes) throw invalidField(field, FIELD_MESSAGES.passwordTooLong(maxBytes));
  }

  private hashDummy(): Promise<string> {
    this.dummyHash ??= this.hasher.hash('a password that nobody has').catch((error: unknown) => {
      this.dummyHash = undefined;
      throw error;
    });
    return this.dummyHash;
  }
}

function truncate(password: string, bytes: number): string {
  return password.length * 3 <= bytes ? password : password.slice(0, Math.floor(bytes / 3)).toWellFormed();
}
