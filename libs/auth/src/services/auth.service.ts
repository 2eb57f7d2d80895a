import { Injectable } from '@nestjs/common';
import type { AuthEventEntry } from '../domain/auth-event';
import type { ClientInfo } from '../domain/client';
import { AuthError } from '../domain/errors';
import type { TransactionManager } from '../domain/ports/host-transactions';
import type { UserId } from '../domain/ports/user-store';
import type { Session } from '../domain/session';
import type { OpenedSession, TokenPair } from '../domain/token-pair';
import type { AuthPrincipal } from './authentication';
import { joining } from './in-transaction';
import type { Credentials } from './login';
import { measured } from './measured';
import type { CreatedUser, PasswordChange, PasswordResetToken } from './passwords';
import type { UseCases } from './use-cases';

/** How a token without a principal is counted. */
const REFUSED = { 'error.type': 'access_token_invalid' } as const;

/** What a host does to accounts. Logging in and refreshing are no part of anybody's transaction. */
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

/** The calls of `AuthService` that can take part in a transaction of the host's. */
export type AuthInTransaction = Pick<AuthService, (typeof IN_TRANSACTION)[number]>;

/**
 * Everything that the endpoints do, and what a host needs besides.
 *
 * Every method rejects with `AuthError` where it refuses; `AuthErrorFilter` turns that into the answer that the endpoints
 * give. `client` says where the request came from: `clientOf(request)` takes it from a request.
 */
@Injectable()
export class AuthService {
  constructor(private readonly use: UseCases) {}

  /**
   * The calls that create, disable and forget users, end sessions and set passwords, as a part of a transaction of the
   * host's: `dataSource.transaction((manager) => auth.inTransaction(manager).disableUser(id))`. Their signals wait for its
   * commit, and are dropped at its rollback. A user store of the host's own takes no part.
   * @throws Error for a manager that is in no transaction, or of another DataSource
   */
  inTransaction(manager: TransactionManager): AuthInTransaction {
    return joining(this.use.transactions, manager, this, IN_TRANSACTION);
  }

  /** Whether the user store can set passwords. */
  get canSetPasswords(): boolean {
    return typeof this.use.users.setPasswordHash === 'function';
  }

  /**
   * Logs a user in by name and password.
   * @throws AuthError `invalid_credentials`, `too_many_attempts`, `session_limit_reached`, `busy`, `invalid_field`
   */
  login(credentials: Credentials, client: ClientInfo = {}): Promise<OpenedSession> {
    return measured(this.use.metrics, 'session_auth.login.duration', () => this.use.login.login(credentials, client));
  }

  /**
   * Opens a session for a user whose identity was proven elsewhere: by single sign-on, a passkey, a second factor.
   * @throws AuthError `unknown_user` for one who is not there or not active, `session_limit_reached`
   */
  async openSession(user: { readonly id: UserId } | UserId, client: ClientInfo = {}): Promise<OpenedSession> {
    const id = typeof user === 'object' ? user.id : user;
    const stored = id === undefined || id === null ? null : await this.use.users.findById(id);
    const proof = { credentialsVersion: null, attempt: null };
    const opened =
      stored?.active && (await this.use.opening.open(stored.id, this.use.inspector.inspect(client), proof));
    if (!opened) throw new AuthError('unknown_user', 'There is no such user, or the user is not active.');
    return opened;
  }

  /**
   * Exchanges a refresh token for a new pair; it is dead at once. One that was used before ends its family and all
   * sessions of the user.
   * @throws AuthError `invalid_refresh_token`
   */
  refresh(refreshToken: string, client: ClientInfo = {}): Promise<TokenPair> {
    const refresh = (): Promise<TokenPair> => this.use.refresh.refresh(refreshToken, client);
    return measured(this.use.metrics, 'session_auth.refresh.duration', refresh);
  }

  /** The principal of a live access token of an active user, or null. Read from the database at every call. */
  authenticate(accessToken: string, client: ClientInfo = {}): Promise<AuthPrincipal | null> {
    const lookUp = (): Promise<AuthPrincipal | null> => this.use.authentication.authenticate(accessToken, client);
    return measured(this.use.metrics, 'session_auth.lookup.duration', lookUp, (found) => (found ? undefined : REFUSED));
  }

  /** The host's own user object of a principal. */
  loadUser(principal: AuthPrincipal): Promise<unknown> {
    return this.use.users.load(principal.userId);
  }

  /** Ends the session of the principal. */
  logout(principal: AuthPrincipal, client: ClientInfo = {}): Promise<void> {
    return this.use.sessions.logout(principal, client);
  }

  /** Ends the sessions of the principal's user, all or all but the current one; how many it ended. */
  logoutAll(
    principal: AuthPrincipal,
    options: { readonly keepCurrent: boolean } = { keepCurrent: false },
    client: ClientInfo = {},
  ): Promise<number> {
    return this.use.sessions.logoutAll(principal, options, client);
  }

  /** The user's active sessions, newest first. */
  listSessions(userId: UserId, options: { readonly currentSessionId?: string } = {}): Promise<Session[]> {
    return this.use.sessions.list(userId, options.currentSessionId ?? null);
  }

  /**
   * Ends one session of the user. `by` tells the log who wanted it: the user, or an administrator, whom `actor` names; the
   * user sees that in the history.
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
    return this.use.sessions.revoke(userId, sessionId, client, { currentId, reason, ...who });
  }

  /** The user's latest authentication events, newest first: 50, or as many as `limit` says, 200 at most. */
  history(userId: UserId, options: { readonly limit?: number } = {}): Promise<readonly AuthEventEntry[]> {
    return this.use.sessions.history(userId, options.limit);
  }

  /**
   * Changes the password of the principal's user. The current session goes on with the pair that comes back; the others
   * end, unless `revokeOnPasswordChange` is false.
   * @throws AuthError `invalid_field` on `current_password` or `new_password`
   */
  changePassword(principal: AuthPrincipal, change: PasswordChange, client: ClientInfo = {}): Promise<TokenPair> {
    return this.use.passwords.change(principal, change, client);
  }

  /**
   * Proves once more, within a session, who its user is.
   * @throws AuthError `invalid_field` on `password`, counted as a failed login; `too_many_attempts`
   */
  reauthenticate(principal: AuthPrincipal, password: string, client: ClientInfo = {}): Promise<void> {
    return this.use.reauthentication.reauthenticate(principal, password, client);
  }

  /** Whether `POST reauthenticate/` is there. */
  get canReauthenticate(): boolean {
    return this.use.reauthentication.hasEndpoint;
  }

  /** @throws AuthError `recent_login_required` where the user proved who they are longer ago than that */
  assertRecentLogin(principal: AuthPrincipal, withinSeconds: number): void {
    this.use.reauthentication.assertRecent(principal, withinSeconds);
  }

  /** The same for ending sessions, where `recentLogin.toEndSessionsSeconds` asks for it. */
  assertMayEndSessions(principal: AuthPrincipal): void {
    this.use.reauthentication.assertMayEndSessions(principal);
  }

  /**
   * Disables a user: all sessions end, and a login that is on its way is refused.
   * @throws AuthError `unknown_user`, `not_supported` where the user store cannot
   */
  disableUser(userId: UserId, client: ClientInfo = {}): Promise<void> {
    return this.use.accounts.disable(userId, client);
  }

  /** Enables a user again; sessions that ended stay ended. @throws AuthError `unknown_user`, `not_supported` */
  enableUser(userId: UserId): Promise<void> {
    return this.use.accounts.enable(userId);
  }

  /** Removes sessions, tokens and history of one user for good; the user is the host's to remove. (ASVS 14.2.7) */
  forgetUser(userId: UserId): Promise<void> {
    return this.use.accounts.forget(userId);
  }

  /**
   * A token by which a user who lost the password sets a new one, for the host to send. It is good once and for
   * `passwordResetTtlSeconds`, and ends the user's earlier ones; stored is its digest.
   * @throws AuthError `unknown_user` for one who is not there or not active
   */
  createPasswordResetToken(userId: UserId): Promise<PasswordResetToken> {
    return this.use.passwords.createResetToken(userId);
  }

  /**
   * Sets the password of the user whose token it is; as `resetPassword` otherwise. A refused password leaves the token good.
   * @throws AuthError `invalid_reset_token`, `invalid_field` on `new_password`
   */
  redeemPasswordResetToken(token: string, newPassword: string, client: ClientInfo = {}): Promise<void> {
    return this.use.passwords.redeemResetToken(token, newPassword, client);
  }

  /**
   * Sets a password for a user whom the host has identified otherwise; all sessions end, unless `revokeOnPasswordReset`
   * is false.
   * @throws AuthError `unknown_user`, `invalid_field` on `new_password`
   */
  resetPassword(userId: UserId, newPassword: string, client: ClientInfo = {}): Promise<void> {
    return this.use.passwords.reset(userId, newPassword, client);
  }

  /** Forgets the failed logins of a name, from wherever they came: logins of it are delayed and locked no more. */
  resetFailedLogins(username: string): Promise<void> {
    return this.use.attempts.reset(username);
  }

  /**
   * Creates a user; without a password (null) for one who logs in otherwise. `skipPolicy` is for users that are taken over
   * or made for a demonstration, whose passwords `passwordPolicy` would refuse.
   * @throws AuthError `username_taken`, `invalid_field`
   */
  createUser(
    user: { readonly username: string; readonly password: string | null },
    { skipPolicy = false }: { readonly skipPolicy?: boolean } = {},
  ): Promise<CreatedUser> {
    return this.use.passwords.createUser(user.username, user.password, skipPolicy);
  }

  /**
   * The hash of a password as the library would store it; `passwordPolicy` is not asked.
   * @throws AuthError `invalid_field` for a password that is too long to be hashed in full
   */
  hashPassword(password: string): Promise<string> {
    return this.use.newPassword.hash(password, 'password');
  }
}
