import { Inject, Injectable } from '@nestjs/common';
import type { LoginRefusal } from '../adapters/login-policy';
import type { StoredUser } from '../adapters/user-store';
import { Clock } from '../base/clock';
import { type AuthError, loginRefused, standardError } from '../base/errors';
import { Database } from '../database/database';
import type { AuthSession } from '../database/entities';
import { insertion, type ParameterValues, StatementFactory } from '../database/statements';
import { affectedBy, firstOf, type Row, rowsOf, type Step } from '../database/transaction';
import {
  type Client,
  EventLog,
  firstEventIdAt,
  networkOf,
  type NewAuthEvent,
  newEvent,
  type Operation,
} from '../history/event-log';
import { Signals } from '../history/signals';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from '../options/auth-options';
import { expiriesAfter, type OpenedSession, TokenIssuer, tokenPair } from '../tokens/tokens';
import { Users } from '../users/users';
import { endEvents, EndSessions, SESSION_LIMIT } from './end-sessions';
import { type DecidedTerms, LoginTerms } from './login-terms';
import { termsOf } from './rotate';
import {
  type EndedSession,
  isExpired,
  type SessionRecord,
  type StoredProofs,
  toEndedSession,
  toSessionInfo,
  UserLock,
} from './session';

/** The session limit or the login policy refuses the login, which is not a failed login. */
export interface RefusedLogin {
  readonly kind: 'refused';
  readonly error: AuthError;
}

/** The user is not active, or the credentials or the login ticket have changed since they were verified. */
const CHANGED = { kind: 'credentials_changed' } as const;

type Outcome = { readonly kind: 'opened'; readonly session: OpenedSession } | RefusedLogin | typeof CHANGED;

type NewSession = ParameterValues & Pick<SessionRecord, 'userId' | 'actor' | 'createdAt'>;

type StoredOutcome =
  /** `ended`: at the session limit, the expired sessions and the sessions that the limit ended. Otherwise empty. */
  | { readonly kind: 'opened'; readonly ended: readonly EndedSession[]; readonly newDevice: boolean }
  | { readonly kind: 'limit_reached'; readonly activeSessions: number }
  | typeof CHANGED;

/** What lets a session open, which is checked again in the transaction that opens the session. */
export interface Opening {
  /** The version when the credentials or the ticket were verified, or before the application's user was read. */
  readonly credentialsVersion: number;
  /** Checks the login ticket, or the session of an administrator. */
  readonly check?: (now: number) => Step<boolean>;
  /** Consumes the login ticket. Does not run if the login is refused. */
  readonly consume?: (now: number) => Step<void>;
  /** Ends the failure streaks. Runs also if the login is refused, because the secret was right. */
  readonly succeed?: () => Step<void>;
  /** What is recorded instead of a login. */
  readonly events?: readonly NewAuthEvent[];
}

export interface Identification extends Opening {
  readonly user: StoredUser;
  readonly rememberMe: boolean;
  readonly proofsAt: (now: number) => StoredProofs;
}

/** The maximum number of times that a user is identified, whose credentials and ticket can change meanwhile. */
const MAX_IDENTIFICATIONS = 5;

const REFUSAL_RECORDED_FOR_MS = 3_600_000;

/** The columns of a new session. All other columns are NULL. */
const INSERTED = `id userId ipAddress lastIpAddress deviceType osFamily browserFamily deviceName createdAt lastActivity
  authenticatedAt idleExpiresAt absoluteExpiresAt checkAt accessDigest accessExpiresAt refreshDigest refreshExpiresAt
  familyDigest methods data remembered persistent actor state loginNetwork lastNetwork generation replayCount`;

/** Opens sessions, and applies the session policy, which can end other sessions or refuse the login. */
@Injectable()
export class OpenSession {
  private readonly maxSessions: number;
  private readonly rejectsAtLimit: boolean;
  private readonly read;
  private readonly insert;
  private readonly readRefusals;

  constructor(
    @Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions,
    private readonly database: Database,
    statements: StatementFactory,
    private readonly users: Users,
    private readonly lock: UserLock,
    private readonly endSessions: EndSessions,
    private readonly events: EventLog,
    private readonly signals: Signals,
    private readonly tokens: TokenIssuer,
    private readonly terms: LoginTerms,
    private readonly clock: Clock,
  ) {
    this.maxSessions = { multi: SESSION_LIMIT, single: 1, max_count: options.maxSessions }[options.sessionPolicy];
    this.rejectsAtLimit = options.sessionPolicy === 'max_count' && options.onSessionLimit === 'reject';
    const account = users.sql?.status ?? "'active'";
    const sessions = 'FROM {session} WHERE {session.userId} = s.{lock.userId}';
    // Runs while the user's lock is held. `s` is the row of the lock. At the session limit, the active sessions are
    // read separately.
    this.read = statements.prepared(
      `SELECT s.{lock.credentialsVersion} AS version, ${account} AS account,
         (SELECT COUNT(*) ${sessions} AND {session.state} = 'active') AS active_sessions,
         (SELECT COUNT(*) FROM {session} WHERE {session.id} = :id) AS is_open,
         CASE WHEN EXISTS (SELECT 1 ${sessions} AND {session.actor} IS NULL) AND NOT EXISTS (SELECT 1 ${sessions}
           AND {session.loginNetwork} = :loginNetwork AND {session.deviceType} = :deviceType
           AND {session.osFamily} = :osFamily AND {session.browserFamily} = :browserFamily) THEN 1 ELSE 0 END AS is_new_device
       FROM {lock} s WHERE s.{lock.userId} = :userId`,
    );
    this.insert = statements.prepared(insertion('session', options.realm ? `${INSERTED} realm` : INSERTED));
    this.readRefusals = statements.statement(
      `SELECT {event.ipAddress} AS ip_address FROM {event}
       WHERE {event.userId} = :userId AND {event.id} >= :firstId AND {event.occurredAt} > :since
         AND {event.event} = 'login_blocked' AND {event.extra} = :extra`,
    );
  }

  /**
   * Opens a session for a user whose identity has been proven, on the terms of the login policy, and applies the session
   * limit. Call it outside the hash queue, because the policy may be slow.
   */
  async open(identification: Identification, { client }: Operation): Promise<Outcome> {
    const { user, rememberMe } = identification;
    const { methods, data: given } = identification.proofsAt(this.clock.now());
    const terms = await this.terms.decide(user, { methods, data: given }, rememberMe, client);
    if ('refuse' in terms) return this.refuse(identification, terms.refuse, client);
    const { remembered, persistent, data } = terms;
    // The policy can take some time, so the session begins after its answer.
    const now = this.clock.now();
    const { sessionId, tokens, digests } = this.tokens.issueFamily();
    const expiries = expiriesAfter(now, this.options, remembered);
    const opened = newSession(sessionId, String(user.id), now, terms, client);
    const pairTerms = termsOf({ ...expiries, persistent, absoluteEnd: opened.absoluteExpiresAt });
    const session = { ...opened, ...digests, ...pairTerms, methods, data, remembered, actor: null };
    const stored = await this.store(identification, session, client);
    if (stored.kind === 'credentials_changed') return stored;
    if (stored.kind === 'limit_reached') {
      const { activeSessions } = stored;
      this.signals.emit(null, 'session_limit_reached', { userId: user.id, activeSessions });
      return { kind: 'refused', error: standardError('session_limit_reached') };
    }
    const { newDevice } = stored;
    const userId = this.users.parseId(session.userId);
    this.signals.emit(null, 'user_logged_in', { userId, session: toSessionInfo(session, sessionId), newDevice });
    return { kind: 'opened', session: { ...tokenPair(tokens, pairTerms), sessionId, userId } };
  }

  /** Calls `open`, again if the user's credentials or ticket have changed meanwhile. @throws the error of a refusal */
  async openFor(
    identify: () => Promise<Identification>,
    op: Operation,
    changedAgain: () => AuthError,
  ): Promise<OpenedSession> {
    for (let calls = 0; calls < MAX_IDENTIFICATIONS; calls++) {
      const opened = await this.open(await identify(), op);
      if (opened.kind === 'opened') return opened.session;
      if (opened.kind === 'refused') throw opened.error;
    }
    throw changedAgain();
  }

  /**
   * Opens a session in one transaction, if what lets it open still holds, and publishes the sessions that end for it.
   * @param client the client of the events of these sessions
   */
  async store(opening: Opening, session: NewSession, client: Client): Promise<StoredOutcome> {
    // If the response to COMMIT is lost, the next run finds the session and returns the outcome of the first run.
    let outcome: StoredOutcome | undefined;
    const openOnce = function* (this: OpenSession): Step<StoredOutcome> {
      return (outcome = yield* this.openLocked(opening, session, client, outcome));
    };
    const stored = await this.database.transaction(null, () => openOnce.call(this), { retryUnknownCommit: true });
    if (stored.kind === 'opened') this.endSessions.publish(stored.ended, null);
    return stored;
  }

  /** Records that the login policy refuses a login, unless its credentials or its ticket have changed meanwhile. */
  private async refuse(identification: Identification, refusal: LoginRefusal, client: Client): Promise<Outcome> {
    const now = this.clock.now();
    const userId = String(identification.user.id);
    const refuseOnce = function* (this: OpenSession): Step<boolean> {
      yield* this.lock.lock(userId);
      const values = { ...client.device, id: '', userId, loginNetwork: client.trackedNetwork };
      const state = (yield* firstOf(this.read.with(values)))!;
      if (!(yield* isUnchanged(identification, state, now))) return false;
      if (identification.succeed) yield* identification.succeed();
      yield* this.recordRefusal(userId, client, now, refusal.code);
      return true;
    };
    const isRecorded = await this.database.transaction(null, () => refuseOnce.call(this), { retryUnknownCommit: true });
    return isRecorded ? { kind: 'refused', error: loginRefused(refusal) } : CHANGED;
  }

  private *openLocked(
    opening: Opening,
    session: NewSession,
    client: Client,
    firstOutcome?: StoredOutcome,
  ): Step<StoredOutcome> {
    const { userId, actor, createdAt: now } = session;
    const { consume, succeed } = opening;
    yield* this.lock.lock(userId);
    const state = (yield* firstOf(this.read.with(session)))!;
    if (firstOutcome && Number(state['is_open']) > 0) return firstOutcome;
    if (!(yield* isUnchanged(opening, state, now))) return CHANGED;
    // The policy neither counts nor ends sessions in which an administrator acts as the user.
    const max = actor === null ? this.maxSessions : Infinity;
    const isFull = Number(state['active_sessions']) >= Math.min(max, SESSION_LIMIT);
    const active = isFull ? yield* this.endSessions.lockAllActive(userId) : [];
    if (succeed) yield* succeed();
    const live = active.filter((one) => !isExpired(one, now));
    const own = live.filter(isOwn);
    if (own.length >= max && this.rejectsAtLimit) {
      yield* this.recordRefusal(userId, client, now, 'session_limit');
      return { kind: 'limit_reached', activeSessions: own.length };
    }
    const { ended, events } = yield* this.endAtLimit(active, live, max, client, now);
    if (consume) yield* consume(now);

    yield* affectedBy(this.insert.with(session));
    const newDevice = client.recognizable && Number(state['is_new_device']) === 1;
    yield* this.events.write([...events, ...(opening.events ?? [openedEvent(userId, client, now, newDevice)])]);
    return { kind: 'opened', ended, newDevice };
  }

  /**
   * Ends the expired sessions, and those that exceed a limit if another session opens: under `multi` the least recently
   * used ones, otherwise the oldest ones, and impersonations only if no others are left. `active` is sorted by age, oldest
   * first.
   */
  private *endAtLimit(
    active: readonly SessionRecord[],
    live: readonly SessionRecord[],
    max: number,
    client: Client,
    now: number,
  ) {
    const byAge = this.options.sessionPolicy !== 'multi';
    const inOrder = byAge ? live : [...live].sort((a, b) => a.lastActivity - b.lastActivity);
    const [own, others] = [inOrder.filter(isOwn), inOrder.filter((one) => !isOwn(one))];
    const excess = Math.max(own.length - max, live.length - SESSION_LIMIT) + 1;
    const evicted = [...own, ...others].slice(0, Math.max(0, excess));
    const ending = active.filter((one) => isExpired(one, now) || evicted.includes(one));
    const ended = ending.map((one) => toEndedSession(one, now, 'session_policy'));
    yield* this.endSessions.storeEnded(ended, now);
    return { ended, events: endEvents(ended, client, now) };
  }

  /** Records a refused login at most once an hour for each user, network and reason. */
  private *recordRefusal(userId: string, client: Client, now: number, reason: string): Step<void> {
    const refused = newEvent('login_blocked', userId, client, now, { reason });
    const since = now - REFUSAL_RECORDED_FOR_MS;
    const recent = { userId, since, firstId: firstEventIdAt(since), extra: JSON.stringify(refused.extra) };
    const addresses = (yield* rowsOf(this.readRefusals.with(recent))).map((row) => row['ip_address'] as string | null);
    if (addresses.some((address) => (address ? networkOf(address) : '') === client.trackedNetwork)) return;
    yield* this.events.write([refused]);
  }
}

function isOwn({ actor }: SessionRecord): boolean {
  return actor === null;
}

function openedEvent(userId: string, client: Client, now: number, newDevice: boolean): NewAuthEvent {
  return newEvent('login_success', userId, client, now, newDevice ? { new_device: true } : {});
}

/** Returns what all new sessions have in common. The other columns depend on how the session opens. */
export function newSession(
  id: string,
  userId: string,
  now: number,
  { idleMs, absoluteMs }: Pick<DecidedTerms, 'idleMs' | 'absoluteMs'>,
  { ipAddress, trackedNetwork, device, realm }: Client,
): Omit<SessionRecord, 'actor' | 'methods'> & Pick<AuthSession, 'absoluteExpiresAt'> {
  const expiresAt = now + Math.min(idleMs, absoluteMs);
  return {
    ...device,
    ...{ id, userId, realm, state: 'active' as const, generation: 0, replayCount: 0 },
    ...{ createdAt: now, authenticatedAt: now, lastActivity: now },
    ...{ idleExpiresAt: now + idleMs, absoluteExpiresAt: now + absoluteMs, expiresAt, checkAt: expiresAt },
    ...{ ipAddress, lastIpAddress: ipAddress, loginNetwork: trackedNetwork, lastNetwork: trackedNetwork || null },
  };
}

/** Returns whether the account, the credentials and the login ticket are still those that were verified. */
function* isUnchanged({ credentialsVersion, check }: Opening, state: Row, now: number): Step<boolean> {
  if (state['account'] !== 'active' || Number(state['version']) !== credentialsVersion) return false;
  return !check || (yield* check(now));
}
