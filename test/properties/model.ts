/**
 * What the reference says of sessions, as simply as it can be written: no database, nothing in parallel, plain loops. Instants
 * are milliseconds. It knows tokens by the text that the library gave out.
 */
export interface ModelOptions {
  readonly sessionPolicy: 'multi' | 'single' | 'max_count';
  readonly maxSessions: number;
  readonly onSessionLimit: 'revoke_oldest' | 'reject';
  readonly rotateRefreshTokens: boolean;
  readonly refreshReuseGraceSeconds: number;
}

export const SECONDS = { access: 60, refresh: 600, idle: 900, absolute: 3600, activity: 60, failures: 300 } as const;

export interface Pair {
  readonly accessToken: string;
  readonly refreshToken: string;
}

export interface ModelSession {
  readonly id: string;
  readonly user: string;
  state: string;
  reason: string | null;
  readonly createdAt: number;
  lastActivity: number;
  idleEnd: number;
  readonly absoluteEnd: number;
  pair: Pair;
  accessEnd: number;
  refreshEnd: number;
  generation: number;
  /** Refresh tokens before the live one, oldest first. */
  readonly retired: { readonly token: string; readonly state: 'used' | 'revoked'; readonly at: number }[];
  /** The end of the grace period of the last one, while its answer is kept. */
  answerUntil: number | null;
}

/** The refusals by code; what succeeds is told otherwise. */
export type Refusal =
  'refused' | 'session_limit_reached' | 'unknown_user' | 'session_not_found' | 'invalid_credentials';

export class Model {
  now: number;
  readonly sessions: ModelSession[] = [];
  readonly inactive = new Set<string>();
  /** Name of the event with the user -> how many. */
  readonly events = new Map<string, number>();
  signals: string[] = [];
  /** The latest instant of a clean-up. */
  prunedAt = 0;
  private readonly failures = new Map<string, { count: number; until: number }>();

  constructor(
    private readonly options: ModelOptions,
    now: number,
  ) {
    this.now = now;
  }

  activeOf(user: string): ModelSession[] {
    return this.sessions
      .filter((session) => session.user === user && session.state === 'active')
      .sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
  }

  liveOf(user: string): ModelSession[] {
    return this.activeOf(user).filter((session) => !this.isOver(session));
  }

  isOver(session: ModelSession): boolean {
    return this.now >= Math.min(session.idleEnd, session.absoluteEnd);
  }

  /** Whether a login may open a session; what has to end for it has ended then. */
  admit(user: string): Refusal | null {
    if (this.inactive.has(user)) return 'unknown_user';
    const { sessionPolicy, maxSessions, onSessionLimit } = this.options;
    if (sessionPolicy === 'multi') return null;
    const limit = sessionPolicy === 'single' ? 1 : maxSessions;
    const live = this.liveOf(user);
    const excess = Math.max(0, live.length - limit + 1);
    if (excess > 0 && sessionPolicy === 'max_count' && onSessionLimit === 'reject') {
      this.signals.push(`session_limit_reached ${user}`);
      return 'session_limit_reached';
    }
    this.expire(user);
    for (const session of live.slice(0, excess)) this.end(session, 'revoked', 'session_policy', 'forced_logout');
    return null;
  }

  opened(user: string, id: string, pair: Pair): void {
    const { now } = this;
    this.sessions.push({
      id,
      user,
      state: 'active',
      reason: null,
      createdAt: now,
      lastActivity: now,
      idleEnd: now + SECONDS.idle * 1000,
      absoluteEnd: now + SECONDS.absolute * 1000,
      pair,
      accessEnd: now + SECONDS.access * 1000,
      refreshEnd: now + SECONDS.refresh * 1000,
      generation: 0,
      retired: [],
      answerUntil: null,
    });
    this.log('login_success', user);
    this.signals.push(`user_logged_in ${user}`);
  }

  /** A good password clears the count, if the login was let in. */
  clearFailures(user: string): void {
    this.failures.delete(user);
  }

  loginFailed(user: string): void {
    const known = this.failures.get(user);
    const count = known && known.until > this.now ? known.count + 1 : 1;
    this.failures.set(user, { count, until: this.now + SECONDS.failures * 1000 });
    this.log('login_failure', user);
    this.signals.push(`login_failed ${user} ${count}`);
    if (count === 5) this.signals.push(`brute_force_threshold_hit ${count}`);
  }

  /** What a refresh gives: `new` (a pair that `refreshed` is told of), the same pair again, or a refusal. */
  refresh(token: string): 'new' | Pair | 'refused' {
    const session = this.sessions.find((one) => one.pair.refreshToken === token || this.retiredOf(one, token));
    if (!session || session.state !== 'active') return 'refused';
    const retired = this.retiredOf(session, token);
    if (retired && retired.state !== 'used') return 'refused';
    if (this.isOver(session)) {
      this.expire(session.user);
      return 'refused';
    }
    if (!retired) {
      if (this.now >= session.refreshEnd) return 'refused';
      return this.isGone(session.user) ? 'refused' : 'new';
    }
    if (this.isInGrace(session, token)) return this.isGone(session.user) ? 'refused' : session.pair;
    this.reuse(session);
    return 'refused';
  }

  refreshed(token: string, pair: Pair): void {
    const session = this.sessions.find((one) => one.pair.refreshToken === token)!;
    if (this.options.rotateRefreshTokens) {
      session.retired.push({ token, state: 'used', at: this.now });
      session.generation++;
    }
    const grace = this.options.refreshReuseGraceSeconds * 1000;
    session.answerUntil = grace > 0 ? this.now + grace : null;
    session.pair = pair;
    session.lastActivity = Math.max(this.now, session.lastActivity);
    session.idleEnd = session.lastActivity + SECONDS.idle * 1000;
    session.accessEnd = Math.min(this.now + SECONDS.access * 1000, session.absoluteEnd);
    session.refreshEnd = Math.min(this.now + SECONDS.refresh * 1000, session.absoluteEnd);
    this.log('token_refresh', session.user);
  }

  /** The session of an access token that is accepted, or null. */
  authenticate(token: string): ModelSession | null {
    const session = this.sessions.find((one) => one.pair.accessToken === token && one.state === 'active');
    if (!session) return null;
    if (this.isOver(session)) {
      this.expire(session.user);
      return null;
    }
    if (this.now >= session.accessEnd || this.isGone(session.user)) return null;
    if (this.now - session.lastActivity >= SECONDS.activity * 1000) {
      session.lastActivity = this.now;
      session.idleEnd = this.now + SECONDS.idle * 1000;
    }
    return session;
  }

  logoutAll(current: ModelSession, keepCurrent: boolean): number {
    let ended = 0;
    for (const session of this.activeOf(current.user)) {
      if (keepCurrent && session === current) continue;
      if (this.isOver(session)) {
        this.end(session, 'expired', 'expired', null);
        continue;
      }
      ended++;
      if (session === current) this.end(session, 'logged_out', 'logout', 'logout');
      else this.end(session, 'revoked', 'logout_all', 'session_revoked');
    }
    return ended;
  }

  revoke(user: string, id: string): 'revoked' | Refusal {
    const session = this.activeOf(user).find((one) => one.id === id);
    if (!session) return 'session_not_found';
    if (this.isOver(session)) {
      this.end(session, 'expired', 'expired', null);
      return 'session_not_found';
    }
    this.end(session, 'revoked', 'user', 'session_revoked');
    return 'revoked';
  }

  passwordChanged(current: ModelSession, pair: Pair): void {
    current.retired.push({ token: current.pair.refreshToken, state: 'revoked', at: this.now });
    current.generation++;
    current.answerUntil = null;
    current.pair = pair;
    current.accessEnd = Math.min(this.now + SECONDS.access * 1000, current.absoluteEnd);
    current.refreshEnd = Math.min(this.now + SECONDS.refresh * 1000, current.absoluteEnd);
    for (const session of this.activeOf(current.user)) {
      if (session === current) continue;
      if (this.isOver(session)) this.end(session, 'expired', 'expired', null);
      else this.end(session, 'revoked', 'password_change', 'forced_logout');
    }
    // A right password ends the row of wrong ones, whatever it was given for.
    this.failures.delete(current.user);
    this.log('password_change', current.user);
    this.signals.push(`password_changed ${current.user}`);
  }

  /** How many sessions a clean-up finds to be over. */
  prune(): number {
    this.prunedAt = Math.max(this.prunedAt, this.now);
    const over = this.sessions.filter((session) => session.state === 'active' && this.isOver(session));
    for (const session of over) this.end(session, 'expired', 'expired', null);
    for (const session of this.sessions) {
      if (session.answerUntil !== null && session.answerUntil <= this.now) session.answerUntil = null;
    }
    for (const [user, { until }] of this.failures) if (until <= this.now) this.failures.delete(user);
    return over.length;
  }

  /** The first to look at a user's sessions whose time is over ends them. */
  expire(user: string): void {
    for (const session of this.activeOf(user)) {
      if (this.isOver(session)) this.end(session, 'expired', 'expired', null);
    }
  }

  end(session: ModelSession, state: string, reason: string, event: string | null): void {
    session.state = state;
    session.reason = reason;
    session.answerUntil = null;
    if (event) this.log(event, session.user);
    this.signals.push(`user_logged_out ${session.user} ${session.id} ${reason}`);
  }

  private retiredOf(session: ModelSession, token: string): ModelSession['retired'][number] | undefined {
    return session.retired.find((one) => one.token === token);
  }

  private isInGrace(session: ModelSession, token: string): boolean {
    return session.answerUntil !== null && this.now < session.answerUntil && session.retired.at(-1)?.token === token;
  }

  /** A user who is disabled is out at the first request that notices. */
  private isGone(user: string): boolean {
    if (!this.inactive.has(user)) return false;
    for (const session of this.activeOf(user)) {
      if (this.isOver(session)) this.end(session, 'expired', 'expired', null);
      else this.end(session, 'revoked', 'user_disabled', 'forced_logout');
    }
    return true;
  }

  private reuse(family: ModelSession): void {
    const active = this.activeOf(family.user);
    this.signals.push(`token_reuse_detected ${family.user} ${active.filter((one) => !this.isOver(one)).length}`);
    for (const session of active) {
      if (this.isOver(session)) this.end(session, 'expired', 'expired', null);
      else this.end(session, 'revoked', 'token_reuse', null);
    }
    this.log('token_reuse', family.user);
  }

  private log(event: string, user: string): void {
    const key = `${user} ${event}`;
    this.events.set(key, (this.events.get(key) ?? 0) + 1);
  }
}
