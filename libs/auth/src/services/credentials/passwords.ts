import { Inject, Injectable, Logger, type BeforeApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { assertValidField, invalidField } from '../../domain/errors';
import { FIELD_MESSAGES, passwordProblem } from '../../domain/fields';
import { loggable } from '../../domain/loggable';
import type { StoredUser } from '../../domain/ports/accounts';
import { Clock, Metrics, PasswordHasher } from '../../domain/ports/platform';
import { predictabilityProblem } from '../../domain/predictable-password';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from '../../options/auth-options';
import { OncePerMinute } from '../../domain/once-per-minute';
import { type HashOrigin, WaitQueue } from './wait-queue';

/** Verifies passwords with the same work for every outcome, and checks and hashes new ones. */
@Injectable()
export class Passwords implements OnModuleInit, BeforeApplicationShutdown {
  private readonly logger = new Logger('AuthPasswords');
  private readonly limit: OncePerMinute;
  private dummy: Promise<string> | undefined;
  private readonly unobserve: readonly (() => void)[];

  constructor(
    @Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions,
    private readonly hasher: PasswordHasher,
    private readonly queue: WaitQueue,
    metrics: Metrics,
    clock: Clock,
  ) {
    this.limit = new OncePerMinute(clock);
    this.unobserve = [
      metrics.observe('session_auth.hashing.running', () => queue.load.running),
      metrics.observe('session_auth.hashing.waiting', () => queue.load.waiting),
    ];
  }

  /** Makes the dummy hash, so that the first login takes no longer than the others. */
  async onModuleInit(): Promise<void> {
    await this.dummyHash();
  }

  beforeApplicationShutdown(): void {
    for (const end of this.unobserve) end();
  }

  /**
   * Whether the password is that of the user; null is for one who does not exist or may not log in.
   * @param network that of the login attempt, which has entered the queue
   */
  async verify(
    password: string,
    user: Pick<StoredUser, 'id' | 'passwordHash'> | null,
    network: string,
  ): Promise<boolean> {
    const hash = user?.passwordHash ?? null;
    const isAccepted = hash !== null && this.hasher.accepts(hash);
    const usable = isAccepted && Buffer.byteLength(password) <= this.hasher.maxPasswordBytes;
    const against = usable ? hash : await this.dummyHash();
    // Cut for the dummy only, which nothing matches: a hasher may refuse a longer one without doing the work.
    const given = usable ? password : cut(password, this.hasher.maxPasswordBytes);
    const matches = await this.queue.runHash(() => this.hasher.verify(given, against), { network, hasEntered: true });
    if (user && hash !== null && !isAccepted) this.limit.run(() => this.warnAboutUnknownHash(user));
    return usable && matches;
  }

  /** Whether the hash is weaker than the configured one. */
  needsRehash(hash: string): boolean {
    return this.hasher.needsRehash(hash);
  }

  /** @throws AuthError `invalid_field` for a password that cannot be hashed in full */
  async hash(password: string, field: string, origin?: HashOrigin): Promise<string> {
    this.assertHashable(password, field);
    return this.queue.runHash(() => this.hasher.hash(password), origin);
  }

  /**
   * Hashes a password that meets the policy.
   * @throws AuthError `invalid_field` with the problem
   */
  async hashNew(password: string, field: string, username: string, origin?: HashOrigin): Promise<string> {
    await this.assertAllowed(password, field, username);
    return this.hash(password, field, origin);
  }

  /**
   * Checks a password against the policy: its length, not predictable, and the application's own check; no
   * composition rules. (NIST SP 800-63B-4, 3.1.1.2; ASVS 6.2.1, 6.2.4, 6.2.5)
   * @throws AuthError `invalid_field` with the problem
   */
  async assertAllowed(password: string, field: string, username: string): Promise<void> {
    this.assertHashable(password, field);
    const { minLength, allowPredictable, check } = this.options.passwordPolicy;
    if ([...password].length < minLength) throw invalidField(field, FIELD_MESSAGES.tooShort(minLength));
    if (!allowPredictable) assertValidField(field, predictabilityProblem(password, username));
    const problem = await check?.(password, { username });
    if (problem) throw invalidField(field, problem);
  }

  /** Every password of this user is wrong. The hash itself is never logged: it may be a password in plain text. */
  private warnAboutUnknownHash({ id }: Pick<StoredUser, 'id'>): void {
    this.logger.warn(
      `The password hash of user ${loggable(String(id))} has a format that the configured passwordHasher does not ` +
        'accept, so that no password matches. Configure one that accepts it, such as Argon2PasswordHasher, or ' +
        'MigratingPasswordHasher for the hashes of a former system, or reset the password. A user without a password ' +
        'has null. Logged once a minute.',
    );
  }

  private assertHashable(password: string, field: string): void {
    assertValidField(field, passwordProblem(password));
    const most = this.hasher.maxPasswordBytes;
    if (Buffer.byteLength(password) > most) throw invalidField(field, FIELD_MESSAGES.passwordTooLong(most));
  }

  /** The hash that is verified where there is none to verify. */
  private dummyHash(): Promise<string> {
    this.dummy ??= this.hasher.hash('a password that nobody has');
    return this.dummy;
  }
}

function cut(password: string, bytes: number): string {
  return password.length * 3 <= bytes ? password : password.slice(0, Math.floor(bytes / 3)).toWellFormed();
}
