import { Injectable, Logger } from '@nestjs/common';
import { type IdentifiedUser, SecondFactor } from '../adapters/second-factor';
import type { StoredUser, UserId } from '../adapters/user-store';
import { assertValidField, secondFactorRequired, standardError, unknownUser } from '../base/errors';
import { loggable, toFailureReport } from '../base/failures';
import { optionalBooleanProblem, passwordProblem, USERNAME_LENGTH, usernameProblem } from '../base/fields';
import { Metrics } from '../base/telemetry';
import type { Operation } from '../history/event-log';
import { HashQueue, Passwords } from '../passwords/passwords';
import { OpenSession, type RefusedLogin } from '../sessions/open-session';
import { type GivenProofs, storedProofs, type StoredProofs } from '../sessions/session';
import { type Charge, PASSWORD_METHOD, Throttle } from '../throttle/throttle';
import type { OpenedSession } from '../tokens/tokens';
import { Users, type Versioned } from '../users/users';
import { LoginTickets } from './login-tickets';

/** A username and a password, as entered. */
export interface Credentials {
  readonly username: string;
  readonly password: string;
  /** Whether to remember the session. Has no effect without the option `rememberMe`. Default: false. */
  readonly rememberMe?: boolean | undefined;
}

/** The result of a login whose password is right. */
type Outcome =
  | { readonly kind: 'opened'; readonly session: OpenedSession }
  | { readonly kind: 'ticket'; readonly ticket: string; readonly user: StoredUser }
  | RefusedLogin;

/** An attempt whose password is right. */
interface Verified extends Versioned<StoredUser> {
  readonly credentials: Credentials;
  /** The hash that is stored after the login has upgraded it. */
  readonly passwordHash: string | null;
  readonly charge: Charge;
}

const BY_PASSWORD: GivenProofs = { methods: [PASSWORD_METHOD] };

@Injectable()
export class Login {
  private readonly logger = new Logger('AuthLogin');

  constructor(
    private readonly queue: HashQueue,
    private readonly users: Users,
    private readonly throttle: Throttle,
    private readonly passwords: Passwords,
    private readonly secondFactor: SecondFactor,
    private readonly tickets: LoginTickets,
    private readonly opening: OpenSession,
    private readonly metrics: Metrics,
  ) {}

  login(credentials: Credentials, op: Operation): Promise<OpenedSession> {
    return this.metrics.measure('session_auth.login.duration', async () => {
      const outcome = await this.attempt(credentials, op, false);
      if (outcome.kind === 'opened') return outcome.session;
      throw outcome.kind === 'ticket' ? secondFactorRequired(outcome.ticket) : outcome.error;
    });
  }

  async verifyCredentials(credentials: Credentials, op: Operation): Promise<{ user: IdentifiedUser; ticket: string }> {
    const outcome = await this.attempt(credentials, op, true);
    if (outcome.kind !== 'ticket') throw standardError('invalid_credentials');
    const { id, username } = outcome.user;
    return { user: { id, username }, ticket: outcome.ticket };
  }

  loginAs(given: { readonly id: UserId } | UserId, op: Operation, proofs: GivenProofs): Promise<OpenedSession> {
    const rememberMe = proofs.rememberMe === true;
    const proofsAt = (now: number): StoredProofs => storedProofs(proofs, now);
    const identify = async () => ({ ...(await this.users.findActive(given, op.client.realm)), rememberMe, proofsAt });
    return this.opening.openFor(identify, op, unknownUser);
  }

  /**
   * @param wantsTicket whether a success issues a login ticket, even if no second factor is required
   * @throws AuthError `invalid_credentials` if the password is wrong, which counts as a failure
   */
  private async attempt(given: Credentials, op: Operation, wantsTicket: boolean): Promise<Outcome> {
    // An application may pass the body of a request, which may be missing.
    const credentials = given ?? {};
    assertValidField('username', usernameProblem(credentials.username, USERNAME_LENGTH));
    assertValidField('password', passwordProblem(credentials.password));
    assertValidField('remember_me', optionalBooleanProblem(credentials.rememberMe));
    const verified = await this.queue.enter(op.client.network, () => this.verify(credentials, op));
    const outcome = verified && (await this.complete(verified, op, wantsTicket));
    if (!outcome) throw standardError('invalid_credentials');
    return outcome;
  }

  /** Counts an attempt, and verifies its password. Reports the failure and returns null if the password is wrong. */
  private async verify(credentials: Credentials, op: Operation): Promise<Verified | null> {
    const { username, password } = credentials;
    const { network } = op.client;
    // The user is read before the attempt is counted, because failures are counted by the user's id.
    const { user, credentialsVersion } = await this.users.findCredentials(username, op.client.realm);
    const subject = this.throttle.ofLogin(PASSWORD_METHOD, username, user, op.client);
    const charge = await this.throttle.attempt(subject, op, async (counted) => {
      // Without an active user, a dummy hash is verified, so that the duration does not reveal whether the name exists.
      return (await this.passwords.verify(password, user?.active ? user : null, network)) ? counted : null;
    });
    if (!charge || !user) return null;
    const passwordHash = await this.upgradedHash(user, password, network);
    // `user` may be an instance of a class, whose getters a copy would lose.
    return { credentials, user, passwordHash, credentialsVersion, charge };
  }

  /**
   * Completes a login whose password is right, outside the hash queue, because the application's classes can be slow.
   * Reports a failure and returns null if the password or the status of the user has changed meanwhile.
   */
  private async complete(verified: Verified, op: Operation, wantsTicket: boolean): Promise<Outcome | null> {
    const { credentials, user, passwordHash, charge } = verified;
    const proceed = async (): Promise<Outcome | null> => {
      const outcome = await this.proceed(verified, op, wantsTicket);
      if (outcome) return outcome;
      // A logout of all sessions changes the version, but the verified password is still valid.
      const again = await this.users.findCredentials(credentials.username, op.client.realm);
      const isSame = again.user?.id === user.id && again.user.passwordHash === passwordHash;
      if (!isSame || !again.user?.active) return null;
      return this.proceed({ ...verified, ...again, user: again.user }, op, wantsTicket);
    };
    const outcome = await proceed().catch((error: unknown) => this.throttle.refund(charge, error, op));
    // If the user was deleted in the meantime, the failure is recorded without a user.
    if (!outcome) await this.throttle.report(charge, await this.users.findById(user.id, null), op);
    return outcome;
  }

  /**
   * Opens a session or issues a login ticket for a user whose password is right, and deletes the failures. Returns
   * null if the credentials version or the status of the user has changed since the user was read.
   */
  private async proceed(verified: Verified, op: Operation, wantsTicket: boolean): Promise<Outcome | null> {
    const { credentials, user, credentialsVersion, charge } = verified;
    const rememberMe = credentials.rememberMe === true;
    const identification = { user, credentialsVersion, rememberMe, succeed: () => this.throttle.clear(charge) };
    if (wantsTicket || (await this.secondFactor.isRequired(user, op.client.info))) {
      const ticket = await this.tickets.issue(identification, BY_PASSWORD, op);
      return ticket === null ? null : { kind: 'ticket', ticket, user };
    }
    const proofsAt = (now: number): StoredProofs => storedProofs(BY_PASSWORD, now);
    const opened = await this.opening.open({ ...identification, proofsAt }, op);
    return opened.kind === 'credentials_changed' ? null : opened;
  }

  /**
   * Replaces a hash that is weaker than a new one, and returns the hash that is now stored. A failure is logged, and the
   * login succeeds nevertheless.
   */
  private async upgradedHash(user: StoredUser, password: string, network: string): Promise<string | null> {
    const { id, passwordHash } = user;
    try {
      const isWeak = passwordHash !== null && this.users.canSetPasswords && this.passwords.needsRehash(passwordHash);
      if (!isWeak) return passwordHash;
      const upgraded = await this.passwords.hash(password, 'password', network, true);
      if (await this.users.setHash(id, upgraded, passwordHash)) return upgraded;
    } catch (error) {
      this.logger.warn(
        `Upgrading the password hash of user ${loggable(String(id))} failed. ` +
          `The user's next login retries the upgrade. ${toFailureReport(error).summary}`,
      );
    }
    return passwordHash;
  }
}
