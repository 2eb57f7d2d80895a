import { Injectable, Logger } from '@nestjs/common';
import type { ClientInfo } from '../../domain/client';
import { assertValidField, AuthError, invalidAccessToken, invalidField } from '../../domain/errors';
import { secondFactorRequired, unknownUser } from '../../domain/errors';
import type { AttemptKeys } from '../../domain/failure-streak';
import { reportFailure } from '../../domain/failure-report';
import { FIELD_MESSAGES, passwordProblem, usernameProblem } from '../../domain/fields';
import { type StoredUser, type UserId, UserStore } from '../../domain/ports/accounts';
import type { IdentifiedUser } from '../../domain/ports/login-tickets';
import { type GivenProofs, PASSWORD_METHOD, storedProofs } from '../../domain/proofs';
import type { OpenedSession } from '../../domain/tokens';
import { USERNAME_LENGTH } from '../../domain/username';
import type { AuthPrincipal } from '../sessions/authentication';
import { SessionOpening } from '../sessions/session-opening';
import { LoginAttempts } from './login-attempts';
import { givenId, identified, LoginTickets } from './login-tickets';
import { Passwords } from './passwords';
import { SessionAttempts } from './session-attempts';

/** A username and a password, as entered. */
export interface Credentials {
  readonly username: string;
  readonly password: string;
}

/** How a login identifies the user. */
const BY_PASSWORD: GivenProofs = { methods: [PASSWORD_METHOD] };

/** A user whose password was correct. The slots of the attempt are held. */
interface Verified {
  readonly user: StoredUser;
  /** The version of the credentials that was read before the password was verified. */
  readonly credentialsVersion: number;
  /** The failure streaks that the login ends. */
  readonly attempt: AttemptKeys;
}

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
    private readonly tickets: LoginTickets,
  ) {}

  /**
   * Logs a user in by name and password.
   * @throws AuthError `invalid_credentials`, `too_many_attempts`, `session_limit_reached`, `second_factor_required`,
   *   `busy`, `invalid_field`
   */
  async login(credentials: Credentials, info: ClientInfo): Promise<OpenedSession> {
    // A login that needs a second factor, or that the session limit refuses, is no failure: the password was correct.
    const result = await this.verify<OpenedSession | AuthError>(credentials, info, async (verified) => {
      if (await this.tickets.isSecondFactorRequired(verified.user, info)) {
        const ticket = await this.tickets.issue(verified, BY_PASSWORD, info);
        return ticket === null ? null : secondFactorRequired(ticket);
      }
      const proof = { ...verified, ticket: null };
      return this.opening.open(verified.user.id, info, proof, (now) => storedProofs(BY_PASSWORD, now));
    });
    if (result instanceof AuthError) throw result;
    return result;
  }

  /** Verifies name and password as `login` does, and returns a ticket in place of a session. */
  verifyCredentials(
    credentials: Credentials,
    info: ClientInfo,
  ): Promise<{ readonly user: IdentifiedUser; readonly ticket: string }> {
    return this.verify(credentials, info, async (verified) => {
      const ticket = await this.tickets.issue(verified, BY_PASSWORD, info);
      return ticket === null ? null : { user: identified(verified.user), ticket };
    });
  }

  /**
   * Logs in a user whom the application has authenticated, for example by single sign-on or a passkey.
   * @throws AuthError `unknown_user`, also for a disabled user; `session_limit_reached`
   */
  async loginAs(user: { readonly id: UserId } | UserId, info: ClientInfo, given: GivenProofs): Promise<OpenedSession> {
    const id = givenId(user);
    const stored = id === null ? null : await this.users.findById(id);
    const proof = { credentialsVersion: null, attempt: null, ticket: null };
    const opened =
      stored?.active && (await this.opening.open(stored.id, info, proof, (now) => storedProofs(given, now)));
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

  /**
   * Verifies name and password.
   * @param proceed what a correct password leads to; null where the credentials have changed meanwhile
   */
  private async verify<T>(
    { username, password }: Credentials,
    info: ClientInfo,
    proceed: (verified: Verified) => Promise<T | null>,
  ): Promise<T> {
    assertValidField('username', usernameProblem(username, USERNAME_LENGTH));
    assertValidField('password', passwordProblem(password));
    return this.attempts.run<T>(username, info, async ({ user, version, keys, client }) => {
      // Without an active user a dummy hash is verified: the response time must not reveal whether the name exists.
      const matches = await this.passwords.verify(password, user?.active ? user : null, client.network);
      if (matches && user) {
        const result = await proceed({ user, credentialsVersion: version, attempt: keys });
        if (result !== null) {
          await this.upgradeHash(user, password, client.network);
          return { right: result };
        }
      }
      // Read again, because the user may have been deleted in the meantime: no failure is recorded for a deleted user.
      const owner = matches && user ? await this.users.findById(user.id) : user;
      return { wrong: new AuthError('invalid_credentials', 'Invalid credentials.'), user: owner };
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
