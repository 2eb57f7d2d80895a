import { Injectable, Logger } from '@nestjs/common';
import type { ClientInfo } from '../../domain/client';
import { assertValidField, AuthError, invalidAccessToken, invalidField, unknownUser } from '../../domain/errors';
import { reportFailure } from '../../domain/failure-report';
import { FIELD_MESSAGES, passwordProblem, usernameProblem } from '../../domain/fields';
import { type StoredUser, type UserId, UserStore } from '../../domain/ports/accounts';
import type { OpenedSession } from '../../domain/tokens';
import { USERNAME_LENGTH } from '../../domain/username';
import type { AuthPrincipal } from '../sessions/authentication';
import { SessionOpening } from '../sessions/session-opening';
import { LoginAttempts } from './login-attempts';
import { Passwords } from './passwords';
import { SessionAttempts } from './session-attempts';

/** A name and password as given. */
export interface Credentials {
  readonly username: string;
  readonly password: string;
}

/** What a right password leads to: a session, or the refusal by the session limit. */
type Opened = OpenedSession | AuthError;

/** Verifies who a user is: at a login, and again within a session. */
@Injectable()
export class Login {
  private readonly logger = new Logger('AuthLogin');

  constructor(
    private readonly attempts: LoginAttempts,
    private readonly inSession: SessionAttempts,
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
    const result = await this.attempts.run<Opened>(username, info, async (attempt) => {
      const { user, version, keys, client } = attempt;
      // Without a user there is a hash to verify as well: the time must not reveal whether the name exists.
      const matches = await this.passwords.verify(password, user?.active ? user : null, client.network);
      if (matches && user) {
        const opened = await this.opening.open(user.id, info, { credentialsVersion: version, attempt: keys });
        if (opened) {
          await this.upgradeHash(user, password, client.network);
          // A refusal by the session limit is no failure: the password was right.
          return { right: opened };
        }
      }
      // Read again: a failure must not be recorded for a user who was deleted meanwhile.
      const owner = matches && user ? await this.users.findById(user.id) : user;
      return { wrong: new AuthError('invalid_credentials', 'Invalid credentials.'), user: owner };
    });
    if (result instanceof AuthError) throw result;
    return result;
  }

  /** Login of a user whom the application has identified: by single sign-on, a passkey, a second factor. */
  async loginAs(user: { readonly id: UserId } | UserId, info: ClientInfo): Promise<OpenedSession> {
    const id = typeof user === 'object' ? user?.id : user;
    const stored = id === undefined || id === null ? null : await this.users.findById(id);
    const proof = { credentialsVersion: null, attempt: null };
    const opened = stored?.active && (await this.opening.open(stored.id, info, proof));
    if (opened instanceof AuthError) throw opened;
    if (!opened) throw unknownUser();
    return opened;
  }

  /**
   * Runs `work`, which issues new tokens for the session, if the password is the one of the principal's
   * user. A wrong one counts against the session.
   * @param field the name of the password's field in errors
   * @throws AuthError `invalid_field` on that field, `too_many_attempts`
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
    return this.inSession.run(session.id, user, info, {
      verify: ({ network }) => this.passwords.verify(password, user, network),
      work: () => work(user),
      wrong: invalidField(field, FIELD_MESSAGES.password),
    });
  }

  /** Replaces a weaker hash while the password is at hand. A failure does not fail the login. */
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
