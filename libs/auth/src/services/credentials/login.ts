import { Injectable, Logger } from '@nestjs/common';
import type { ClientInfo } from '../../domain/client';
import { assertValidField, AuthError, invalidAccessToken, invalidField, unknownUser } from '../../domain/errors';
import { reportFailure } from '../../domain/failure-report';
import { FIELD_MESSAGES, passwordProblem, usernameProblem } from '../../domain/fields';
import { type StoredUser, type UserId, UserStore } from '../../domain/ports/accounts';
import { type GivenProofs, PASSWORD_METHOD } from '../../domain/proofs';
import type { OpenedSession } from '../../domain/tokens';
import { USERNAME_LENGTH } from '../../domain/username';
import type { AuthPrincipal } from '../sessions/authentication';
import { SessionOpening } from '../sessions/session-opening';
import { LoginAttempts } from './login-attempts';
import { Passwords } from './passwords';
import { SessionAttempts } from './session-attempts';

/** A username and a password, as entered. */
export interface Credentials {
  readonly username: string;
  readonly password: string;
}

/** How a login identifies the user. */
const BY_PASSWORD: GivenProofs = { methods: [PASSWORD_METHOD] };

/** The result of a correct password: a session, or `session_limit_reached`. */
type OpeningResult = OpenedSession | AuthError;

/** Authenticates users: at login, and again within a session. */
@Injectable()
export class Login {
  private readonly logger = new Logger('AuthLogin');

  constructor(
    private readonly attempts: LoginAttempts,
    private readonly sessionAttempts: SessionAttempts,
    private readonly users: UserStore,
    private readonly passwords: Passwords,
    private readonly opening: SessionOpening,
  ) {}

  /**
   * Logs a user in by name and password.
   * @throws AuthError `invalid_credentials`, `too_many_attempts`, `session_limit_reached`, `busy`, `invalid_field`
   */
  async login({ username, password }: Credentials, info: ClientInfo): Promise<OpenedSession> {
    assertValidField('username', usernameProblem(username, USERNAME_LENGTH));
    assertValidField('password', passwordProblem(password));
    const result = await this.attempts.run<OpeningResult>(username, info, async (attempt) => {
      const { user, version, keys, client } = attempt;
      // Without an active user a dummy hash is verified: the response time must not reveal whether the name exists.
      const matches = await this.passwords.verify(password, user?.active ? user : null, client.network);
      if (matches && user) {
        const opened = await this.opening.open(
          user.id,
          info,
          { credentialsVersion: version, attempt: keys },
          BY_PASSWORD,
        );
        if (opened) {
          await this.upgradeHash(user, password, client.network);
          // A login that the session limit refuses is not a failure: the password was correct.
          return { right: opened };
        }
      }
      // Read again, because the user may have been deleted in the meantime: no failure is recorded for a deleted user.
      const owner = matches && user ? await this.users.findById(user.id) : user;
      return { wrong: new AuthError('invalid_credentials', 'Invalid credentials.'), user: owner };
    });
    if (result instanceof AuthError) throw result;
    return result;
  }

  /**
   * Logs in a user whom the application has authenticated, for example by single sign-on or a passkey.
   * @throws AuthError `unknown_user`, also for a disabled user; `session_limit_reached`
   */
  async loginAs(user: { readonly id: UserId } | UserId, info: ClientInfo, given: GivenProofs): Promise<OpenedSession> {
    const id = typeof user === 'object' ? user?.id : user;
    const stored = id === undefined || id === null ? null : await this.users.findById(id);
    const proof = { credentialsVersion: null, attempt: null };
    const opened = stored?.active && (await this.opening.open(stored.id, info, proof, given));
    if (opened instanceof AuthError) throw opened;
    if (!opened) throw unknownUser();
    return opened;
  }

  /**
   * Runs `work`, which issues new tokens for the session, if the password of the session's user is correct. A wrong
   * password is counted for the session.
   * @param field the field that errors are reported for
   * @throws AuthError `invalid_field`, `too_many_attempts`, `busy`, `access_token_invalid`
   */
  async confirm<T>(
    { userId, session }: AuthPrincipal,
    password: string,
    field: string,
    info: ClientInfo,
    work: (user: StoredUser) => Promise<T>,
  ): Promise<T> {
    assertValidField(field, passwordProblem(password));
    const user = await this.users.findById(userId);
    if (!user) throw invalidAccessToken();
    return this.sessionAttempts.run(session.id, user, info, {
      verify: ({ network }) => this.passwords.verify(password, user, network),
      work: () => work(user),
      wrong: invalidField(field, FIELD_MESSAGES.password),
    });
  }

  /** Hashes the password again if its stored hash is weaker than configured. A failure is logged; the login succeeds. */
  private async upgradeHash(user: StoredUser, password: string, network: string): Promise<void> {
    const { passwordHash } = user;
    if (passwordHash === null || !this.users.setPasswordHash || !this.passwords.needsRehash(passwordHash)) return;
    try {
      const upgraded = await this.passwords.hash(password, 'password', { network, hasEntered: true });
      await this.users.setPasswordHash(user.id, upgraded, passwordHash);
    } catch (error) {
      const { summary } = reportFailure(error);
      this.logger.warn(
        `A password hash could not be upgraded to the configured cost. The next login tries again. ${summary}`,
      );
    }
  }
}
