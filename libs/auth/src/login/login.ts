import { Injectable, Logger } from '@nestjs/common';
import { type IdentifiedUser, SecondFactor } from '../adapters/second-factor';
import type { StoredUser, UserId } from '../adapters/user-store';
import { assertValidField, AuthError, secondFactorRequired, standardError, unknownUser } from '../base/errors';
import { loggable, toFailureReport } from '../base/failures';
import { passwordProblem, USERNAME_LENGTH, usernameProblem } from '../base/fields';
import { measureDuration, Metrics } from '../base/telemetry';
import type { Operation } from '../history/event-log';
import { HashQueue, Passwords } from '../passwords/passwords';
import { OpenSession } from '../sessions/open-session';
import { type GivenProofs, storedProofs, type StoredProofs } from '../sessions/session';
import { type Charge, PASSWORD_METHOD, Throttle } from '../throttle/throttle';
import type { OpenedSession } from '../tokens/tokens';
import { type FoundCredentials, Users } from '../users/users';
import { LoginTickets, userIdOf } from './login-tickets';

/** A username and a password, as entered. */
export interface Credentials {
  readonly username: string;
  readonly password: string;
}

/** The result of a login attempt that the throttle admitted. Only `wrong` is a failure. */
type Outcome =
  | { readonly kind: 'opened'; readonly session: OpenedSession }
  | { readonly kind: 'ticket'; readonly ticket: string; readonly user: StoredUser }
  | { readonly kind: 'limit_reached' }
  /** `user`: the user with the entered name, or null. */
  | { readonly kind: 'wrong'; readonly user: StoredUser | null };

interface Attempt extends Credentials {
  readonly charge: Charge;
  readonly op: Operation;
  /** Whether a success issues a login ticket, even if no second factor is required. */
  readonly wantsTicket: boolean;
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
    return measureDuration(this.metrics, 'session_auth.login.duration', async () => {
      const outcome = await this.attempt(credentials, op, false);
      if (outcome.kind === 'opened') return outcome.session;
      throw outcome.kind === 'ticket' ? secondFactorRequired(outcome.ticket) : errorOf(outcome);
    });
  }

  async verifyCredentials(credentials: Credentials, op: Operation): Promise<{ user: IdentifiedUser; ticket: string }> {
    const outcome = await this.attempt(credentials, op, true);
    if (outcome.kind !== 'ticket') throw errorOf(outcome);
    const { id, username } = outcome.user;
    return { user: { id, username }, ticket: outcome.ticket };
  }

  /** Opens a session for a user whom the application has authenticated. @throws AuthError as `openSession` does */
  async loginAs(user: { readonly id: UserId } | UserId, op: Operation, given: GivenProofs): Promise<OpenedSession> {
    const id = userIdOf(user);
    const stored = id === null ? null : await this.users.findById(id, null);
    if (!stored?.active) throw unknownUser();
    const proofsAt = (now: number): StoredProofs => storedProofs(given, now);
    const opened = await this.opening.open({ userId: stored.id, credentialsVersion: null, proofsAt }, op);
    if (opened.kind === 'opened') return opened.session;
    throw opened.kind === 'limit_reached' ? errorOf(opened) : unknownUser();
  }

  private async attempt(given: Credentials | null, op: Operation, wantsTicket: boolean): Promise<Outcome> {
    // An application may pass the body of a request, which may be missing.
    const { username, password } = (given ?? {}) as Credentials;
    assertValidField('username', usernameProblem(username, USERNAME_LENGTH));
    assertValidField('password', passwordProblem(password));
    return this.queue.enter(op.client.network, async () => {
      // The user is read before the attempt is counted, because failures are counted by the user's id.
      const found = await this.users.findCredentials(username);
      const subject = this.throttle.ofLogin(PASSWORD_METHOD, username, found.user, op.client);
      const charge = await this.throttle.charge(subject, op);
      const attempt = { username, password, charge, op, wantsTicket };
      const outcome = await this.tryPassword(found, attempt).catch((error: unknown) =>
        this.throttle.refund(charge, error, op),
      );
      if (outcome.kind === 'wrong') await this.throttle.report(charge, outcome.user, op);
      return outcome;
    });
  }

  private async tryPassword({ user, version }: FoundCredentials, attempt: Attempt): Promise<Outcome> {
    const { password } = attempt;
    const { network } = attempt.op.client;
    // Without an active user, a dummy hash is verified, so that the duration does not reveal whether the name exists.
    const matches = await this.passwords.verify(password, user?.active ? user : null, network);
    if (!matches || !user) return { kind: 'wrong', user };
    let outcome = await this.proceed(user, version, attempt);
    if (!outcome) {
      // A logout of all sessions changes the version, but the verified password is still valid.
      const again = await this.users.findCredentials(attempt.username);
      const isSame = again.user?.id === user.id && again.user.passwordHash === user.passwordHash;
      if (isSame && again.user?.active) outcome = await this.proceed(again.user, again.version, attempt);
    }
    // If the user was deleted in the meantime, the failure is recorded without a user.
    if (!outcome) return { kind: 'wrong', user: await this.users.findById(user.id, null) };
    await this.upgradeHash(user, password, network);
    return outcome;
  }

  /**
   * Opens a session or issues a login ticket for a user whose password is right, and deletes the failures. Returns
   * null if the credentials version or the status of the user has changed since the user was read.
   */
  private async proceed(user: StoredUser, credentialsVersion: number, attempt: Attempt): Promise<Outcome | null> {
    const { charge, op, wantsTicket } = attempt;
    const verified = { userId: user.id, credentialsVersion, succeed: () => this.throttle.clear(charge) };
    if (wantsTicket || (await this.secondFactor.isRequired(user, op.client.info))) {
      const ticket = await this.tickets.issue(verified, BY_PASSWORD, op);
      return ticket === null ? null : { kind: 'ticket', ticket, user };
    }
    const opened = await this.opening.open({ ...verified, proofsAt: (now) => storedProofs(BY_PASSWORD, now) }, op);
    return opened.kind === 'credentials_changed' ? null : opened;
  }

  /** Replaces a hash that is weaker than a new one. A failure is logged, and the login succeeds nevertheless. */
  private async upgradeHash({ id, passwordHash }: StoredUser, password: string, network: string): Promise<void> {
    try {
      if (passwordHash === null || !this.users.canSetPasswords || !this.passwords.needsRehash(passwordHash)) return;
      const upgraded = await this.passwords.hash(password, 'password', network, true);
      await this.users.setHash(id, upgraded, passwordHash);
    } catch (error) {
      this.logger.warn(
        `Upgrading the password hash of user ${loggable(String(id))} failed. ` +
          `The user's next login retries the upgrade. ${toFailureReport(error).summary}`,
      );
    }
  }
}

function errorOf({ kind }: { readonly kind: Outcome['kind'] }): AuthError {
  return standardError(kind === 'limit_reached' ? 'session_limit_reached' : 'invalid_credentials');
}
