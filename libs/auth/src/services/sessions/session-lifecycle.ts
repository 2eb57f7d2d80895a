import { Injectable } from '@nestjs/common';
import type { Client, ClientInfo } from '../../domain/client';
import type { AccountStatus } from '../../domain/account-status';
import type { NetworkChange, OpenOutcome, RotateOutcome } from '../../domain/outcomes';
import { Clock } from '../../domain/ports/platform';
import { type OperationContext, type SessionLookup, SessionTransitions } from '../../domain/ports/sessions';
import { SignalBus } from '../../domain/ports/events';
import { askAccount, type UserId, UserStore } from '../../domain/ports/accounts';
import type { RequestUser } from '../../domain/request-user';
import { isExpired, viewSession, type EndedSession, type SessionRecord } from '../../domain/session';
import { ClientInspector } from './client-inspector';

/** The account of a live session. */
export interface LiveAccount {
  /** What `request.user` holds; null where nothing was read of the user. */
  readonly user: RequestUser | null;
}

const WITHOUT_USER: LiveAccount = { user: null };

/** What the use cases of sessions share: the time, the client, and the signals of sessions. */
@Injectable()
export class SessionLifecycle {
  constructor(
    private readonly clock: Clock,
    private readonly inspector: ClientInspector,
    private readonly transitions: SessionTransitions,
    private readonly users: UserStore,
    readonly signals: SignalBus,
  ) {}

  now(): number {
    return this.clock.now();
  }

  operationContext(info: ClientInfo): OperationContext {
    return { now: this.clock.now(), client: this.inspector.inspect(info) };
  }

  /** The user's id in the application's type. */
  userIdOf(session: SessionRecord): UserId {
    return this.users.parseId(session.userId);
  }

  /** Whether an active session continues: see `accountIfLive`. */
  async isLive(found: SessionLookup, now: number, info: ClientInfo): Promise<boolean> {
    return (await this.accountIfLive(found, now, info)) !== null;
  }

  /**
   * Returns the account of an active session that continues. The end of one that has expired, or whose user is not
   * active, is stored. The user store is asked where the statement has not read the account.
   */
  async accountIfLive(found: SessionLookup, now: number, info: ClientInfo): Promise<LiveAccount | null> {
    const { session, account: read } = found;
    if (isExpired(session, now)) {
      await this.expireSessions(session.userId);
      return null;
    }
    const asked = read === null ? await askAccount(this.users, session.userId) : null;
    const status = asked?.status ?? read!;
    if (status === 'active') return asked ?? (found.readUser ? { user: found.readUser() } : WITHOUT_USER);
    await this.revokeForInactiveAccount(session.userId, status, this.operationContext(info));
    return null;
  }

  /** Stores the end of the user's expired sessions and publishes each once. */
  async expireSessions(userId: string): Promise<void> {
    this.publishSessionEnded(await this.transitions.expire(userId, this.clock.now()));
  }

  /** Ends all sessions of a user who is disabled or deleted. They are never revived. */
  async revokeForInactiveAccount(userId: string, account: AccountStatus, context: OperationContext): Promise<void> {
    this.publishSessionEnded(await this.transitions.endForInactiveAccount(userId, account, context));
  }

  publishSessionOpened({ session, newDevice, ended }: Extract<OpenOutcome, { kind: 'opened' }>): void {
    this.publishSessionEnded(ended);
    const opened = viewSession(session, session.id);
    this.signals.emit('user_logged_in', { userId: this.userIdOf(session), session: opened, newDevice });
  }

  /** Emits one signal for each session that ended. */
  publishSessionEnded(ended: readonly EndedSession[], currentId: string | null = null): void {
    for (const { session, reason } of ended) {
      const userId = this.userIdOf(session);
      this.signals.emit('user_logged_out', { userId, session: viewSession(session, currentId), reason });
    }
  }

  publishNetworkChange({ session, from, to }: NetworkChange): void {
    const refreshed = viewSession(session, session.id);
    this.signals.emit('session_network_changed', { userId: this.userIdOf(session), session: refreshed, from, to });
  }

  publishTokenReuse(reuse: Extract<RotateOutcome, { kind: 'reused' }>, { ipAddress, userAgent }: Client): void {
    const { session, ended, generationsBehind, lastRefreshAt } = reuse;
    this.signals.emit('token_reuse_detected', {
      userId: this.userIdOf(session),
      session: viewSession(session, null),
      ipAddress,
      userAgent,
      reuse: { generationsBehind, lastRefreshAt: new Date(lastRefreshAt) },
      sessionsEnded: ended.filter(({ reason }) => reason === 'token_reuse').length,
    });
    this.publishSessionEnded(ended);
  }
}
