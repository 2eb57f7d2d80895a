import type { ClientInfo } from '../domain/client';
import { AuthError, invalidField } from '../domain/errors';
import { FIELD_MESSAGES, passwordProblem } from '../domain/fields';
import type { Clock } from '../domain/ports/clock';
import type { SessionStore } from '../domain/ports/session-store';
import type { UserStore } from '../domain/ports/user-store';
import type { ResolvedAuthOptions } from '../options/auth-options';
import type { AuthPrincipal } from './authentication';
import { refuseField } from './login';
import type { LoginAttempts, Verdict } from './login-attempts';
import type { PasswordVerifier } from './password-verifier';

/** Proving once more, within a session, who one is. (ASVS 7.5.1, 7.5.3) */
export class Reauthentication {
  constructor(
    private readonly options: ResolvedAuthOptions,
    private readonly clock: Clock,
    private readonly users: UserStore,
    private readonly verifier: PasswordVerifier,
    private readonly attempts: LoginAttempts,
    private readonly sessions: SessionStore,
  ) {}

  /** Whether `POST reauthenticate/` is there. */
  get hasEndpoint(): boolean {
    return this.options.recentLogin.endpoint;
  }

  /** @throws AuthError `invalid_field` on `password`, counted as a failed login; `too_many_attempts` */
  async reauthenticate({ userId, session }: AuthPrincipal, password: string, info: ClientInfo): Promise<void> {
    refuseField('password', passwordProblem(password));
    const user = await this.users.findById(userId);
    if (!user) throw sessionIsOver();
    return this.attempts.run(user.username, info, async (attempt): Promise<Verdict<void>> => {
      const matches = await this.verifier.verify(password, user.passwordHash);
      if (!matches) return { wrong: invalidField('password', FIELD_MESSAGES.password), user };
      if (!(await this.sessions.reauthenticate(session.id, this.clock.now()))) throw sessionIsOver();
      await this.attempts.succeed(attempt);
      return { right: undefined };
    });
  }

  /** @throws AuthError `recent_login_required` where the user proved who they are longer ago than that */
  assertRecent({ authenticatedAt }: AuthPrincipal, withinSeconds: number): void {
    if (this.clock.now() - authenticatedAt.getTime() < withinSeconds * 1000) return;
    throw new AuthError('recent_login_required', 'A recent login is required.');
  }

  /** The same for ending sessions, where the options ask for it. (ASVS 7.5.2) */
  assertMayEndSessions(principal: AuthPrincipal): void {
    const { toEndSessionsSeconds } = this.options.recentLogin;
    if (toEndSessionsSeconds !== false) this.assertRecent(principal, toEndSessionsSeconds);
  }
}

function sessionIsOver(): AuthError {
  return new AuthError('access_token_invalid', 'Invalid or expired access token.');
}
