import { SESSION_LIMIT } from '../../libs/auth/src/sessions/end-sessions';

/**
 * The contract for sessions in its simplest form: no database, no parallelism, plain loops. Instants are in
 * milliseconds. The model identifies tokens by the text that the library issued.
 */
export interface ModelOptions {
  readonly sessionPolicy: 'multi' | 'single' | 'max_count';
  readonly maxSessions: number;
  readonly onSessionLimit: 'revoke_oldest' | 'reject';
  readonly trackIps: boolean;
}

/** The options in which instances of one application can differ while its configuration is being changed. */
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
  retention: 86_400,
  refusal: 3_600,
} as const;

/** By how much an instant may be in the future before a clock counts as set back. */
const MAX_CLOCK_SKEW_MS = 10_000;

export interface Pair {
  readonly accessToken: string;
  readonly refreshToken: string;
}

export type ModelSession = ReturnType<typeof newSession>;

function newSession(user: string, id: string, pair: Pair, instance: InstanceOptions, now: number) {
  const idleEnd = now + instance.idleTimeoutSeconds * 1000;
  const absoluteEnd = now + instance.absoluteTimeoutSeconds * 1000;
  return {
    ...{ id, user, state: 'active', reason: null as string | null },
    ...{ createdAt: now, authenticatedAt: now, lastActivity: now, refreshedAt: null as number | null },
    // Pruning visits the session at `checkAt`.
    ...{ idleEnd, absoluteEnd, checkAt: Math.min(idleEnd, absoluteEnd) },
    ...{ pair, accessEnd: 0, refreshEnd: 0, family: 0, generation: 0, lastNetwork: null as string | null },
    // How the live pair is replayed for its predecessor.
    replay: null as Replay | null,
  };
}

interface Replay {
  readonly predecessor: string;
  readonly network: string;
  readonly until: number;
  count: number;
  firstUsedAt: number | null;
}

/** The session, family and generation that a refresh token was issued for. Kept after the token becomes invalid. */
interface Issued {
  readonly sessionId: string;
  readonly family: number;
  readonly generation: number;
}

/** The error code of a refusal, or `refused` for a refresh token. */
export type Refusal = 'session_limit_reached' | 'unknown_user' | 'session_not_found';

export class Model {
  /** The options of the instance that performs the next action. */
  instance!: InstanceOptions;
  sessions: ModelSession[] = [];
  readonly inactive = new Set<string>();
  /** The events and signals of the last step. */
  events: string[] = [];
  signals: string[] = [];
  private readonly refreshTokens = new Map<string, Issued>();
  private families = 0;
  /** For each user, when a login that the session limit refused was last recorded. */
  private readonly refusals = new Map<string, number>();

  constructor(
    private readonly options: ModelOptions,
    public now: number,
  ) {}

  find(id: string): ModelSession | undefined {
    return this.sessions.find((session) => session.id === id);
  }

  /** Returns the instants to come at which a session changes without an action. */
  deadlinesOf(id: string): number[] {
    const session = this.find(id);
    if (!session) return [];
    const { idleEnd, lastActivity, checkAt, accessEnd, refreshEnd, replay } = session;
    const { idleTimeoutSeconds, refreshReuseGraceSeconds } = this.instance;
    const byInstance = [lastActivity + idleTimeoutSeconds * 1000, lastActivity + refreshReuseGraceSeconds * 1000];
    const ends = [idleEnd, this.absoluteEndOf(session), accessEnd, refreshEnd, lastActivity + SECONDS.activity * 1000];
    const all = [...ends, checkAt, ...byInstance, ...(replay ? [replay.until] : [])];
    return all.filter((deadline) => deadline > this.now);
  }

  activeOf(user: string): ModelSession[] {
    return this.sessions
      .filter((session) => session.user === user && session.state === 'active')
      .sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
  }

  liveOf(user: string): ModelSession[] {
    return this.activeOf(user).filter((session) => !this.isExpired(session));
  }

  /** Applies the timeouts that the session was opened with, or the current timeouts if they are shorter. */
  isExpired(session: ModelSession): boolean {
    const idleEnd = Math.min(session.idleEnd, session.lastActivity + this.instance.idleTimeoutSeconds * 1000);
    return this.now >= Math.min(idleEnd, this.absoluteEndOf(session));
  }

  /** Returns why a login may not open a session, or null. Ends the sessions that must end for it. */
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
    const session = newSession(user, id, pair, this.instance, this.now);
    this.sessions.push(session);
    this.startFamily(session, pair);
    this.log('login_success', user);
    this.signals.push(`user_logged_in ${user}`);
  }

  /**
   * Returns the result of a refresh: `new` for a pair that is passed to `refreshed`, the replayed pair, or a
   * refusal.
   */
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
    const replay = this.replayFor(session, token, network);
    if (!replay) {
      this.reuse(session, issued.generation);
      return 'refused';
    }
    if (this.endIfInactive(session.user)) return 'refused';
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

  /**
   * Returns whether the network differs from that of the previous refresh. A replay does not change the recorded
   * network.
   */
  private hasMoved({ lastNetwork }: ModelSession, network: string): boolean {
    return this.options.trackIps && lastNetwork !== null && lastNetwork !== network;
  }

  /** Returns the session of an accepted access token, or null. */
  authenticate(token: string): ModelSession | null {
    const session = this.sessions.find((one) => one.pair.accessToken === token && one.state === 'active');
    if (!session || this.isExpired(session)) return null;
    if (this.now >= session.accessEnd || this.endIfInactive(session.user)) return null;
    const { replay } = session;
    if (replay && this.now < replay.until) replay.firstUsedAt ??= this.now;
    if (this.now - session.lastActivity >= SECONDS.activity * 1000) this.touch(session);
    return session;
  }

  logoutAll(current: ModelSession, keepCurrent: boolean): number {
    if (!keepCurrent) this.end(current, 'logged_out', 'logout', 'logout');
    return this.endAllOf(current.user, 'logout_all', 'session_revoked', current) + (keepCurrent ? 0 : 1);
  }

  revoke(user: string, id: string): 'revoked' | Refusal {
    const session = this.activeOf(user).find((one) => one.id === id);
    if (!session) return 'session_not_found';
    return this.endOrExpire(session, 'user', 'session_revoked') ? 'revoked' : 'session_not_found';
  }

  passwordChanged(current: ModelSession, pair: Pair): void {
    this.startFamily(current, pair);
    this.endAllOf(current.user, 'password_change', 'forced_logout', current);
    this.log('password_change', current.user);
    this.signals.push(`password_changed ${current.user}`);
  }

  disabled(user: string): void {
    this.inactive.add(user);
    this.endIfInactive(user);
  }

  enabled(user: string): void {
    this.endIfInactive(user);
    this.inactive.delete(user);
  }

  reauthenticated(session: ModelSession, pair: Pair): void {
    this.startFamily(session, pair);
    this.log('reauthentication', session.user);
  }

  /** Prunes the sessions that are due. In a dry run, only counts them. */
  prune(isDryRun: boolean): { endedSessions: number; sessions: number } {
    const due = this.sessions.filter((session) => session.checkAt <= this.now);
    const removed = due.filter(({ state }) => state !== 'active');
    const ended = due.filter((one) => !removed.includes(one) && (this.isExpired(one) || this.inactive.has(one.user)));
    const counts = { endedSessions: ended.length, sessions: removed.length };
    if (isDryRun) return counts;
    this.sessions = this.sessions.filter((session) => !removed.includes(session));
    for (const session of due) session.checkAt = Math.min(session.idleEnd, session.absoluteEnd);
    for (const session of ended) this.endOrExpire(session, 'user_disabled', 'forced_logout');
    return counts;
  }

  /** Ends the expired sessions of a user with the reason `expired`. */
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

  /** Ends a session with the reason, or with `expired` if the session has expired. Returns false if expired. */
  private endOrExpire(session: ModelSession, reason: string, event: string | null): boolean {
    const isLive = !this.isExpired(session);
    if (isLive) this.end(session, 'revoked', reason, event);
    else this.end(session, 'expired', 'expired', null);
    return isLive;
  }

  /** Ends the active sessions of a user but one, and returns how many of them had not expired. */
  private endAllOf(user: string, reason: string, event: string | null, except?: ModelSession): number {
    const others = this.activeOf(user).filter((session) => session !== except);
    return others.filter((session) => this.endOrExpire(session, reason, event)).length;
  }

  private startFamily(session: ModelSession, pair: Pair): void {
    session.family = ++this.families;
    session.generation = 0;
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

  /**
   * Activity extends a session by the idle timeout that it was opened with, or by the current one if it is
   * shorter.
   */
  private touch(session: ModelSession): void {
    const idleMs = Math.min(session.idleEnd - session.lastActivity, this.instance.idleTimeoutSeconds * 1000);
    session.lastActivity = Math.max(this.now, session.lastActivity);
    session.idleEnd = session.lastActivity + idleMs;
  }

  /** Returns the replay for a used token, if there is one. */
  private replayFor({ replay, refreshedAt }: ModelSession, token: string, network: string): Replay | null {
    if (replay?.predecessor !== token) return null;
    const untilByInstance = refreshedAt! + this.instance.refreshReuseGraceSeconds * 1000;
    if (this.now >= replay.until || this.now >= untilByInstance) return null;
    if (refreshedAt! - this.now > MAX_CLOCK_SKEW_MS) return null;
    return network === replay.network || replay.firstUsedAt === null ? replay : null;
  }

  /** Returns whether the user is disabled. Ends the sessions of a disabled user. */
  private endIfInactive(user: string): boolean {
    if (!this.inactive.has(user)) return false;
    this.endAllOf(user, 'user_disabled', 'forced_logout');
    return true;
  }

  private reuse({ id, user, generation, refreshedAt }: ModelSession, presented: number): void {
    const ended = this.endAllOf(user, 'token_reuse', null);
    this.log('token_reuse', user, { session_id: id, sessions_ended: ended });
    this.signals.push(`token_reuse_detected ${user} ${id} ${ended} ${generation - presented} ${refreshedAt}`);
  }

  private log(event: string, user: string, extra: object = {}): void {
    this.events.push(`${user} ${event} ${JSON.stringify(extra)}`);
  }
}
