import { Logger } from '@nestjs/common';
import type { Client, ClientInfo } from '../domain/client';
import { AuthError, invalidField } from '../domain/errors';
import { passwordProblem, usernameProblem } from '../domain/fields';
import type { CredentialStore } from '../domain/ports/credential-store';
import type { Clock } from '../domain/ports/clock';
import type { PasswordHasher } from '../domain/ports/password-hasher';
import type { LoginFailureStore } from '../domain/ports/session-store';
import type { SignalBus } from '../domain/ports/signal-bus';
import type { StoredUser, UserStore } from '../domain/ports/user-store';
import type { OpenedSession } from '../domain/token-pair';
import { foldName, maskName, USERNAME_LENGTH } from '../domain/username';
import type { ResolvedAuthOptions } from '../options/auth-options';
import type { ClientInspector } from './client-inspector';
import type { PasswordVerifier } from './password-verifier';
import type { SessionOpening } from './session-opening';
import type { TokenIssuer } from './token-issuer';

/** A name and password as they were given. */
export interface Credentials {
  readonly username: string;
  readonly password: string;
}

/** Login by name and password, and the count of those that failed. */
export class Login {
  private readonly logger = new Logger('AuthLogin');

  constructor(
    private readonly options: ResolvedAuthOptions,
    private readonly clock: Clock,
    private readonly tokens: TokenIssuer,
    private readonly inspector: ClientInspector,
    private readonly credentials: CredentialStore,
    private readonly users: UserStore,
    private readonly hasher: PasswordHasher,
    private readonly verifier: PasswordVerifier,
    private readonly failures: LoginFailureStore,
    private readonly opening: SessionOpening,
    private readonly signals: SignalBus,
  ) {}

  async login({ username, password }: Credentials, info: ClientInfo): Promise<OpenedSession> {
    refuseField('username', usernameProblem(username, USERNAME_LENGTH));
    refuseField('password', passwordProblem(password));
    const client = this.inspector.inspect(info);
    const { user, version } = await this.credentials.find(username);
    const matches = await this.verifier.verify(password, user?.active ? user.passwordHash : null);
    const failureKey = this.failureKey(username, info);
    if (matches && user) {
      const opened = await this.opening.open(user.id, client, { credentialsVersion: version, failureKey });
      if (opened) {
        await this.raiseHash(user, password);
        return opened;
      }
    }
    await this.recordFailure(username, user, client, info);
    throw new AuthError('invalid_credentials', 'Invalid credentials.');
  }

  /** Counts a failure for a name, and tells it. */
  async recordFailure(username: string, user: StoredUser | null, client: Client, info: ClientInfo): Promise<void> {
    const now = this.clock.now();
    // The log keeps what an unknown name was typed for no longer than it takes to mask it.
    const shown = user ? username : maskName(username);
    const failureCount = await this.failures.record({
      key: this.failureKey(username, info),
      now,
      windowMs: this.options.failedLogins.windowSeconds * 1000,
      event: (count) => ({
        event: 'login_failure',
        userId: user ? String(user.id) : null,
        ipAddress: client.ipAddress,
        userAgent: client.userAgent,
        extra: { username: shown, failure_count: count },
        at: now,
      }),
    });
    const { ipAddress } = client;
    this.signals.emit('login_failed', { username, userId: user?.id ?? null, ipAddress, failureCount });
    if (failureCount === this.options.failedLogins.signalAt) {
      this.signals.emit('brute_force_threshold_hit', { username, ipAddress, failureCount });
    }
  }

  /** One name, in the form that names are compared in, from one network. */
  private failureKey(username: string, info: ClientInfo): string {
    const name = foldName(username, this.options.nameMatching);
    return this.tokens.digest(`${this.inspector.networkOf(info)}\0${name}`);
  }

  /** A weaker hash is replaced while the password is at hand. That it cannot be is no reason to refuse the login. */
  private async raiseHash(user: StoredUser, password: string): Promise<void> {
    const { passwordHash } = user;
    if (passwordHash === null || !this.users.setPasswordHash || !this.hasher.needsRehash(passwordHash)) return;
    try {
      await this.users.setPasswordHash(user.id, await this.verifier.hash(password), passwordHash);
    } catch {
      this.logger.warn('A password hash could not be raised to the configured cost; the next login tries again.');
    }
  }
}

export function refuseField(field: string, problem: string | null): void {
  if (problem) throw invalidField(field, problem);
}
