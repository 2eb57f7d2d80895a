import { Logger } from '@nestjs/common';
import type { ClientInfo } from '../domain/client';
import { AuthError, invalidField } from '../domain/errors';
import { passwordProblem, usernameProblem } from '../domain/fields';
import type { CredentialStore } from '../domain/ports/credential-store';
import type { PasswordHasher } from '../domain/ports/password-hasher';
import type { StoredUser, UserStore } from '../domain/ports/user-store';
import type { OpenedSession } from '../domain/token-pair';
import { USERNAME_LENGTH } from '../domain/username';
import type { LoginAttempts, Verdict } from './login-attempts';
import type { PasswordVerifier } from './password-verifier';
import type { SessionOpening } from './session-opening';

/** A name and password as they were given. */
export interface Credentials {
  readonly username: string;
  readonly password: string;
}

/** Login by name and password. */
export class Login {
  private readonly logger = new Logger('AuthLogin');

  constructor(
    private readonly attempts: LoginAttempts,
    private readonly credentials: CredentialStore,
    private readonly users: UserStore,
    private readonly hasher: PasswordHasher,
    private readonly verifier: PasswordVerifier,
    private readonly opening: SessionOpening,
  ) {}

  async login({ username, password }: Credentials, info: ClientInfo): Promise<OpenedSession> {
    refuseField('username', usernameProblem(username, USERNAME_LENGTH));
    refuseField('password', passwordProblem(password));
    return this.attempts.run(username, info, async ({ client, keys }): Promise<Verdict<OpenedSession>> => {
      const { user, version } = await this.credentials.find(username);
      const matches = await this.verifier.verify(password, user?.active ? user.passwordHash : null);
      if (matches && user) {
        const opened = await this.opening.open(user.id, client, { credentialsVersion: version, attempt: keys });
        if (opened) {
          await this.raiseHash(user, password);
          return { right: opened };
        }
      }
      // Somebody who is gone since has no history any more.
      const owner = matches && user ? await this.users.findById(user.id) : user;
      return { wrong: new AuthError('invalid_credentials', 'Invalid credentials.'), user: owner };
    });
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
