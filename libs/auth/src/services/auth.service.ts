import { Inject, Injectable } from '@nestjs/common';
import type { AuthEventEntry } from '../domain/auth-event';
import type { ClientInfo } from '../domain/client';
import { ApplicationTransactions, Metrics, type TransactionManager } from '../domain/ports/platform';
import type { UserId } from '../domain/ports/accounts';
import type { SessionData } from '../domain/proofs';
import type { SessionInfo } from '../domain/session';
import type { OpenedSession, TokenPair } from '../domain/tokens';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from '../options/auth-options';
import { AccountServices } from './credentials/account-services';
import type { CreateUserOptions, CreatedUser, UserToCreate } from './credentials/accounts';
import type { Credentials } from './credentials/login';
import type { PasswordResetToken } from './credentials/password-reset';
import type { PasswordChange } from './credentials/user-password';
import { joining } from './in-transaction';
import { measured } from './maintenance/measured';
import type { AuthPrincipal } from './sessions/authentication';
import { SessionServices } from './sessions/session-services';
import type { HistoryRequest } from './sessions/user-sessions';

/** How a token without a principal is counted. */
const REFUSED = { 'error.type': 'access_token_invalid' } as const;

/** What applications do to accounts. Logins and refreshes take no part in a transaction. */
const IN_TRANSACTION = [
  'createUser',
  'disableUser',
  'enableUser',
  'forgetUser',
  'revokeSession',
  'logoutAll',
  'changePassword',
  'resetPassword',
  'createPasswordResetToken',
  'redeemPasswordResetToken',
  'resetFailedLogins',
] as const satisfies readonly (keyof AuthService)[];

/** The calls of `AuthService` that can take part in a transaction of the application. */
export type AuthInTransaction = Pick<AuthService, (typeof IN_TRANSACTION)[number]>;

/**
 * Everything that the endpoints do, and what an application needs besides. A method that refuses
 * rejects with `AuthError`, which is answered as the endpoints answer it.
 * `clientInfoOf(request)` returns the `client` of a request.
 */
@Injectable()
export class AuthService {
  constructor(
    private readonly sessions: SessionServices,
    private readonly users: AccountServices,
    private readonly transactions: ApplicationTransactions,
    private readonly metrics: Metrics,
    @Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions,
  ) {}

  /**
   * The calls that change users, sessions and passwords, as a part of a transaction:
   * `dataSource.transaction((manager) => auth.inTransaction(manager).disableUser(id))`. Their signals
   * wait for its commit. A `UserStore` of the application takes no part.
   * @throws Error for a manager that is in no transaction, or of another DataSource
   */
  inTransaction(manager: TransactionManager): AuthInTransaction {
    return joining(this.transactions, manager, this, IN_TRANSACTION);
  }

  /** Whether the user store can set passwords. */
  get canSetPasswords(): boolean {
    return this.users.password.isChangeable;
  }

  /**
   * Logs a user in by name and password.
   * @throws AuthError `invalid_credentials`, `too_many_attempts`, `session_limit_reached`, `busy`, `invalid_field`;
   *   `second_factor_required`, with `loginTicket`
   */
  login(credentials: Credentials, client: ClientInfo = {}): Promise<OpenedSession> {
    return measured(this.metrics, 'session_auth.login.duration', () => this.sessions.login.login(credentials, client));
  }

  /**
   * Verifies name and password, throttled and recorded as a login, and returns a login ticket: opaque,
   * valid for 5 minutes or 5 failed attempts. It ends with a password change or reset, when the user is disabled, and
   * at `logoutAll`. A user has at most 20; a further one ends the oldest.
   * @throws AuthError `invalid_credentials`, `too_many_attempts`, `busy`, `invalid_field`
   */
  verifyCredentials(
    credentials: Credentials,
    client: ClientInfo = {},
  ): Promise<{ readonly user: { readonly id: UserId; readonly username: string }; readonly ticket: string }> {
    return this.sessions.login.verifyCredentials(credentials, client);
  }

  /**
   * Returns a login ticket for a user whom the application has identified by a first step other than a password.
   * @param proofs as for `openSession`; `methods` has at least one name
   * @throws AuthError `unknown_user`, also for one who is not active. Error for methods or data that cannot be stored
   */
  createLoginTicket(
    user: { readonly id: UserId } | UserId,
    proofs: { readonly methods: readonly string[]; readonly data?: Partial<SessionData> },
    client: ClientInfo = {},
  ): Promise<string> {
    return this.sessions.tickets.issueFor(user, proofs, client);
  }

  /**
   * Checks a secret other than the password, such as a one-time code, under the throttle. A right one adds the method to
   * the ticket or session. A wrong one counts for the user and this method, with the delays and the block of failed
   * logins, and in the ticket, which the fifth ends; with a principal it counts in the session, which the 100th ends.
   * @param target a ticket or a principal, and the method: its name of RFC 8176, such as `otp`, or your own: a letter,
   *   then up to 31 of a-z, 0-9, _ and -
   * @param verify checks it for the given user, and returns true or false. If it throws, only the ticket counts that.
   *   It must accept a code once, whatever runs at the same time.
   * @returns what `verify` returned
   * @throws AuthError `too_many_attempts` or `busy`, without a check; `invalid_login_ticket`, `access_token_invalid`
   */
  attempt(
    target:
      | { readonly ticket: string; readonly method: string }
      | { readonly principal: AuthPrincipal; readonly method: string },
    client: ClientInfo,
    verify: (user: { readonly id: UserId; readonly username: string }) => boolean | Promise<boolean>,
  ): Promise<boolean> {
    return this.users.secretAttempts.attempt(target, client, verify);
  }

  /**
   * Opens a session with a login ticket, which is consumed, or for a user whom the application has identified: by single
   * sign-on, a passkey. An object with `ticket` is a ticket, whatever else it has.
   * @param proofs for a user. `methods`: 1 to 8 names of RFC 8176 by which the user was identified, such as `hwk`.
   *   Default: none. `data`: what to keep on the session, a JSON object of at most 1,024 bytes; see `SessionData`.
   *   Default: none. A ticket brings its own.
   * @throws AuthError `session_limit_reached`, which leaves the ticket valid. For a user `unknown_user`, also for one
   *   who is not active. For a ticket `invalid_login_ticket`; `second_factor_required` while it has one method alone
   *   and `secondFactor` requires another. Error for methods or data that cannot be stored
   */
  async openSession(
    user: { readonly ticket: string } | { readonly id: UserId } | UserId,
    client: ClientInfo = {},
    proofs: { readonly methods?: readonly string[]; readonly data?: Partial<SessionData> } = {},
  ): Promise<OpenedSession> {
    if (typeof user !== 'object' || user === null || !('ticket' in user)) {
      return this.sessions.login.loginAs(user, client, proofs);
    }
    if (proofs.methods ?? proofs.data) throw new Error('A login ticket has its own methods and data; leave them out.');
    return this.sessions.tickets.open(user.ticket, client);
  }

  /**
   * Returns the pair that follows a refresh token. Reusing it ends all sessions of the user.
   * @throws AuthError `invalid_refresh_token`
   */
  refresh(refreshToken: string, client: ClientInfo = {}): Promise<TokenPair> {
    const refresh = (): Promise<TokenPair> => this.sessions.refresh.refresh(refreshToken, client);
    return measured(this.metrics, 'session_auth.refresh.duration', refresh);
  }

  /** The principal of a live access token of an active user, or null. Each call reads the database. */
  authenticate(accessToken: string, client: ClientInfo = {}): Promise<AuthPrincipal | null> {
    const lookUp = (): Promise<AuthPrincipal | null> => this.sessions.authentication.authenticate(accessToken, client);
    return measured(this.metrics, 'session_auth.lookup.duration', lookUp, (found) => (found ? undefined : REFUSED));
  }

  /** The application's own user object of a principal. */
  loadUser(principal: AuthPrincipal): Promise<unknown> {
    return this.users.accounts.load(principal.userId);
  }

  /** Ends the session of the principal. */
  logout(principal: AuthPrincipal, client: ClientInfo = {}): Promise<void> {
    return this.sessions.ofUser.logout(principal, client);
  }

  /** Ends all sessions of the principal's user, or all but the current one; returns how many. */
  logoutAll(
    principal: AuthPrincipal,
    options: { readonly keepCurrent: boolean } = { keepCurrent: false },
    client: ClientInfo = {},
  ): Promise<number> {
    return this.sessions.ofUser.logoutAll(principal, options, client);
  }

  /** The user's active sessions, newest first. */
  listSessions(userId: UserId, options: { readonly currentSessionId?: string } = {}): Promise<SessionInfo[]> {
    return this.sessions.ofUser.list(userId, options.currentSessionId ?? null);
  }

  /**
   * Ends one session of the user. The history records `by` whom: the user, or the `actor` who administers.
   * @throws AuthError `session_not_found` for whatever is no active session of this user
   */
  revokeSession(
    userId: UserId,
    sessionId: string,
    client: ClientInfo = {},
    options: { readonly currentSessionId?: string; readonly by?: 'user' | 'admin'; readonly actor?: string } = {},
  ): Promise<void> {
    const { currentSessionId: currentId = null, by: reason = 'user', actor } = options;
    const who = reason === 'admin' && actor !== undefined ? { actor } : {};
    return this.sessions.ofUser.revoke(userId, sessionId, client, { currentId, reason, ...who });
  }

  /** The user's latest authentication events, newest first. @throws AuthError `invalid_field` */
  history(userId: UserId, request: HistoryRequest = {}): Promise<readonly AuthEventEntry[]> {
    return this.sessions.ofUser.history(userId, request);
  }

  /**
   * Changes the password of the principal's user, and returns a new token pair for the current
   * session. The others end, unless `revokeOnPasswordChange` is false.
   * @throws AuthError `invalid_field` on `current_password` or `new_password`
   */
  changePassword(principal: AuthPrincipal, change: PasswordChange, client: ClientInfo = {}): Promise<TokenPair> {
    return this.users.password.change(principal, change, client);
  }

  /**
   * Confirms the password within a session, and returns a new token pair for it.
   * @throws AuthError `invalid_field` on `password`, counted against the session; `too_many_attempts`
   */
  reauthenticate(principal: AuthPrincipal, password: string, client: ClientInfo = {}): Promise<TokenPair> {
    return this.users.reauthentication.confirm(principal, password, client);
  }

  /**
   * Returns a new token pair for the session, as `reauthenticate` does, after the application has confirmed the
   * identity of its user by these methods, such as `hwk` for a passkey.
   * @throws AuthError `access_token_invalid` where the principal's access token is not live any more
   */
  confirmIdentity(
    principal: AuthPrincipal,
    { methods }: { readonly methods: readonly string[] },
    client: ClientInfo = {},
  ): Promise<TokenPair> {
    return this.users.reauthentication.confirmBy(principal, methods, client);
  }

  /** Whether `POST reauthenticate/` is mounted. */
  get canReauthenticate(): boolean {
    return this.options.recentLogin.endpoint;
  }

  /**
   * Checks that the last proof of identity, or with `methods` that of each of these, is recent.
   * @throws AuthError `recent_login_required`
   */
  assertRecentLogin(principal: AuthPrincipal, withinSeconds: number, methods: readonly string[] = []): void {
    this.sessions.ofUser.assertRecentLogin(principal, withinSeconds, methods);
  }

  /** The same for ending sessions, where `recentLogin.toEndSessionsSeconds` asks for it. */
  assertMayEndSessions(principal: AuthPrincipal): void {
    this.sessions.ofUser.assertMayEnd(principal);
  }

  /** Disables a user, whose sessions end. @throws AuthError `unknown_user`, `not_supported` */
  disableUser(userId: UserId, client: ClientInfo = {}): Promise<void> {
    return this.users.accounts.disable(userId, client);
  }

  /** Enables a user. Ended sessions stay ended. @throws AuthError `unknown_user`, `not_supported` */
  enableUser(userId: UserId): Promise<void> {
    return this.users.accounts.enable(userId);
  }

  /**
   * Deletes sessions, tokens and history of a user, whom the application deletes: in one transaction
   * what authenticates, then the rest in batches. (ASVS 14.2.7)
   * @throws AuthError `database_unavailable`; what is committed stays, and another call continues
   */
  forgetUser(userId: UserId): Promise<void> {
    return this.users.accounts.forget(userId);
  }

  /**
   * A token for a user who lost the password, for the application to send. It is valid once and for
   * `passwordResetTtlSeconds`, and revokes the user's earlier ones. The request is recorded.
   * @throws AuthError `unknown_user`, also for one who is not active
   */
  createPasswordResetToken(userId: UserId, client: ClientInfo = {}): Promise<PasswordResetToken> {
    return this.users.passwordReset.createToken(userId, client);
  }

  /**
   * Resets the password of the token's user. A refused password leaves the token valid.
   * @throws AuthError `invalid_reset_token`, `invalid_field` on `new_password`
   */
  redeemPasswordResetToken(token: string, newPassword: string, client: ClientInfo = {}): Promise<void> {
    return this.users.passwordReset.redeemToken(token, newPassword, client);
  }

  /**
   * Sets the password of a user. All sessions end, unless `revokeOnPasswordReset` is false.
   * @throws AuthError `unknown_user`, `invalid_field` on `new_password`
   */
  resetPassword(userId: UserId, newPassword: string, client: ClientInfo = {}): Promise<void> {
    return this.users.passwordReset.reset(userId, newPassword, client);
  }

  /** Forgets the failed logins of a name from all networks, and of the user who has it, with their delays and blocks. */
  resetFailedLogins(username: string): Promise<void> {
    return this.users.accounts.resetFailedLogins(username);
  }

  /**
   * Creates a user, with `properties` for further columns. `skipPolicy` is for an existing password that
   * `passwordPolicy` would refuse.
   * @param client who registers. Default: unknown. All unknown clients together may hash as much as one network.
   * @throws AuthError `username_taken`, `invalid_field`, `busy`; Error for properties that cannot be stored
   */
  createUser(user: UserToCreate, options: CreateUserOptions = {}, client: ClientInfo = {}): Promise<CreatedUser> {
    return this.users.accounts.create(user, options.skipPolicy ?? false, client);
  }

  /** Checks a password of a user whom the application stores itself. @throws AuthError `invalid_field` on `password` */
  assertPasswordAllowed(password: string, { username }: { readonly username: string }): Promise<void> {
    return this.users.passwords.assertAllowed(password, 'password', username);
  }

  /**
   * Hashes a password as it is stored, whatever `passwordPolicy` is.
   * @throws AuthError `invalid_field` for a password that is too long to be hashed in full, `busy` as `createUser`
   */
  hashPassword(password: string): Promise<string> {
    return this.users.passwords.hash(password, 'password');
  }
}
