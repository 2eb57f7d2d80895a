import { type BeforeApplicationShutdown, Inject, Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { PasswordHasher } from '../adapters/password-hasher';
import type { StoredUser } from '../adapters/user-store';
import { Clock, OncePerMinute } from '../base/clock';
import { assertValidField, invalidField } from '../base/errors';
import { loggable } from '../base/failures';
import { FIELD_MESSAGES, passwordProblem } from '../base/fields';
import { Metrics } from '../base/telemetry';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from '../options/auth-options';
import { type HashOrigin, HashQueue } from './hash-queue';
import { predictabilityProblem } from './password-policy';

/**
 * Verifies passwords, and checks and hashes new passwords. Each verification verifies exactly one hash: the user's
 * hash, or a dummy hash if the user's hash cannot be used.
 */
@Injectable()
export class Passwords implements OnModuleInit, BeforeApplicationShutdown {
  private readonly logger = new Logger('AuthPasswords');
  private readonly warningLimit;
  private dummyHash: Promise<string> | undefined;
  private readonly stopObserving;

  constructor(
    @Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions,
    private readonly hasher: PasswordHasher,
    private readonly queue: HashQueue,
    metrics: Metrics,
    clock: Clock,
  ) {
    this.warningLimit = new OncePerMinute(clock);
    this.stopObserving = [
      metrics.observe('session_auth.hashing.running', () => queue.load.running),
      metrics.observe('session_auth.hashing.waiting', () => queue.load.waiting),
    ];
  }

  /** Starts the dummy hash, for which the first logins wait, whether or not their names exist. */
  onModuleInit(): void {
    this.hashDummy().catch(() => undefined);
  }

  beforeApplicationShutdown(): void {
    for (const stop of this.stopObserving) stop();
  }

  /**
   * Returns whether the password is correct. Call this method within `HashQueue.enter`.
   * @param user the user, or null if the user does not exist or may not log in. If null, a dummy hash is verified
   * @param network the network of the attempt
   */
  async verify(password: string, user: StoredUser | null, network: string): Promise<boolean> {
    const hash = user?.passwordHash ?? null;
    const dummyHash = await this.hashDummy();
    const isAccepted = hash !== null && this.hasher.accepts(hash);
    const usable = isAccepted && Buffer.byteLength(password) <= this.hasher.maxPasswordBytes;
    // For the dummy hash, the password is truncated, because a hasher may refuse a longer one without doing any work.
    const passwordToVerify = usable ? password : truncate(password, this.hasher.maxPasswordBytes);
    const verify = (): Promise<boolean> => this.hasher.verify(passwordToVerify, usable ? hash : dummyHash);
    const matches = await this.queue.runHash(verify, { network, hasEntered: true });
    if (user && hash !== null && !isAccepted) this.warningLimit.run(() => this.warnAboutUnknownHash(user));
    return usable && matches;
  }

  /** Returns whether the hash is weaker than a new hash. */
  needsRehash(hash: string): boolean {
    return this.hasher.needsRehash(hash);
  }

  /**
   * Hashes a password.
   * @throws AuthError `busy`; `invalid_field` if the password is not a valid string, or is too long to be hashed in full
   */
  async hash(password: string, field: string, origin?: HashOrigin): Promise<string> {
    this.assertHashable(password, field);
    return this.queue.runHash(() => this.hasher.hash(password), origin);
  }

  /** Calls `assertAllowed` and `hash`. */
  async hashNew(password: string, field: string, username: string, origin?: HashOrigin): Promise<string> {
    await this.assertAllowed(password, field, username);
    return this.hash(password, field, origin);
  }

  /**
   * Checks a password against the policy: its length, its predictability, and the application's own check. There are
   * no composition rules. (NIST SP 800-63B-4, 3.1.1.2; ASVS 6.2.1, 6.2.4, 6.2.5)
   * @throws AuthError `invalid_field` if the password violates the policy or cannot be hashed
   */
  async assertAllowed(password: string, field: string, username: string): Promise<void> {
    this.assertHashable(password, field);
    const { minLength, allowPredictable, check } = this.options.passwordPolicy;
    if ([...password].length < minLength) throw invalidField(field, FIELD_MESSAGES.tooShort(minLength));
    if (!allowPredictable) assertValidField(field, predictabilityProblem(password, username));
    const problem = await check?.(password, { username });
    if (problem) throw invalidField(field, problem);
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

  /** Returns the hash that is verified if the password cannot be verified against a user's hash. */
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
