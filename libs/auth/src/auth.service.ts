import { Injectable } from '@nestjs/common';
import { Accounts } from './accounts/accounts';
import type { CreatedUser, CreateUserOptions, ExportedUserData, UserToCreate } from './accounts/accounts';
import type { SessionData, SessionDataPatch } from './adapters/login-policy';
import type { ClientInfo } from './adapters/second-factor';
import type { UserId } from './adapters/user-store';
import {
  ApplicationTransactions,
  type JoinedTransaction,
  type TransactionManager,
} from './database/joined-transaction';
import { ClientInspector, type Operation } from './history/event-log';
import { type AuthEventEntry, History, type HistoryRequest } from './history/history';
import type { SessionInfo } from './history/signals';
import { type Credentials, Login } from './login/login';
import { LoginTickets } from './login/login-tickets';
import { InSession } from './passwords/in-session';
import { Passwords } from './passwords/passwords';
import { type PasswordChange, type PasswordResetToken, ReplacePassword } from './passwords/replace-password';
import { Authenticate, type AuthPrincipal } from './sessions/authenticate';
import { OwnSessions } from './sessions/own-sessions';
import type { GivenProofs } from './sessions/session';
import { Refresh } from './sessions/refresh';
import type { OpenedSession, TokenPair } from './tokens/tokens';
import { Users } from './users/users';

/**
 * Provides the operations of the endpoints as methods, and further methods for the application's own code. A method that
 * refuses a call throws an `AuthError`, with which your route responds like the library's endpoints. Every method that
 * reads or writes data can throw `database_unavailable`. Pass `clientInfoOf(request)` as `client`. Default: unknown.
 */
@Injectable()
export class AuthService {
  /** @internal */
  constructor(
    private readonly logins: Login,
    private readonly tickets: LoginTickets,
    private readonly authentication: Authenticate,
    private readonly refreshes: Refresh,
    private readonly sessions: OwnSessions,
    private readonly histories: History,
    private readonly accounts: Accounts,
    private readonly users: Users,
    private readonly passwords: Passwords,
    private readonly replacements: ReplacePassword,
    private readonly inSession: InSession,
    private readonly clients: ClientInspector,
    private readonly transactions: ApplicationTransactions,
  ) {}

  /** The application's transaction. Set only in the objects that `inTransaction` uses. */
  private readonly tx: JoinedTransaction | null = null;

  /**
   * Returns methods that take part in your transaction. Signals are emitted after the commit. A `UserStore` takes no part
   * in it, and a rollback does not undo the counts and records of failed attempts of `changePassword`.
   * @example dataSource.transaction((manager) => auth.inTransaction(manager).disableUser(id))
   * @throws Error if the manager has no open transaction, or belongs to another DataSource
   */
  inTransaction(manager: TransactionManager): AuthInTransaction {
    const tx = this.transactions.join(manager);
    const joined = Object.create(this, { tx: { value: tx } }) as AuthService;
    const methods = IN_TRANSACTION.map((name) => [name, (this[name] as () => unknown).bind(joined)]);
    return Object.fromEntries(methods) as AuthInTransaction;
  }

  /**
   * Logs a user in. Calls the `LoginPolicy`, if no second factor is required.
   * @throws AuthError `invalid_credentials`, `too_many_attempts`, `session_limit_reached`, `busy`, `invalid_field`,
   *   `login_refused`, `second_factor_required` (the error has a `loginTicket`)
   */
  login(credentials: Credentials, client: ClientInfo = {}): Promise<OpenedSession> {
    return this.logins.login(credentials, this.operation(client));
  }

  /**
   * Verifies name and password, throttled like a login, and returns a login ticket, which expires after 5 minutes. The
   * fifth failed attempt, a password change or reset, `logoutAll`, `disableUser` and the user's 21st ticket revoke it.
   * @throws AuthError `invalid_credentials`, `too_many_attempts`, `busy`, `invalid_field`
   */
  verifyCredentials(
    credentials: Credentials,
    client: ClientInfo = {},
  ): Promise<{ readonly user: { readonly id: UserId; readonly username: string }; readonly ticket: string }> {
    return this.logins.verifyCredentials(credentials, this.operation(client));
  }

  /**
   * Returns a login ticket for a user whom the application has identified by a first factor other than a password.
   * @param proofs as for `openSession`
   * @throws AuthError `unknown_user`, also if the user is not active
   */
  createLoginTicket(
    user: { readonly id: UserId } | UserId,
    proofs: GivenProofs & { readonly methods: readonly string[] },
    client: ClientInfo = {},
  ): Promise<string> {
    return this.tickets.issueFor(user, proofs, this.operation(client));
  }

  /**
   * Calls `verify` to check a secret other than the password, such as a one-time code, and returns its result. True adds
   * the method to the ticket or session. Otherwise, the attempt counts as failed for the user and the method, with the
   * delays and the block of failed logins. The fifth failure revokes the ticket, the 100th in a row ends the session.
   * @param target `method`: a name from RFC 8176, such as `otp`, or your own (a lowercase letter, then up to 31 of a-z,
   *   0-9, _ and -)
   * @param verify must accept each code only once, even in parallel. If it throws `VerificationUnavailable`, the attempt
   *   does not count
   * @throws AuthError `invalid_login_ticket`, `access_token_invalid`; `too_many_attempts` or `busy` before `verify`
   * @throws Error if the name of the method is invalid, or `verify` returns no boolean; the error of `verify`
   */
  attempt(
    target: ({ readonly ticket: string } | { readonly principal: AuthPrincipal }) & { readonly method: string },
    client: ClientInfo,
    verify: (user: { readonly id: UserId; readonly username: string }) => boolean | Promise<boolean>,
  ): Promise<boolean> {
    return this.tickets.attempt(target, this.operation(client), verify);
  }

  /**
   * Opens a session for a user whom the application has identified, for example by single sign-on, or for the user of a
   * login ticket, which is then consumed. Calls the `LoginPolicy`.
   * @param proofs `data`: a JSON object of at most 1,024 bytes to keep on the session, over the data of a ticket. Default:
   *   none. Only without a ticket: `methods`: how the user was identified, as 1 to 8 names such as `hwk` (RFC 8176).
   *   Default: none. `rememberMe`: as for `login`
   * @throws AuthError `session_limit_reached` or `login_refused` (a ticket stays valid); `unknown_user`, also if the user
   *   is not active; `invalid_login_ticket`; `second_factor_required` if `secondFactor` requires another method than the
   *   ticket has
   * @throws Error if `methods` or `data` is invalid, or `methods` or `rememberMe` is passed with a ticket
   */
  async openSession(
    user: { readonly ticket: string } | { readonly id: UserId } | UserId,
    client: ClientInfo = {},
    proofs: GivenProofs = {},
  ): Promise<OpenedSession> {
    if (typeof user !== 'object' || user === null || !('ticket' in user)) {
      return this.logins.loginAs(user, this.operation(client), proofs);
    }
    if (proofs.methods !== undefined || proofs.rememberMe !== undefined) {
      throw new Error('openSession() received a ticket with methods or rememberMe. Pass only the ticket and data.');
    }
    return this.tickets.open(user.ticket, proofs.data, this.operation(client));
  }

  /**
   * Returns a new token pair. A used refresh token ends all sessions of the user, unless the grace period applies.
   * @throws AuthError `invalid_refresh_token`; `invalid_field` if the token is empty or is not a string
   */
  refresh(refreshToken: string, client: ClientInfo = {}): Promise<TokenPair> {
    return this.refreshes.refresh(refreshToken, this.clients.inspect(client));
  }

  /** Returns the principal of a valid access token of an active user, or null. Results are not cached. */
  authenticate(accessToken: string, client: ClientInfo = {}): Promise<AuthPrincipal | null> {
    return this.authentication.authenticate(accessToken, client);
  }

  /** Loads your application's user object for a principal. The result can be null, for example for a deleted user. */
  loadUser(principal: Pick<AuthPrincipal, 'userId'>): Promise<unknown> {
    return this.users.load(principal.userId);
  }

  /** Returns the session of a principal. @throws AuthError `access_token_invalid` if it has ended meanwhile */
  currentSession(principal: AuthPrincipal): Promise<SessionInfo> {
    return this.sessions.current(principal);
  }

  /**
   * Changes the data of the principal's session, for example the active organization, and returns the new data. The next
   * request on every instance has it. The principal of the current request stays as it is. Tokens, `authenticatedAt` and
   * `methods` stay the same.
   * @param patch the keys to set. Null removes a key. Parallel changes of other keys are kept
   * @throws AuthError `access_token_invalid` if the session has ended; `session_required`; `busy` if the data changed
   *   meanwhile ten times in a row
   * @throws Error if the result has more than 1,024 bytes as JSON, or a value cannot be stored as JSON
   */
  updateSessionData(principal: AuthPrincipal, patch: SessionDataPatch): Promise<Readonly<Partial<SessionData>>> {
    return this.sessions.updateData(principal, patch, this.operation());
  }

  /** Ends the session of the principal. */
  logout(principal: AuthPrincipal, client: ClientInfo = {}): Promise<void> {
    return this.sessions.logout(principal, this.operation(client));
  }

  /** Ends all sessions of the principal's user, or all except the current session. Returns how many sessions ended. */
  logoutAll(
    principal: AuthPrincipal,
    options: { readonly keepCurrent: boolean } = { keepCurrent: false },
    client: ClientInfo = {},
  ): Promise<number> {
    return this.sessions.logoutAll(principal, options.keepCurrent, this.operation(client));
  }

  /** Returns the active sessions of a user, newest first. `isCurrent` is true for `currentSessionId`. Default: none. */
  listSessions(userId: UserId, options: { readonly currentSessionId?: string } = {}): Promise<SessionInfo[]> {
    return this.sessions.list(userId, options.currentSessionId ?? null);
  }

  /**
   * Ends one session of a user.
   * @param options `currentSessionId`: the session whose `isCurrent` is true in the signal. Default: none. For the
   *   history: `by`: default 'user'. `actor`: the administrator's name or id, 1 to 255 characters, with `by: 'admin'`
   * @throws AuthError `session_not_found` if the user has no such active session; `invalid_field` on `actor`
   */
  revokeSession(
    userId: UserId,
    sessionId: string,
    client: ClientInfo = {},
    options: { readonly currentSessionId?: string; readonly by?: 'user' | 'admin'; readonly actor?: string } = {},
  ): Promise<void> {
    const { currentSessionId: currentId = null, by: reason = 'user' } = options;
    const actor = reason === 'admin' && options.actor !== undefined ? { actor: options.actor } : {};
    return this.sessions.revoke(userId, sessionId, this.operation(client), { currentId, reason, ...actor });
  }

  /**
   * Ends all sessions of a user, or all except `except`, and revokes the login tickets and the logins in progress, for
   * example after your application has changed something that the sessions rely on. Returns how many sessions ended.
   * @param options `except`: the id of an active session of the user that stays. `reason`: for the history and the
   *   signals. Default: 'application'. `actor`: the administrator's name or id, 1 to 255 characters, with
   *   `reason: 'admin'`
   * @throws AuthError `session_not_found` if `except` is no active session of the user; `invalid_field` on `actor`;
   *   `not_allowed_while_impersonating` if `except` is a session in which an administrator acts as the user
   */
  endSessions(
    userId: UserId,
    options: {
      readonly except?: string;
      readonly reason?: 'application' | 'user' | 'admin';
      readonly actor?: string;
    } = {},
    client: ClientInfo = {},
  ): Promise<number> {
    return this.sessions.endAll(userId, options, this.operation(client));
  }

  /** Returns events of a user, newest first. By default, the latest 50. @throws AuthError `invalid_field` */
  history(userId: UserId, request: HistoryRequest = {}): Promise<readonly AuthEventEntry[]> {
    return this.histories.list(userId, request);
  }

  /**
   * Changes the password of the principal's user, and returns a new token pair for the current session. The user's
   * other sessions end, unless `revokeOnPasswordChange` is false.
   * @throws AuthError `too_many_attempts`, `busy`, `access_token_invalid`, `not_supported`; `invalid_field` on
   *   `current_password` or `new_password`
   */
  changePassword(principal: AuthPrincipal, change: PasswordChange, client?: ClientInfo): Promise<TokenPair>;
  /**
   * With `keepTokens`, the current session keeps its tokens and sockets, for clients that cannot replace them. The result
   * is null, and `authenticatedAt` and `methods` stay the same.
   */
  changePassword(
    principal: AuthPrincipal,
    change: PasswordChange,
    client: ClientInfo,
    options: { readonly keepTokens: true },
  ): Promise<null>;
  changePassword(
    principal: AuthPrincipal,
    change: PasswordChange,
    client: ClientInfo = {},
    { keepTokens = false }: { readonly keepTokens?: boolean } = {},
  ): Promise<TokenPair | null> {
    return this.replacements.change(principal, change, keepTokens, this.operation(client));
  }

  /**
   * Verifies the password of the principal's user, and returns a new token pair for the session.
   * @throws AuthError `too_many_attempts`, `busy`, `access_token_invalid`; `invalid_field` on `password`
   */
  reauthenticate(principal: AuthPrincipal, password: string, client: ClientInfo = {}): Promise<TokenPair> {
    return this.inSession.reauthenticate(principal, password, this.operation(client));
  }

  /**
   * Records that your application has confirmed the user's identity, and returns a new token pair for the session.
   * @throws AuthError `access_token_invalid`
   */
  confirmIdentity(
    principal: AuthPrincipal,
    { methods }: { readonly methods: readonly string[] },
    client: ClientInfo = {},
  ): Promise<TokenPair> {
    return this.inSession.confirmIdentity(principal, methods, this.operation(client));
  }

  /**
   * Checks that the user has proven their identity, or each of `methods`, within the last `withinSeconds` seconds.
   * @throws AuthError `recent_login_required`
   */
  assertRecentLogin(principal: AuthPrincipal, withinSeconds: number, methods: readonly string[] = []): void {
    this.sessions.assertRecentLogin(principal, withinSeconds, methods);
  }

  /** Calls `assertRecentLogin` with `toEndSessionsSeconds`, if it is set. @throws AuthError `recent_login_required` */
  assertMayEndSessions(principal: AuthPrincipal): void {
    this.sessions.assertMayEnd(principal);
  }

  /** Disables a user and ends the user's sessions. @throws AuthError `unknown_user`, `not_supported` */
  disableUser(userId: UserId, client: ClientInfo = {}): Promise<void> {
    return this.accounts.disable(userId, this.operation(client));
  }

  /** Enables a user. Ended sessions stay ended. @throws AuthError `unknown_user`, `not_supported` */
  enableUser(userId: UserId): Promise<void> {
    return this.accounts.enable(userId, this.operation());
  }

  /**
   * Deletes the sessions, tokens and history of a user, outside `inTransaction` in batches: repeat a failed call. Your
   * application deletes the user's row itself, even with `AuthUser`, preferably before this call. (ASVS 14.2.7)
   */
  forgetUser(userId: UserId): Promise<void> {
    return this.accounts.forget(String(userId), this.operation());
  }

  /** Returns what the library stores about a user, without secrets, for access requests. (GDPR, article 15) */
  exportUserData(userId: UserId): Promise<ExportedUserData> {
    return this.accounts.exportData(String(userId));
  }

  /**
   * Creates a token for `redeemPasswordResetToken`, which your application sends to the user, and revokes earlier ones.
   * @throws AuthError `not_supported`; `unknown_user`, also if the user is not active
   */
  createPasswordResetToken(userId: UserId, client: ClientInfo = {}): Promise<PasswordResetToken> {
    return this.replacements.createToken(userId, this.operation(client));
  }

  /**
   * Like `resetPassword`, with a reset token. If the new password is refused, the token stays valid.
   * @throws AuthError `invalid_reset_token`, `busy`, `not_supported`; `invalid_field` on `new_password`
   */
  redeemPasswordResetToken(token: string, newPassword: string, client: ClientInfo = {}): Promise<void> {
    return this.replacements.redeemToken(token, newPassword, this.operation(client));
  }

  /**
   * Sets the password of a user. All sessions of the user end, unless `revokeOnPasswordReset` is false.
   * @throws AuthError `unknown_user`, `busy`, `not_supported`; `invalid_field` on `new_password`
   */
  resetPassword(userId: UserId, newPassword: string, client: ClientInfo = {}): Promise<void> {
    return this.replacements.reset(userId, newPassword, this.operation(client));
  }

  /** Resets failed logins, delays and blocks: of a username in its realm, and of the user by other methods than passwords. */
  resetFailedLogins(username: string, within: Pick<ClientInfo, 'realm'> = {}): Promise<void> {
    return this.accounts.resetFailedLogins(username, this.operation(within));
  }

  /**
   * Creates a user.
   * @param client the client that registers. Unknown clients share the queue limit of one network
   * @throws AuthError `username_taken`, `invalid_field`, `busy`, `not_supported`
   * @throws Error if the entity does not accept a key of `user.properties`
   */
  createUser(user: UserToCreate, options: CreateUserOptions = {}, client: ClientInfo = {}): Promise<CreatedUser> {
    return this.accounts.create(user, options.skipPolicy ?? false, this.operation(client));
  }

  /** Checks a password against `passwordPolicy`. @throws AuthError `invalid_field` on `password` */
  assertPasswordAllowed(password: string, { username }: { readonly username: string }): Promise<void> {
    return this.passwords.assertAllowed(password, 'password', [username]);
  }

  /**
   * Hashes a password with the configured `passwordHasher`, without `passwordPolicy`.
   * @throws AuthError `busy`; `invalid_field` on `password` if it is empty, invalid, or too long to be hashed in full
   */
  hashPassword(password: string): Promise<string> {
    return this.passwords.hash(password, 'password', '');
  }

  private operation(info: ClientInfo = {}): Operation {
    return { client: this.clients.inspect(info), tx: this.tx };
  }
}

const IN_TRANSACTION = [
  'createUser',
  'disableUser',
  'enableUser',
  'forgetUser',
  'revokeSession',
  'logoutAll',
  'endSessions',
  'updateSessionData',
  'changePassword',
  'resetPassword',
  'createPasswordResetToken',
  'redeemPasswordResetToken',
  'resetFailedLogins',
] as const satisfies readonly (keyof AuthService)[];

/** The methods of `AuthService` that can take part in the application's transaction. */
export type AuthInTransaction = Pick<AuthService, (typeof IN_TRANSACTION)[number]>;
