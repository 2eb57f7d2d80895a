import { SECONDS, SIGNAL_AT, type ModelOptions } from './options';
import {
  ENDS,
  type EndReason,
  type ModelEvent,
  type ModelSession,
  type ModelUser,
  type Pair,
  type RetiredToken,
  type Stored,
} from './state';

/**
 * What docs/reference.md says, as simply as it can be written: no database, nothing in parallel, plain loops. A method
 * judges an action and changes the model as the action would; `refused` and the like are the codes of refusals.
 */
export class Model {
  readonly users: ModelUser[] = [];
  readonly sessions: ModelSession[] = [];
  readonly events: ModelEvent[] = [];
  /** Signals that are expected and have not been compared yet. */
  signals: string[] = [];

  constructor(
    readonly options: ModelOptions,
    public now: number,
  ) {}

  activeOf(user: ModelUser): ModelSession[] {
    return this.sessions.filter((session) => session.user === user && session.state === 'active');
  }

  liveOf(user: ModelUser): ModelSession[] {
    return this.activeOf(user).filter((session) => !this.isOver(session));
  }

  isOver(session: ModelSession): boolean {
    return this.now >= Math.min(session.idleEnd, session.absoluteEnd);
  }

  end(session: ModelSession, reason: EndReason): void {
    const { state, event } = ENDS[reason];
    session.state = state;
    session.reason = reason;
    session.answerUntil = null;
    if (event) this.log(session.user, event, event === 'logout' ? {} : { session_id: session.id, reason });
    this.signals.push(`user_logged_out ${session.user.name} ${session.id} ${reason}`);
  }

  endAll(sessions: readonly ModelSession[], reason: EndReason): number {
    const live = sessions.filter((session) => session.state === 'active' && !this.isOver(session));
    for (const session of live) this.end(session, reason);
    return live.length;
  }

  /** Somebody looked at this session and refused it: if its time is over, that has been noticed. */
  notice(session: ModelSession): void {
    if (session.state === 'active' && this.isOver(session)) this.end(session, 'expired');
  }

  /** When else a session whose time is over is found to be is the library's choice; it tells so once. */
  adoptExpiries({ states }: Stored): void {
    for (const session of this.sessions) if (states.get(session.id) === 'expired') this.notice(session);
  }

  /** Whether the session policy lets one more in; what has to end for it has ended then. */
  admit(user: ModelUser, { states }: Stored): 'session_limit_reached' | null {
    const { sessionPolicy, maxSessions, onSessionLimit } = this.options;
    if (sessionPolicy === 'multi') return null;
    const live = this.liveOf(user);
    const excess = live.length + 1 - (sessionPolicy === 'single' ? 1 : maxSessions);
    if (excess > 0 && sessionPolicy === 'max_count' && onSessionLimit === 'reject') {
      this.signals.push(`session_limit_reached ${user.name} ${live.length}`);
      return 'session_limit_reached';
    }
    // Of two that were opened within the same millisecond either may go.
    const survives = (session: ModelSession): number => (states.get(session.id) === 'active' ? 1 : 0);
    const oldest = live.sort((a, b) => a.createdAt - b.createdAt || survives(a) - survives(b));
    this.endAll(oldest.slice(0, Math.max(0, excess)), 'session_policy');
    return null;
  }

  opened(user: ModelUser, id: string, pair: Pair): void {
    const { now } = this;
    const session: ModelSession = {
      id,
      user,
      state: 'active',
      reason: null,
      createdAt: now,
      lastActivity: now,
      idleEnd: now + SECONDS.idle * 1000,
      absoluteEnd: now + SECONDS.absolute * 1000,
      pair,
      accessEnd: 0,
      refreshEnd: 0,
      generation: 0,
      retired: [],
      accessTokens: [],
      answerUntil: null,
      isPruned: false,
    };
    this.sessions.push(session);
    this.give(session, pair);
    this.log(user, 'login_success');
    this.signals.push(`user_logged_in ${user.name} ${id}`);
  }

  /** The session of an access token that is accepted, or null. */
  authenticate(token: string): ModelSession | null {
    const session = this.sessions.find((one) => one.pair.accessToken === token && one.state === 'active');
    if (!session) return null;
    this.notice(session);
    if (session.state !== 'active' || this.now >= session.accessEnd || this.isGone(session.user)) return null;
    if (this.now - session.lastActivity >= SECONDS.activity * 1000) this.touch(session);
    return session;
  }

  /** Activity never goes back, should the clock. */
  touch(session: ModelSession): void {
    session.lastActivity = Math.max(session.lastActivity, this.now);
    session.idleEnd = session.lastActivity + SECONDS.idle * 1000;
  }

  /** Gives the session new tokens, bounded by its absolute end. */
  give(session: ModelSession, pair: Pair, retiredAs: RetiredToken['state'] | null = null): void {
    if (retiredAs) {
      const { generation } = session;
      const token = session.pair.refreshToken;
      session.retired.push({ token, generation, state: retiredAs, at: this.now, isPruned: false });
      session.generation++;
    }
    session.pair = pair;
    session.accessTokens.push(pair.accessToken);
    session.accessEnd = Math.min(this.now + SECONDS.access * 1000, session.absoluteEnd);
    session.refreshEnd = Math.min(this.now + SECONDS.refresh * 1000, session.absoluteEnd);
    session.answerUntil = null;
  }

  /** A user who was disabled in the host's table is out at the first request that notices. */
  isGone(user: ModelUser): boolean {
    if (!user.active) this.endAll(this.activeOf(user), 'user_disabled');
    return !user.active;
  }

  logoutAll(current: ModelSession, keepCurrent: boolean): number {
    const others = this.activeOf(current.user).filter((session) => session !== current);
    return this.endAll(others, 'logout_all') + (keepCurrent ? 0 : this.endAll([current], 'logout'));
  }

  revoke(user: ModelUser, id: string, by: 'user' | 'admin'): 'revoked' | 'session_not_found' {
    const session = this.activeOf(user).find((one) => one.id === id);
    if (session) this.notice(session);
    if (session?.state !== 'active') return 'session_not_found';
    this.end(session, by);
    return 'revoked';
  }

  passwordChanged(current: ModelSession, password: string, pair: Pair): void {
    const { user } = current;
    this.give(current, pair, 'revoked');
    user.password = password;
    user.failures = null;
    const others = this.activeOf(user).filter((session) => session !== current);
    if (this.options.revokeOnPasswordChange) this.endAll(others, 'password_change');
    this.log(user, 'password_change');
    this.signals.push(`password_changed ${user.name} ${current.id}`);
  }

  passwordReset(user: ModelUser, password: string): void {
    user.password = password;
    user.failures = null;
    this.endAll(this.activeOf(user), 'password_reset');
    this.log(user, 'password_reset');
    this.signals.push(`password_reset ${user.name}`);
  }

  /** Whether the name has to wait before another attempt. */
  isDelayed(user: ModelUser): boolean {
    return user.failures !== null && user.failures.until > this.now && user.failures.delayedUntil > this.now;
  }

  loginFailed(user: ModelUser): void {
    const { throttleFrom } = this.options;
    const count = (user.failures && user.failures.until > this.now ? user.failures.count : 0) + 1;
    const delaySeconds =
      throttleFrom === false || count < throttleFrom ? 0 : Math.min(3600, 30 * 2 ** (count - throttleFrom));
    user.failures = {
      count,
      until: this.now + Math.max(SECONDS.failures, 2 * delaySeconds) * 1000,
      delayedUntil: delaySeconds > 0 ? this.now + delaySeconds * 1000 : 0,
    };
    this.log(user, 'login_failure', { username: user.name, failure_count: count });
    this.signals.push(`login_failed ${user.name} ${count}`);
    if (count === SIGNAL_AT) this.signals.push(`brute_force_threshold_hit ${user.name} ${count}`);
  }

  log(user: ModelUser, name: string, extra: ModelEvent['extra'] = {}): void {
    this.events.push({ user, name, at: this.now, extra });
  }
}
