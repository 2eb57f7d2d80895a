import type { Client } from '../domain/client';
import type { AccountStatus } from '../domain/outcomes';
import type { Clock } from '../domain/ports/clock';
import type { HostTransactions } from '../domain/ports/host-transactions';
import type { Circumstances, SessionStore } from '../domain/ports/session-store';
import type { SignalBus } from '../domain/ports/signal-bus';
import type { UserId, UserStore } from '../domain/ports/user-store';
import { isOver, viewSession, type EndedSession, type SessionLimits, type SessionRecord } from '../domain/session';
import type { ResolvedAuthOptions } from '../options/auth-options';
import type { OpenSockets } from './open-sockets';
import { limitsOf } from './session-limits';

/** What every use case needs to know of time and limits, and to tell of sessions that ended. */
export class SessionNotices {
  readonly limits: SessionLimits;

  constructor(
    options: ResolvedAuthOptions,
    private readonly clock: Clock,
    private readonly sessions: SessionStore,
    private readonly users: UserStore,
    private readonly signals: SignalBus,
    private readonly sockets: OpenSockets,
    private readonly transactions: HostTransactions,
  ) {
    this.limits = limitsOf(options);
  }

  circumstances(client: Client): Circumstances {
    return { now: this.clock.now(), limits: this.limits, client };
  }

  isOver(session: SessionRecord): boolean {
    return isOver(session, this.limits, this.clock.now());
  }

  /** One signal for each session that ended, whose sockets are closed by then. */
  tellEnds(ended: readonly EndedSession[], currentId: string | null = null): void {
    this.transactions.whenCommitted(() => this.sockets.closeOf(ended.map(({ session }) => session.id)));
    for (const { session, reason } of ended) {
      const userId = this.users.parseId(session.userId);
      this.signals.emit('user_logged_out', { userId, session: viewSession(session, currentId), reason });
    }
  }

  /** The time of a session is over: stores it, and tells it once. */
  async noticeOver(userId: string): Promise<void> {
    this.tellEnds(await this.sessions.expire(userId, this.clock.now(), this.limits));
  }

  /** The user may not be signed in any more: ends all sessions, for good. */
  async noticeGone(userId: string, account: AccountStatus, client: Client): Promise<void> {
    this.tellEnds(await this.sessions.endIfGone(userId, account, this.circumstances(client)));
  }

  /** What the user store says, for stores that are not in the same database. */
  async accountOf(userId: UserId): Promise<AccountStatus> {
    const user = await this.users.findById(userId);
    if (!user) return 'deleted';
    return user.active ? 'active' : 'disabled';
  }
}
