import { createHash } from 'node:crypto';
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
  failures: 300,
  retention: 86_400,
  refusal: 3_600,
  ticket: 300,
} as const;

/** The number of failures that end a login ticket, and the number of login tickets per user. */
export const TICKET_LIMITS = { failures: 5, perUser: 20 } as const;

export const MAX_REPLAYS = 100;

/** By how much an instant may be in the future before a clock counts as set back. */
const MAX_CLOCK_SKEW_MS = 10_000;

export interface Pair {
  readonly accessToken: string;
  readonly refreshToken: string;
}

/** How the user of a session was identified, and the data that the application stored in the session. */
export interface ModelProofs {
  /** The methods, with the instants of their last proofs. */
  readonly methods: Record<string, number>;
  readonly data: object | null;
}

export type ModelSession = ReturnType<typeof newSession> & ModelProofs;

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

/** A login ticket. The row of an ended ticket remains until pruning or until the user's next ticket. */
export type ModelTicket = ReturnType<typeof newTicket>;

function newTicket(user: string, text: string, names: readonly string[], data: object | null, now: number) {
  const digest = createHash('sha256').update(text).digest('hex');
  const proofs: ModelProofs = { methods: Object.fromEntries(names.map((name) => [name, now])), data };
  return { text, digest, user, createdAt: now, expiresAt: now + SECONDS.ticket * 1000, failures: 0, ...proofs };
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

/** The contract for login tickets in its simplest form. */
export class ModelTickets {
  all: ModelTicket[] = [];

  /** Adds a ticket. Removes the user's tickets with too many failures, and the oldest ones over the limit. */
  add(ticket: ModelTicket, now: number): void {
    const others = this.all
      .filter(({ user, expiresAt }) => user === ticket.user && expiresAt > now)
      .sort((a, b) => b.createdAt - a.createdAt || (a.digest < b.digest ? -1 : 1));
    const valid = others.filter(({ failures }) => failures < TICKET_LIMITS.failures);
    const kept = valid.slice(0, TICKET_LIMITS.perUser - 1);
    this.all = [...this.all.filter((one) => !others.includes(one) || kept.includes(one)), ticket];
  }

  find(text: string): ModelTicket | undefined {
    return this.all.find((ticket) => ticket.text === text);
  }

  findValid(text: string, now: number): ModelTicket | undefined {
    const ticket = this.find(text);
    return ticket && ticket.expiresAt > now && ticket.failures < TICKET_LIMITS.failures ? ticket : undefined;
  }

  remove(ticket: ModelTicket): void {
    this.all = this.all.filter((one) => one !== ticket);
  }

  endAllOf(user: string): void {
    this.all = this.all.filter((ticket) => ticket.user !== user);
  }

  prune(now: number): void {
    this.all = this.all.filter(({ expiresAt }) => expiresAt > now);
  }
}

type Failures = Map<string, { readonly count: number; readonly until: number }>;

/** The error code of a refusal, or `refused` for a refresh token. */
export type Refusal =
  'session_limit_reached' | 'unknown_user' | 'session_not_found' | 'invalid_login_ticket' | 'second_factor_required';

export class Model {
  /** The options of the instance that performs the next action. */
  instance!: InstanceOptions;
  sessions: ModelSession[] = [];
  readonly inactive = new Set<string>();
  /** The users who need a second factor. */
  readonly enrolled = new Set<string>();
  readonly tickets = new ModelTickets();
  /** The events and signals of the last step. */
  events: string[] = [];
  signals: string[] = [];
  private readonly refreshTokens = new Map<string, Issued>();
  private families = 0;
  /** The failures of logins and tickets by user and method, and those within sessions by user, session and method. */
  private readonly failures: Failures = new Map();
  private readonly sessionFailures: Failures = new Map();
  /** For each user, when a login that the session limit refused was last recorded. */
  private readonly refusals = new Map<string, number>();

  constructor(
    private readonly options: ModelOptions,
    public now: number,
  ) {}

  find(id: string): ModelSession | undefined {
    return this.sessions.find((session) => session.id === id);
  }

  /** Returns the instants at which a session changes without an action. */
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

  opened(user: string, id: string, pair: Pair, { methods, data }: ModelProofs): void {
    const session = { ...newSession(user, id, pair, this.instance, this.now), methods: { ...methods }, data };
    this.sessions.push(session);
    this.startFamily(session, pair);
    this.log('login_success', user);
    this.signals.push(`user_logged_in ${user}`);
  }

  /** Clears the failures of one method. The failures of each method are counted separately. */
  clearFailures(user: string, method: string): void {
    this.failures.delete(`${user} ${method}`);
  }

  clearAllFailures(user: string): void {
    for (const key of this.failures.keys()) if (key.startsWith(`${user} `)) this.failures.delete(key);
  }

  loginFailed(user: string, username: string, method: string): void {
    this.reportFailure(user, username, this.count(this.failures, `${user} ${method}`, SECONDS.failures));
  }

  private count(failures: Failures, key: string, keptSeconds: number): number {
    const known = failures.get(key);
    const isLive = known !== undefined && known.until > this.now;
    const count = isLive ? known.count + 1 : 1;
    failures.set(key, { count, until: Math.max(isLive ? known.until : 0, this.now + keptSeconds * 1000) });
    return count;
  }

  /** Records the first step of a login by a user who needs a second factor. */
  ticketIssued(user: string, text: string, names: readonly string[], data: object | null): void {
    this.tickets.add(newTicket(user, text, names, data, this.now), this.now);
    this.log('first_factor_success', user);
  }

  /** Returns a valid ticket of an active user. */
  ticketFor(text: string): ModelTicket | null {
    const ticket = this.tickets.findValid(text, this.now);
    return ticket && !this.endIfInactive(ticket.user) ? ticket : null;
  }

  /** Returns why a session cannot be opened with a ticket, or null if it can. */
  admitTicket(text: string): Refusal | null {
    const ticket = this.ticketFor(text);
    if (!ticket) return 'invalid_login_ticket';
    const hasSecond = Object.keys(ticket.methods).length > 1;
    if (!hasSecond && this.enrolled.has(ticket.user)) return 'second_factor_required';
    return this.admit(ticket.user);
  }

  /** Returns whether the secret is right, or null without a valid ticket. A check that throws counts as a failure. */
  attempted(text: string, method: string, result: 'right' | 'wrong' | 'throws', username: string): boolean | null {
    const ticket = this.ticketFor(text);
    if (!ticket) return null;
    if (result === 'right') {
      ticket.methods[method] = this.now;
      this.clearFailures(ticket.user, method);
      return true;
    }
    ticket.failures++;
    this.loginFailed(ticket.user, username, method);
    return false;
  }

  /** Records a correct secret other than the password, within a session. */
  proved(session: ModelSession, method: string): void {
    session.methods[method] = this.now;
    this.succeeded(session, method);
  }

  /** A success of a method within a session ends the failures of that method only. */
  succeeded({ user, id }: ModelSession, method: string): void {
    this.sessionFailures.delete(`${user} ${id} ${method}`);
  }

  /** Records a wrong password or other wrong secret within a session. */
  confirmationFailed(session: ModelSession, username: string, method = 'pwd'): void {
    const { user, id } = session;
    const count = this.count(this.sessionFailures, `${user} ${id} ${method}`, this.instance.absoluteTimeoutSeconds);
    this.reportFailure(user, username, count);
    if (count === 100) this.endOrExpire(session, 'failed_reauthentication', 'forced_logout');
  }

  private reportFailure(user: string, username: string, count: number): void {
    this.log('login_failure', user, { username, failure_count: count });
    this.signals.push(`login_failed ${user} ${count}`);
    if (count === 5) this.signals.push(`brute_force_threshold_hit ${count}`);
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
    let ended = 0;
    this.tickets.endAllOf(current.user);
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
    this.succeeded(current, 'pwd');
    current.methods['pwd'] = this.now;
    this.tickets.endAllOf(current.user);
    for (const session of this.activeOf(current.user)) {
      if (session !== current) this.endOrExpire(session, 'password_change', 'forced_logout');
    }
    this.log('password_change', current.user);
    this.signals.push(`password_changed ${current.user}`);
  }

  /** A password reset ends the failure streak of passwords, and of no other method. */
  passwordReset(user: string): void {
    this.tickets.endAllOf(user);
    this.clearFailures(user, 'pwd');
    for (const session of this.activeOf(user)) this.endOrExpire(session, 'password_reset', 'forced_logout');
    this.log('password_reset', user);
    this.signals.push(`password_reset ${user}`);
  }

  disabled(user: string): void {
    this.inactive.add(user);
    this.endIfInactive(user);
  }

  enabled(user: string): void {
    this.endIfInactive(user);
    this.inactive.delete(user);
    this.tickets.endAllOf(user);
  }

  reauthenticated(session: ModelSession, pair: Pair, methods: readonly string[]): void {
    this.startFamily(session, pair);
    for (const method of methods) session.methods[method] = this.now;
    this.log('reauthentication', session.user);
  }

  /** Removes everything about a user except the account. */
  forget(user: string): void {
    for (const session of this.activeOf(user)) {
      this.endOrExpire(session, 'user_deleted', null);
    }
    this.sessions = this.sessions.filter((session) => session.user !== user);
    this.tickets.endAllOf(user);
    this.clearAllFailures(user);
    for (const key of this.sessionFailures.keys()) if (key.startsWith(`${user} `)) this.sessionFailures.delete(key);
    this.refusals.delete(user);
  }

  /** Prunes the sessions that are due. In a dry run, only counts them. */
  prune({ dryRun }: { readonly dryRun: boolean }): { endedSessions: number; sessions: number } {
    const due = this.sessions.filter((session) => session.checkAt <= this.now);
    const removed = due.filter(({ state }) => state !== 'active');
    const ended = due.filter((one) => !removed.includes(one) && (this.isExpired(one) || this.inactive.has(one.user)));
    if (!dryRun) {
      this.sessions = this.sessions.filter((session) => !removed.includes(session));
      for (const session of due) session.checkAt = Math.min(session.idleEnd, session.absoluteEnd);
      for (const session of ended) this.endOrExpire(session, 'user_disabled', 'forced_logout');
      for (const [key, { until }] of this.failures) if (until <= this.now) this.failures.delete(key);
      this.tickets.prune(this.now);
    }
    return { endedSessions: ended.length, sessions: removed.length };
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
    this.tickets.endAllOf(user);
    for (const session of this.activeOf(user)) this.endOrExpire(session, 'user_disabled', 'forced_logout');
    return true;
  }

  private reuse({ id, user, generation, refreshedAt }: ModelSession, presented: number): void {
    this.tickets.endAllOf(user);
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
