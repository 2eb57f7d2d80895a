import { SESSION_LIMIT } from '../../libs/auth/src/domain/session-policy';

/**
 * What the contract says of sessions, as simply as it can be written: no database, nothing in parallel, plain loops.
 * Instants are milliseconds. The model knows tokens by the text that the library issued.
 */
export interface ModelOptions {
  readonly sessionPolicy: 'multi' | 'single' | 'max_count';
  readonly maxSessions: number;
  readonly onSessionLimit: 'revoke_oldest' | 'reject';
  readonly trackIps: boolean;
}

/** What differs between the instances of one application, while its configuration is being changed. */
export interface InstanceOptions {
  readonly rotateRefreshTokens: boolean;
  readonly refreshReuseGraceSeconds: number;
  readonly idleTimeoutSeconds: number;
  readonly absoluteTimeoutSeconds: number;
}

export const SECONDS = {
  access: 60,
  refresh: 600,
  activity: 60,
  failures: 300,
  retention: 86_400,
  refusal: 3_600,
} as const;

export const MAX_REPLAYS = 100;

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
  authenticatedAt: number;
  lastActivity: number;
  idleEnd: number;
  readonly absoluteEnd: number;
  /** When pruning looks at it. */
  checkAt: number;
  pair: Pair;
  accessEnd: number;
  refreshEnd: number;
  family: number;
  generation: number;
  refreshedAt: number | null;
  lastNetwork: string | null;
  /** How the live pair is issued again, for the refresh token before it. */
  replay: Replay | null;
  /** Wrong passwords in a row within the session. */
  failures: number;
}

interface Replay {
  readonly predecessor: string;
  readonly network: string;
  readonly until: number;
  count: number;
  firstUsedAt: number | null;
}

/** Where a refresh token was issued, whatever became of it. */
interface Issued {
  readonly sessionId: string;
  readonly family: number;
  readonly generation: number;
}

/** Refusals are their error codes, or `refused` for a refresh token. */
export type Refusal = 'session_limit_reached' | 'unknown_user' | 'session_not_found';

export class Model {
  /** The options of the instance that acts next. */
  instance!: InstanceOptions;
  sessions: ModelSession[] = [];
  readonly inactive = new Set<string>();
  /** What the last step recorded and emitted. */
  events: string[] = [];
  signals: string[] = [];
  private readonly refreshTokens = new Map<string, Issued>();
  private families = 0;
  private readonly failures = new Map<string, { count: number; until: number }>();
  /** When a login that the session limit refused was last recorded. */
  private readonly refusals = new Map<string, number>();

  constructor(
    private readonly options: ModelOptions,
    public now: number,
  ) {}

  find(id: string): ModelSession | undefined {
    return this.sessions.find((session) => session.id === id);
  }

  /** The instants at which something about a session changes by itself. */
  deadlinesOf(id: string): number[] {
    const session = this.find(id);
    if (!session) return [];
    const { idleEnd, lastActivity, checkAt, accessEnd, refreshEnd, replay } = session;
    const { idleTimeoutSeconds, refreshReuseGraceSeconds } = this.instance;
    const byInstance = [lastActivity + idleTimeoutSeconds * 1000, lastActivity + refreshReuseGraceSeconds * 1000];
    const ends = [idleEnd, this.absoluteEndOf(session), accessEnd, refreshEnd, lastActivity + SECONDS.activity * 1000];
    return [...ends, checkAt, ...byInstance, ...(replay ? [replay.until] : [])];
  }

  activeOf(user: string): ModelSession[] {
    return this.sessions
      .filter((session) => session.user === user && session.state === 'active')
      .sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
  }

  liveOf(user: string): ModelSession[] {
    return this.activeOf(user).filter((session) => !this.isExpired(session));
  }

  /** By the timeouts that it was opened with, or those in force where they are shorter. */
  isExpired(session: ModelSession): boolean {
    const idleEnd = Math.min(session.idleEnd, session.lastActivity + this.instance.idleTimeoutSeconds * 1000);
    return this.now >= Math.min(idleEnd, this.absoluteEndOf(session));
  }

  /** Whether a login may open a session; those that must end for it end. */
  admit(user: string): Refusal | null {
    if (this.inactive.has(user)) return 'unknown_user';
    const { sessionPolicy, onSessionLimit } = this.options;
    const limit = { multi: SESSION_LIMIT, single: 1, max_count: this.options.maxSessions }[sessionPolicy];
    if (this.activeOf(user).length < limit) return null;
    const live = this.liveOf(user);
    const excess = Math.max(0, live.length - limit + 1);
    if (excess > 0 && sessionPolicy === 'max_count' && onSessionLimit === 'reject') {
      this.signals.push(`session_limit_reached ${user} ${live.length}`);
      if (this.now >= (this.refusals.get(user) ?? 0) + SECONDS.refusal * 1000) {
        this.refusals.set(user, this.now);
        this.log('login_blocked', user, { reason: 'session_limit' });
      }
      return 'session_limit_reached';
    }
    if (sessionPolicy === 'multi') live.sort((a, b) => a.lastActivity - b.lastActivity);
    this.expire(user);
    for (const session of live.slice(0, excess)) this.end(session, 'revoked', 'session_policy', 'forced_logout');
    return null;
  }

  opened(user: string, id: string, pair: Pair): void {
    const { now, instance } = this;
    const idleEnd = now + instance.idleTimeoutSeconds * 1000;
    const absoluteEnd = now + instance.absoluteTimeoutSeconds * 1000;
    const session: ModelSession = {
      ...{ id, user, state: 'active', reason: null, createdAt: now, authenticatedAt: now, lastActivity: now },
      ...{ idleEnd, absoluteEnd, checkAt: Math.min(idleEnd, absoluteEnd) },
      ...{ pair, accessEnd: 0, refreshEnd: 0, family: 0, generation: 0, refreshedAt: null, replay: null },
      ...{ lastNetwork: null, failures: 0 },
    };
    this.sessions.push(session);
    this.startFamily(session, pair);
    this.log('login_success', user);
    this.signals.push(`user_logged_in ${user}`);
  }

  clearFailures(user: string): void {
    this.failures.delete(user);
  }

  loginFailed(user: string, username: string): void {
    const known = this.failures.get(user);
    const count = known && known.until > this.now ? known.count + 1 : 1;
    this.failures.set(user, { count, until: this.now + SECONDS.failures * 1000 });
    this.reportFailure(user, username, count);
  }

  /** A wrong password within a session. */
  confirmationFailed(session: ModelSession, username: string): void {
    this.reportFailure(session.user, username, ++session.failures);
    if (session.failures === 100) this.endOrExpire(session, 'failed_reauthentication', 'forced_logout');
  }

  private reportFailure(user: string, username: string, count: number): void {
    this.log('login_failure', user, { username, failure_count: count });
    this.signals.push(`login_failed ${user} ${count}`);
    if (count === 5) this.signals.push(`brute_force_threshold_hit ${count}`);
  }

  /** What a refresh returns: `new` for a pair that `refreshed` is given, the pair that is issued again, or a refusal. */
  refresh(token: string, network: string): 'new' | Pair | 'refused' {
    const issued = this.refreshTokens.get(token);
    const session = issued && this.find(issued.sessionId);
    if (session?.state !== 'active' || session.family !== issued?.family) return 'refused';
    if (this.isExpired(session)) {
      this.expire(session.user);
      return 'refused';
    }
    if (token === session.pair.refreshToken) {
      if (this.now >= session.refreshEnd) return 'refused';
      return this.endIfInactive(session.user) ? 'refused' : 'new';
    }
    // The database was restored since the token was issued.
    if (issued.generation >= session.generation) return 'refused';
    const replay = this.replayFor(session, token, network);
    if (!replay) {
      this.reuse(session, issued.generation);
      return 'refused';
    }
    if (this.endIfInactive(session.user) || replay.count >= MAX_REPLAYS) return 'refused';
    replay.count++;
    this.log('token_refresh', session.user, { replayed: true });
    if (this.hasMoved(session, network)) this.signals.push(`session_network_changed ${session.user}`);
    return session.pair;
  }

  refreshed(token: string, network: string, pair: Pair): void {
    const session = this.find(this.refreshTokens.get(token)!.sessionId)!;
    const { rotateRefreshTokens, refreshReuseGraceSeconds } = this.instance;
    if (rotateRefreshTokens) session.generation++;
    const until = this.now + refreshReuseGraceSeconds * 1000;
    session.replay = until > this.now ? { predecessor: token, network, until, count: 0, firstUsedAt: null } : null;
    session.refreshedAt = this.now;
    this.touch(session);
    this.issue(session, pair);
    const hasMoved = this.hasMoved(session, network);
    if (this.options.trackIps) session.lastNetwork = network;
    this.log('token_refresh', session.user, hasMoved ? { network_changed: true } : {});
    if (hasMoved) this.signals.push(`session_network_changed ${session.user}`);
  }

  /** Whether the session was refreshed from another network than before. A replay does not change the one on record. */
  private hasMoved({ lastNetwork }: ModelSession, network: string): boolean {
    return this.options.trackIps && lastNetwork !== null && lastNetwork !== network;
  }

  /** The session of an access token that is accepted, or null. */
  authenticate(token: string): ModelSession | null {
    const session = this.sessions.find((one) => one.pair.accessToken === token && one.state === 'active');
    if (!session) return null;
    if (this.isExpired(session)) {
      this.expire(session.user);
      return null;
    }
    if (this.now >= session.accessEnd || this.endIfInactive(session.user)) return null;
    const { replay } = session;
    if (replay && this.now < replay.until) replay.firstUsedAt ??= this.now;
    if (this.now - session.lastActivity >= SECONDS.activity * 1000) this.touch(session);
    return session;
  }

  logoutAll(current: ModelSession, keepCurrent: boolean): number {
    let ended = 0;
    for (const session of this.activeOf(current.user)) {
      if (keepCurrent && session === current) continue;
      if (!this.isExpired(session)) ended++;
      if (session === current) this.end(session, 'logged_out', 'logout', 'logout');
      else this.endOrExpire(session, 'logout_all', 'session_revoked');
    }
    return ended;
  }

  revoke(user: string, id: string): 'revoked' | Refusal {
    const session = this.activeOf(user).find((one) => one.id === id);
    if (!session) return 'session_not_found';
    return this.endOrExpire(session, 'user', 'session_revoked') ? 'revoked' : 'session_not_found';
  }

  passwordChanged(current: ModelSession, pair: Pair): void {
    this.startFamily(current, pair);
    for (const session of this.activeOf(current.user)) {
      if (session !== current) this.endOrExpire(session, 'password_change', 'forced_logout');
    }
    this.log('password_change', current.user);
    this.signals.push(`password_changed ${current.user}`);
  }

  reauthenticated(session: ModelSession, pair: Pair): void {
    this.startFamily(session, pair);
    this.log('reauthentication', session.user);
  }

  /** Everything about a user is removed; the account stays. */
  forget(user: string): void {
    for (const session of this.activeOf(user)) {
      this.endOrExpire(session, 'user_deleted', null);
    }
    this.sessions = this.sessions.filter((session) => session.user !== user);
    this.clearFailures(user);
    this.refusals.delete(user);
  }

  /** What pruning does to the sessions that are due, or would do. */
  prune({ dryRun }: { readonly dryRun: boolean }): { endedSessions: number; sessions: number } {
    const due = this.sessions.filter((session) => session.checkAt <= this.now);
    const removed = due.filter(({ state }) => state !== 'active');
    const ended = due.filter((one) => !removed.includes(one) && (this.isExpired(one) || this.inactive.has(one.user)));
    if (!dryRun) {
      this.sessions = this.sessions.filter((session) => !removed.includes(session));
      for (const session of due) session.checkAt = Math.min(session.idleEnd, session.absoluteEnd);
      for (const session of ended) this.endOrExpire(session, 'user_disabled', 'forced_logout');
      for (const [user, { until }] of this.failures) if (until <= this.now) this.failures.delete(user);
    }
    return { endedSessions: ended.length, sessions: removed.length };
  }

  /** Stores that sessions of a user have expired, where they have. */
  expire(user: string): void {
    for (const session of this.activeOf(user)) {
      if (this.isExpired(session)) this.end(session, 'expired', 'expired', null);
    }
  }

  end(session: ModelSession, state: string, reason: string, event: string | null): void {
    session.state = state;
    session.reason = reason;
    session.checkAt = Math.max(this.now, session.createdAt + SECONDS.retention * 1000);
    session.replay = null;
    if (event) this.log(event, session.user, event === 'logout' ? {} : { session_id: session.id, reason });
    this.signals.push(`user_logged_out ${session.user} ${session.id} ${reason}`);
  }

  /** A session that has expired ends as such, whatever it is ended for; whether it had not. */
  private endOrExpire(session: ModelSession, reason: string, event: string | null): boolean {
    const isLive = !this.isExpired(session);
    if (isLive) this.end(session, 'revoked', reason, event);
    else this.end(session, 'expired', 'expired', null);
    return isLive;
  }

  private startFamily(session: ModelSession, pair: Pair): void {
    session.family = ++this.families;
    session.generation = 0;
    session.failures = 0;
    session.authenticatedAt = this.now;
    session.replay = null;
    this.issue(session, pair);
  }

  private issue(session: ModelSession, pair: Pair): void {
    const { id: sessionId, family, generation } = session;
    this.refreshTokens.set(pair.refreshToken, { sessionId, family, generation });
    session.pair = pair;
    session.accessEnd = Math.min(this.now + SECONDS.access * 1000, this.absoluteEndOf(session));
    session.refreshEnd = Math.min(this.now + SECONDS.refresh * 1000, this.absoluteEndOf(session));
  }

  private absoluteEndOf(session: ModelSession): number {
    return Math.min(session.absoluteEnd, session.createdAt + this.instance.absoluteTimeoutSeconds * 1000);
  }

  /** Activity extends a session by the idle timeout that it was opened with, or that in force where it is shorter. */
  private touch(session: ModelSession): void {
    const idleMs = Math.min(session.idleEnd - session.lastActivity, this.instance.idleTimeoutSeconds * 1000);
    session.lastActivity = Math.max(this.now, session.lastActivity);
    session.idleEnd = session.lastActivity + idleMs;
  }

  /** The replay that a used token is entitled to, if any. */
  private replayFor({ replay, refreshedAt }: ModelSession, token: string, network: string): Replay | null {
    if (replay?.predecessor !== token) return null;
    const untilByInstance = refreshedAt! + this.instance.refreshReuseGraceSeconds * 1000;
    if (this.now >= replay.until || this.now >= untilByInstance) return null;
    return network === replay.network || replay.firstUsedAt === null ? replay : null;
  }

  /** The sessions of a user who is disabled end at the first request that notices. */
  private endIfInactive(user: string): boolean {
    if (!this.inactive.has(user)) return false;
    for (const session of this.activeOf(user)) this.endOrExpire(session, 'user_disabled', 'forced_logout');
    return true;
  }

  private reuse({ id, user, generation, refreshedAt }: ModelSession, presented: number): void {
    const active = this.activeOf(user);
    const ended = active.filter((session) => !this.isExpired(session)).length;
    for (const session of active) this.endOrExpire(session, 'token_reuse', null);
    this.log('token_reuse', user, { session_id: id, sessions_ended: ended });
    this.signals.push(`token_reuse_detected ${user} ${id} ${ended} ${generation - presented} ${refreshedAt}`);
  }

  private log(event: string, user: string, extra: object = {}): void {
    this.events.push(`${user} ${event} ${JSON.stringify(extra)}`);
  }
}
