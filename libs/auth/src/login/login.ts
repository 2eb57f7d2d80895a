import { Injectable, Logger } from '@nestjs/common';
import type { IdentifiedUser } from '../adapters/second-factor';
import type { StoredUser, UserId } from '../adapters/user-store';
import {
  assertValidField,
  AuthError,
  invalidAccessToken,
  invalidField,
  secondFactorRequired,
  unknownUser,
} from '../base/errors';
import { loggable, toFailureReport } from '../base/failures';
import { FIELD_MESSAGES, passwordProblem, USERNAME_LENGTH, usernameProblem } from '../base/fields';
import type { Client, Operation } from '../history/client';
import { Database } from '../database/database';
import { measureDuration, Metrics } from '../base/telemetry';
import { Passwords } from '../passwords/passwords';
import { SessionAttempts } from '../passwords/session-attempts';
import type { AuthPrincipal } from '../sessions/authenticate';
import { OpenSession, type OpenResult } from '../sessions/open-session';
import { type GivenProofs, storedProofs } from '../sessions/proofs';
import { AttemptSlots } from '../throttle/attempt-slots';
import { type AttemptKeys, PASSWORD_METHOD } from '../throttle/limits';
import { endStreaks, FailedAttemptEvents, LoginThrottle } from '../throttle/throttle';
import { type Statement, StatementFactory } from '../database/statements';
import { affectedBy, type Step } from '../database/transaction';
import type { OpenedSession } from '../tokens/tokens';
import { type FoundCredentials, Users } from '../users/users';
import { LoginTickets, toIdentifiedUser, userIdOf } from './login-tickets';

/** A login attempt that holds its slots, with the credentials that were found for the entered name. */
export interface LoginAttempt extends FoundCredentials {
  readonly keys: AttemptKeys;
  readonly client: Client;
}

/** The result of verifying a login. */
export type Verdict<T> =
  | { readonly accepted: T }
  /** The error that refuses the login, and the user with the entered name, or null. */
  | { readonly refused: AuthError; readonly user: StoredUser | null };

/** Throttles logins, and counts and reports failed logins. */
@Injectable()
export class LoginAttempts {
  constructor(
    private readonly database: Database,
    private readonly users: Users,
    private readonly slots: AttemptSlots,
    private readonly throttle: LoginThrottle,
    private readonly attemptEvents: FailedAttemptEvents,
  ) {}

  /**
   * Runs `verify`, and counts a failure if `verify` refuses the login. If `verify` accepts the
   * login, it must call `SessionOpening.open` or `LoginTickets.issue` with the keys of the attempt.
   * Both end the failure streaks, even if the session limit refuses the session.
   * @throws AuthError `too_many_attempts` or `busy`, before anything is verified or counted; the error in `refused`
   */
  run<T>(username: string, op: Operation, verify: (attempt: LoginAttempt) => Promise<Verdict<T>>): Promise<T> {
    const { client } = op;
    const tx = this.database.outside(op.tx);
    return this.slots.enter(client.network, async () => {
      // The credentials are read before the slots are taken, because failures are counted by the user's id. If the
      // password is replaced in the meantime, the credentials version no longer matches when the session opens.
      const found = await this.users.findCredentials(username, tx);
      const keys = this.throttle.keysOf(username, found.user, client);
      const verdict = await this.slots.run(this.throttle.slotsOf(keys, found.user, client, tx), async () => {
        const result = await verify({ ...found, keys, client });
        if ('refused' in result) {
          const failure = this.attemptEvents.failureOf(client, username, result.user, 'network');
          await this.throttle.fail(keys, failure, tx);
        }
        return result;
      });
      if ('accepted' in verdict) return verdict.accepted;
      throw verdict.refused;
    });
  }
}

/** A username and a password, as entered. */
export interface Credentials {
  readonly username: string;
  readonly password: string;
}

/** The method that a login by name and password proves. */
const BY_PASSWORD: GivenProofs = { methods: [PASSWORD_METHOD] };

/** A user whose password was correct. The attempt still holds its slots. */
interface Verified {
  readonly user: StoredUser;
  /** The version of the credentials that `CredentialStore.find` returned with the verified hash. */
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
    private readonly users: Users,
    private readonly passwords: Passwords,
    private readonly opening: OpenSession,
    private readonly tickets: LoginTickets,
    private readonly metrics: Metrics,
    statements: StatementFactory,
  ) {
    this.endStreaks = statements.prepared(endStreaks(statements.dialect));
  }

  private readonly endStreaks: Statement;

  private *endStreaksOf(attempt: AttemptKeys): Step<void> {
    yield* affectedBy(this.endStreaks.with({ ...attempt }));
  }

  /**
   * Logs a user in by name and password.
   * @throws AuthError `invalid_credentials`, `too_many_attempts`, `session_limit_reached`, `second_factor_required`,
   *   `busy`, `invalid_field`
   */
  login(credentials: Credentials, op: Operation): Promise<OpenedSession> {
    return measureDuration(this.metrics, 'session_auth.login.duration', () => this.loginNow(credentials, op));
  }

  private async loginNow(credentials: Credentials, op: Operation): Promise<OpenedSession> {
    // The password is correct if a second factor is required or the session limit is reached. These errors are
    // therefore results, and do not count as failed attempts.
    const result = await this.verify<OpenedSession | AuthError>(credentials, op, async (verified) => {
      if (await this.tickets.isSecondFactorRequired(verified.user, op)) {
        const ticket = await this.tickets.issue(verified, BY_PASSWORD, op);
        return ticket === null ? null : secondFactorRequired(ticket);
      }
      const { user, credentialsVersion, attempt } = verified;
      const identification = {
        userId: user.id,
        credentialsVersion,
        proofsAt: (now: number) => storedProofs(BY_PASSWORD, now),
        succeed: () => this.endStreaksOf(attempt),
      };
      return resultOf(await this.opening.open(identification, op));
    });
    if (result instanceof AuthError) throw result;
    return result;
  }

  /** Verifies name and password like `login`, and returns a login ticket instead of a session. */
  verifyCredentials(
    credentials: Credentials,
    op: Operation,
  ): Promise<{ readonly user: IdentifiedUser; readonly ticket: string }> {
    return this.verify(credentials, op, async (verified) => {
      const ticket = await this.tickets.issue(verified, BY_PASSWORD, op);
      return ticket === null ? null : { user: toIdentifiedUser(verified.user), ticket };
    });
  }

  /**
   * Logs in a user whom the application has authenticated, for example by single sign-on or a passkey.
   * @throws AuthError `session_limit_reached`; `unknown_user` if the user does not exist or is not active
   */
  async loginAs(user: { readonly id: UserId } | UserId, op: Operation, given: GivenProofs): Promise<OpenedSession> {
    const id = userIdOf(user);
    const stored = id === null ? null : await this.users.findById(id, null);
    const opened =
      stored?.active &&
      resultOf(
        await this.opening.open(
          { userId: stored.id, credentialsVersion: null, proofsAt: (now) => storedProofs(given, now) },
          op,
        ),
      );
    if (opened instanceof AuthError) throw opened;
    if (!opened) throw unknownUser();
    return opened;
  }

  /**
   * Verifies the password of the session's user, and runs `work` if the password is correct. A wrong password counts
   * as a failed attempt of the session.
   * @param field the field of an `invalid_field` error
   * @param work must issue new tokens for the session
   * @throws AuthError `invalid_field`, `too_many_attempts`, `busy`, `access_token_invalid`
   */
  async verifyPasswordThen<T>(
    { userId, session }: AuthPrincipal,
    password: string,
    field: string,
    op: Operation,
    work: (user: StoredUser) => Promise<T>,
  ): Promise<T> {
    assertValidField(field, passwordProblem(password));
    const user = await this.users.findById(userId, op.tx);
    if (!user) throw invalidAccessToken();
    return this.sessionAttempts.run(session.id, user, op, {
      verify: ({ network }) => this.passwords.verify(password, user, network),
      work: () => work(user),
      wrongPasswordError: invalidField(field, FIELD_MESSAGES.password),
    });
  }

  /**
   * Verifies name and password, and calls `proceed` if the user is active and the password is correct.
   * @param proceed returns null if the credentials version or the status of the user changed in the meantime
   */
  private async verify<T>(
    { username, password }: Credentials,
    op: Operation,
    proceed: (verified: Verified) => Promise<T | null>,
  ): Promise<T> {
    assertValidField('username', usernameProblem(username, USERNAME_LENGTH));
    assertValidField('password', passwordProblem(password));
    return this.attempts.run<T>(username, op, async ({ user, version, keys, client }) => {
      // Without an active user, a dummy hash is verified, because the response time must not reveal whether the name
      // exists.
      const matches = await this.passwords.verify(password, user?.active ? user : null, client.network);
      if (matches && user) {
        const verified = { user, credentialsVersion: version, attempt: keys };
        const result =
          (await proceed(verified)) ?? (await this.retryWithNewCredentialsVersion(username, verified, proceed));
        if (result !== null) {
          await this.upgradeHash(user, password, client.network);
          return { accepted: result };
        }
      }
      // If a user whose password is correct was deleted in the meantime, the failure is recorded without a user.
      const currentUser = matches && user ? await this.users.findById(user.id, null) : user;
      return { refused: new AuthError('invalid_credentials', 'Invalid credentials.'), user: currentUser };
    });
  }

  /**
   * Calls `proceed` again with the current credentials version. A logout of all sessions changes
   * the version, but the verified password is still valid. Returns null if the user
   * or the password hash is no longer the same, if the user is not active, or if the version changes again.
   */
  private async retryWithNewCredentialsVersion<T>(
    username: string,
    verified: Verified,
    proceed: (verified: Verified) => Promise<T | null>,
  ): Promise<T | null> {
    const { user, version } = await this.users.findCredentials(username, null);
    const { id, passwordHash } = verified.user;
    if (!user?.active || user.id !== id || user.passwordHash !== passwordHash) return null;
    return proceed({ ...verified, user, credentialsVersion: version });
  }

  /**
   * Replaces the stored hash if it is weaker than a new hash and the user store can set passwords. A
   * failure is logged, and the login succeeds nevertheless.
   */
  private async upgradeHash(user: StoredUser, password: string, network: string): Promise<void> {
    const { passwordHash } = user;
    if (passwordHash === null || !this.users.canSetPasswords || !this.passwords.needsRehash(passwordHash)) return;
    try {
      const upgraded = await this.passwords.hash(password, 'password', { network, hasEntered: true });
      await this.users.setHash(user.id, upgraded, passwordHash, null);
    } catch (error) {
      const { summary } = toFailureReport(error);
      this.logger.warn(
        `Upgrading the password hash of user ${loggable(String(user.id))} failed. ` +
          `The user's next login retries the upgrade. ${summary}`,
      );
    }
  }
}

function resultOf(result: OpenResult): OpenedSession | AuthError | null {
  if (result.kind === 'opened') return result.session;
  if (result.kind === 'credentials_changed') return null;
  return new AuthError('session_limit_reached', 'The session limit has been reached.');
}
