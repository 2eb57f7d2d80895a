import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../adapters/second-factor';
import { type AccountStatus, type RequestUser, type UserId, UserStore } from '../adapters/user-store';
import { Clock } from '../base/clock';
import { type Client, ClientInspector, type OperationContext } from '../history/client';
import { SignalBus } from '../history/signal-publisher';
import { readAccount } from '../users/users';
import type { SessionLookup } from './look-up';
import type { OpenOutcome } from './open-session';
import type { NetworkChange, RotateOutcome } from './rotate';
import { type EndedSession, isExpired, type SessionRecord, toSessionInfo } from './session';
import { SessionTransitions } from './transitions';

/** The account of an active session. */
export interface ValidAccount {
  /** The value for `request.user`, or null if the user was not read. */
  readonly user: RequestUser | null;
}

const WITHOUT_USER: ValidAccount = { user: null };

/**
 * Provides the current time, the client and the session signals to other services, and ends sessions that are no
 * longer valid.
 */
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

  /** Returns the id of the session's user in the application's own type. */
  userIdOf(session: SessionRecord): UserId {
    return this.users.parseId(session.userId);
  }

  /** Returns whether the session is valid. Ends an invalid session, like `accountIfValid`. */
  async isValid(found: SessionLookup, now: number, info: ClientInfo): Promise<boolean> {
    return (await this.accountIfValid(found, now, info)) !== null;
  }

  /**
   * Returns the account of a session, or null if the session has expired or its user is not active. In these cases,
   * also ends the user's expired sessions, or all sessions of the inactive user. Queries the user store if the lookup
   * has not read the account.
   */
  async accountIfValid(found: SessionLookup, now: number, info: ClientInfo): Promise<ValidAccount | null> {
    const { session, account: statusRead } = found;
    if (isExpired(session, now)) {
      await this.expireSessions(session.userId);
      return null;
    }
    const queried = statusRead === null ? await readAccount(this.users, session.userId) : null;
    const status = queried?.status ?? statusRead!;
    if (status === 'active') return queried ?? (found.readUser ? { user: found.readUser() } : WITHOUT_USER);
    await this.revokeForInactiveAccount(session.userId, status, this.operationContext(info));
    return null;
  }

  /** Ends the user's expired sessions, and emits a signal for each session. */
  async expireSessions(userId: string): Promise<void> {
    this.publishSessionEnded(await this.transitions.expire(userId, this.clock.now()));
  }

  /** Ends all sessions of a user who is disabled or deleted. Ended sessions never become active again. */
  async revokeForInactiveAccount(userId: string, account: AccountStatus, context: OperationContext): Promise<void> {
    this.publishSessionEnded(await this.transitions.endForInactiveAccount(userId, account, context));
  }

  publishSessionOpened({ session, newDevice, ended }: Extract<OpenOutcome, { kind: 'opened' }>): void {
    this.publishSessionEnded(ended);
    const opened = toSessionInfo(session, session.id);
    this.signals.emit('user_logged_in', { userId: this.userIdOf(session), session: opened, newDevice });
  }

  /** Emits a signal for each session that ended. */
  publishSessionEnded(ended: readonly EndedSession[], currentId: string | null = null): void {
    for (const { session, reason } of ended) {
      const userId = this.userIdOf(session);
      this.signals.emit('user_logged_out', { userId, session: toSessionInfo(session, currentId), reason });
    }
  }

  publishNetworkChange({ session, from, to }: NetworkChange): void {
    const refreshed = toSessionInfo(session, session.id);
    this.signals.emit('session_network_changed', { userId: this.userIdOf(session), session: refreshed, from, to });
  }

  publishTokenReuse(reuse: Extract<RotateOutcome, { kind: 'reused' }>, { ipAddress, userAgent }: Client): void {
    const { session, ended, generationsBehind, lastRefreshAt } = reuse;
    this.signals.emit('token_reuse_detected', {
      userId: this.userIdOf(session),
      session: toSessionInfo(session, null),
      ipAddress,
      userAgent,
      reuse: { generationsBehind, lastRefreshAt: new Date(lastRefreshAt) },
      sessionsEnded: ended.filter(({ reason }) => reason === 'token_reuse').length,
    });
    this.publishSessionEnded(ended);
  }
}
