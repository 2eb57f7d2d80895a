import type { Client, ClientInfo } from '../domain/client';
import { AuthError, invalidField } from '../domain/errors';
import { FIELD_MESSAGES, passwordProblem, usernameProblem } from '../domain/fields';
import type { CredentialStore } from '../domain/ports/credential-store';
import type { PasswordHasher } from '../domain/ports/password-hasher';
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
import type { PasswordVerifier } from './password-verifier';
import type { SessionNotices } from './session-notices';
import { pairOf, type TokenIssuer } from './token-issuer';

export interface PasswordChange {
  readonly currentPassword: string;
  readonly newPassword: string;
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
    private readonly tokens: TokenIssuer,
    private readonly inspector: ClientInspector,
    private readonly users: UserStore,
    private readonly credentials: CredentialStore,
    private readonly hasher: PasswordHasher,
    private readonly verifier: PasswordVerifier,
    private readonly attempts: LoginAttempts,
    private readonly signals: SignalBus,
    private readonly notices: SessionNotices,
  ) {}

  /** @throws AuthError `invalid_field` for a password that cannot be hashed in full */
  async hash(password: string, field = 'password'): Promise<string> {
    refuseField(field, passwordProblem(password));
    const most = this.hasher.maxPasswordBytes;
    if (Buffer.byteLength(password) > most) throw invalidField(field, FIELD_MESSAGES.passwordTooLong(most));
    return this.verifier.hash(password);
  }

  async createUser(username: string, password: string | null): Promise<CreatedUser> {
    refuseField('username', usernameProblem(username, USERNAME_LENGTH));
    const passwordHash = password === null ? null : await this.hash(password);
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
    if (!user) throw unknownUser();
    const passwordHash = await this.hash(newPassword, 'new_password');
    const outcome = await this.credentials.replace({
      ...this.notices.circumstances(this.inspector.inspect(info)),
      userId,
      passwordHash,
      revoke: this.options.revokeOnPasswordReset,
      keep: null,
    });
    if (outcome.kind === 'refused') throw unknownUser();
    this.notices.tellEnds(outcome.ended);
    this.signals.emit('password_reset', { userId });
    await this.attempts.reset(user.username);
  }

  private async replace(
    { session }: AuthPrincipal,
    user: StoredUser,
    newPassword: string,
    client: Client,
  ): Promise<TokenPair> {
    const passwordHash = await this.hash(newPassword, 'new_password');
    const access = this.tokens.issue('access');
    const refresh = this.tokens.issue('refresh');
    const at = this.notices.circumstances(client);
    const outcome = await this.credentials.replace({
      ...at,
      userId: user.id,
      passwordHash,
      expectedHash: user.passwordHash!,
      revoke: this.options.revokeOnPasswordChange,
      keep: { sessionId: session.id, issued: this.issued(at.now, access.digest, refresh.digest) },
    });
    if (outcome.kind === 'refused') throw sessionIsOver();
    this.notices.tellEnds(outcome.ended, session.id);
    const kept = outcome.kept && viewSession(outcome.kept, session.id);
    this.signals.emit('password_changed', { userId: user.id, session: kept });
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
