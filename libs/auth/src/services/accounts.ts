import type { ClientInfo } from '../domain/client';
import { AuthError } from '../domain/errors';
import type { AccountStore } from '../domain/ports/account-store';
import type { UserId, UserStore } from '../domain/ports/user-store';
import type { ClientInspector } from './client-inspector';
import type { LoginAttempts } from './login-attempts';
import type { SessionNotices } from './session-notices';

/** Disabling, enabling and forgetting users. */
export class Accounts {
  constructor(
    private readonly inspector: ClientInspector,
    private readonly users: UserStore,
    private readonly accounts: AccountStore,
    private readonly attempts: LoginAttempts,
    private readonly notices: SessionNotices,
  ) {}

  async disable(userId: UserId, info: ClientInfo): Promise<void> {
    this.assertSettable();
    const at = this.notices.circumstances(this.inspector.inspect(info));
    const ended = await this.accounts.disable(userId, at);
    if (!ended) throw unknownUser();
    this.notices.tellEnds(ended);
  }

  async enable(userId: UserId): Promise<void> {
    this.assertSettable();
    if (!(await this.accounts.enable(userId))) throw unknownUser();
  }

  /** The user may be gone already, or be removed by the host afterwards. */
  async forget(userId: UserId): Promise<void> {
    const user = await this.users.findById(userId);
    if (user) await this.attempts.reset(user.username);
    this.notices.tellEnds(
      await this.accounts.forget(String(userId), this.notices.circumstances(this.inspector.inspect({}))),
    );
  }

  private assertSettable(): void {
    if (this.accounts.canSetActive) return;
    throw new AuthError('not_supported', 'The user store cannot enable and disable users.');
  }
}

function unknownUser(): AuthError {
  return new AuthError('unknown_user', 'There is no such user.');
}
