import type { Client, ClientInfo } from '../domain/client';
import { AuthError, invalidField } from '../domain/errors';
import { FIELD_MESSAGES, passwordProblem, usernameProblem } from '../domain/fields';
import { isToken } from '../domain/opaque-token';
import type { Clock } from '../domain/ports/clock';
import type { CredentialStore } from '../domain/ports/credential-store';
import type { IssuedPair } from '../domain/ports/session-store';
import type { SignalBus } from '../domain/ports/signal-bus';
import type { StoredUser, UserId, UserStore } from '../domain/ports/user-store';
import { viewSession } from '../domain/session';
import type { TokenPair } from '../domain/token-pair';
import { USERNAME_LENGTH } from '../domain/username';
import type { ResolvedAuthOptions } from '../options/auth-options';
import type { AuthPrincipal } from './authentication';
import type { ClientInspector } from './client-inspector';
import { refuseField } from './login';
import type { LoginAttempts, Verdict } from './login-attempts';
import type { NewPassword } from './new-password';
import type { PasswordVerifier } from './password-verifier';
import type { SessionNotices } from './session-notices';
import { pairOf, type TokenIssuer } from './token-issuer';

/** The password so far, and the one to be. */
export interface PasswordChange {
  readonly currentPassword: string;
  readonly newPassword: string;
}

/** A token for a new password, for the host to send to the user. It is stored nowhere. */
export interface PasswordResetToken {
  readonly token: string;
  readonly expiresAt: Date;
}

/** A user who has just been made; without the hash, which is nobody's business. */
export interface CreatedUser {
  readonly id: UserId;
  readonly username: string;
}

/** Making users, and changing and resetting their passwords. */
export class Passwords {
  constructor(
    private readonly options: ResolvedAuthOptions,
    private readonly clock: Clock,
    private readonly tokens: TokenIssuer,
    private readonly inspector: ClientInspector,
    private readonly users: UserStore,
    private readonly credentials: CredentialStore,
    private readonly newPassword: NewPassword,
    private readonly verifier: PasswordVerifier,
    private readonly attempts: LoginAttempts,
    private readonly signals: SignalBus,
    private readonly notices: SessionNotices,
  ) {}

  async createUser(username: string, password: string | null, skipPolicy: boolean): Promise<CreatedUser> {
    refuseField('username', usernameProblem(username, USERNAME_LENGTH));
    const hash = (given: string): Promise<string> =>
      skipPolicy ? this.newPassword.hash(given, 'password') : this.newPassword.accept(given, 'password', username);
    const passwordHash = password === null ? null : await hash(password);
    const user = await this.credentials.create({ username, passwordHash });
    if (!user) throw new AuthError('username_taken', 'A user with this name exists.');
    return { id: user.id, username: user.username };
  }

  /** Changes the password; the session goes on with a fresh token pair, the others end. */
  async change(principal: AuthPrincipal, change: PasswordChange, info: ClientInfo): Promise<TokenPair> {
    refuseField('current_password', passwordProblem(change.currentPassword));
    refuseField('new_password', passwordProblem(change.newPassword));
    this.assertSettable();
    const user = await this.users.findById(principal.userId);
    if (!user) throw sessionIsOver();
    return this.attempts.run(user.username, info, async (attempt): Promise<Verdict<TokenPair>> => {
      const matches = await this.verifier.verify(change.currentPassword, user.passwordHash);
      if (!matches) return { wrong: invalidField('current_password', FIELD_MESSAGES.password), user };
      const right = await this.replace(principal, user, change.newPassword, attempt.client);
      await this.attempts.succeed(attempt);
      return { right };
    });
  }

  /** Sets a password whose owner the host has identified otherwise, and ends all sessions. */
  async reset(userId: UserId, newPassword: string, info: ClientInfo): Promise<void> {
    this.assertSettable();
    const user = await this.users.findById(userId);
    if (!user || !(await this.set(user, newPassword, info, null))) throw unknownUser();
  }

  /** A token that lets its holder set a new password, once. The host sends it; nothing is sent here. (ASVS 6.4.3) */
  async createResetToken(userId: UserId): Promise<PasswordResetToken> {
    this.assertSettable();
    const user = await this.users.findById(userId);
    if (!user?.active) throw unknownUser();
    const { plain, digest } = this.tokens.issue('password_reset');
    const expiresAt = this.clock.now() + this.options.passwordResetTtlSeconds * 1000;
    await this.credentials.addReset(user.id, digest, expiresAt);
    return { token: plain, expiresAt: new Date(expiresAt) };
  }

  /** A refused new password does not use the token up. */
  async redeemResetToken(token: string, newPassword: string, info: ClientInfo): Promise<void> {
    this.assertSettable();
    if (typeof token !== 'string' || !isToken('password_reset', token)) throw invalidResetToken();
    const digest = this.tokens.digest(token);
    const owner = await this.credentials.ownerOfReset(digest, this.clock.now());
    const user = owner === null ? null : await this.users.findById(this.users.parseId(owner));
    if (!user?.active || !(await this.set(user, newPassword, info, digest))) throw invalidResetToken();
  }

  private async set(
    user: StoredUser,
    newPassword: string,
    info: ClientInfo,
    resetDigest: string | null,
  ): Promise<boolean> {
    const passwordHash = await this.newPassword.accept(newPassword, 'new_password', user.username);
    const outcome = await this.credentials.replace({
      ...this.notices.circumstances(this.inspector.inspect(info)),
      userId: user.id,
      passwordHash,
      resetDigest,
      revoke: this.options.revokeOnPasswordReset,
      keep: null,
    });
    this.notices.tellEnds(outcome.ended);
    if (outcome.kind === 'refused') return false;
    const isSet = outcome.kind === 'replaced' || outcome.isSet;
    if (isSet) this.signals.emit('password_reset', { userId: user.id });
    if (outcome.kind === 'broken') throw outcome.error;
    await this.attempts.reset(user.username);
    return true;
  }

  private async replace(
    { session }: AuthPrincipal,
    user: StoredUser,
    newPassword: string,
    client: Client,
  ): Promise<TokenPair> {
    const passwordHash = await this.newPassword.accept(newPassword, 'new_password', user.username);
    const access = this.tokens.issue('access');
    const refresh = this.tokens.issue('refresh');
    const at = this.notices.circumstances(client);
    const outcome = await this.credentials.replace({
      ...at,
      userId: user.id,
      passwordHash,
      expectedHash: user.passwordHash!,
      resetDigest: null,
      revoke: this.options.revokeOnPasswordChange,
      keep: { sessionId: session.id, issued: this.issued(at.now, access.digest, refresh.digest) },
    });
    this.notices.tellEnds(outcome.ended, session.id);
    if (outcome.kind === 'refused') throw sessionIsOver();
    const kept = outcome.kind === 'replaced' && outcome.kept ? viewSession(outcome.kept, session.id) : null;
    const isSet = outcome.kind === 'replaced' || outcome.isSet;
    if (isSet) this.signals.emit('password_changed', { userId: user.id, session: kept });
    if (outcome.kind === 'broken') throw outcome.error;
    if (!kept) throw sessionIsOver();
    return pairOf(access, refresh);
  }

  private assertSettable(): void {
    if (!this.credentials.canSetPasswords) {
      throw new AuthError('not_supported', 'The user store cannot set passwords.');
    }
  }

  /** The store bounds both by the absolute end of the session. */
  private issued(now: number, accessDigest: string, refreshDigest: string): IssuedPair {
    return {
      accessDigest,
      accessExpiresAt: now + this.options.accessTokenTtlSeconds * 1000,
      refreshDigest,
      refreshExpiresAt: now + this.options.refreshTokenTtlSeconds * 1000,
    };
  }
}

function sessionIsOver(): AuthError {
  return new AuthError('access_token_invalid', 'Invalid or expired access token.');
}

function unknownUser(): AuthError {
  return new AuthError('unknown_user', 'There is no such user.');
}

function invalidResetToken(): AuthError {
  return new AuthError('invalid_reset_token', 'Invalid or expired token.');
}
