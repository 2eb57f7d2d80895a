import { Inject, Injectable } from '@nestjs/common';
import type { ClientInfo } from '../adapters/second-factor';
import type { UserId } from '../adapters/user-store';
import { AuthError } from '../base/errors';
import { Database } from '../database/database';
import { StatementFactory } from '../database/statements';
import { affectedBy, changeAll, firstOf, rowsOf, type Step } from '../database/transaction';
import { networkOf, type OperationContext } from '../history/client';
import { EventWriter, firstEventIdAt, newEvent } from '../history/event-log';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from '../options/auth-options';
import type { AttemptKeys } from '../throttle/limits';
import { endStreaks } from '../throttle/throttle';
import { type NewTokenFamily, type OpenedSession, TokenIssuer, tokenPair } from '../tokens/tokens';
import { UserLocks } from '../users/user-lock';
import { endEvents, SESSION_LIMIT, SessionRevocation } from './end-sessions';
import { SessionLifecycle } from './lifecycle';
import type { StoredProofs } from './proofs';
import { type EndedSession, isExpired, type SessionRecord, toEndedSession } from './session';
import { SessionTransitions } from './transitions';

/**
 * The number of failed attempts after which a ticket is revoked. Each attempt is counted before its secret is checked,
 * and subtracted again if the secret is correct.
 */
export const MAX_TICKET_FAILURES = 5;

/** The result of opening a session. */
export type OpenOutcome =
  | {
      readonly kind: 'opened';
      readonly session: SessionRecord;
      /** At the session limit, the expired sessions and the sessions that the limit ended. Otherwise empty. */
      readonly ended: readonly EndedSession[];
      readonly newDevice: boolean;
    }
  | { readonly kind: 'limit_reached'; readonly activeSessions: number }
  /** The credentials version, the account or the login ticket has changed in the meantime. */
  | { readonly kind: 'credentials_changed' };

/** A session that is about to be stored. */
export interface NewSession extends SessionRecord, StoredProofs {
  readonly idleExpiresAt: number;
  readonly absoluteExpiresAt: number;
}

export interface OpenSession extends OperationContext, SessionPolicy {
  readonly session: NewSession;
  readonly issued: NewTokenFamily;
  /**
   * The version that `CredentialStore.find` returned with the verified password hash, or the version in the login
   * ticket. Null if the application identified the user itself, without a ticket.
   */
  readonly credentialsVersion: number | null;
  /** The failure streaks that this login ends, or null for a login with a ticket or without a password. */
  readonly attempt: AttemptKeys | null;
  /** The digest and the proven methods of the login ticket that opens the session, or null without a ticket. */
  readonly ticket: { readonly digest: string; readonly methods: string } | null;
}

/**
 * The minimum interval between recorded refusals of the session limit, for each user and network, in milliseconds.
 * Clients may retry often, and further refusals within the interval are not recorded.
 */
export const REFUSAL_RECORDED_FOR_MS = 3_600_000;

/** The session limit, and what happens to a login at the limit. */
export interface SessionPolicy {
  /** 1 to `SESSION_LIMIT`. */
  readonly maxSessions: number;
  /** Which sessions a login at the limit ends, or `reject` to refuse the login. */
  readonly onLimit: 'end_oldest' | 'end_least_recently_used' | 'reject';
}

type PolicyDecision =
  /** `ended`: the expired sessions, and as many other sessions as the limit requires. */
  | { readonly kind: 'available'; readonly ended: readonly EndedSession[] }
  | { readonly kind: 'limit_reached'; readonly activeSessions: number };

/**
 * Decides whether a user may open another session, and which sessions end as a result.
 * @param active the user's active sessions, oldest first. May be empty if they are fewer than `maxSessions`
 */
export function applySessionPolicy(
  active: readonly SessionRecord[],
  { maxSessions, onLimit }: SessionPolicy,
  now: number,
): PolicyDecision {
  const expired = active.filter((session) => isExpired(session, now));
  const live = active.filter((session) => !isExpired(session, now));
  const excess = Math.max(0, live.length - maxSessions + 1);
  if (excess > 0 && onLimit === 'reject') return { kind: 'limit_reached', activeSessions: live.length };
  if (onLimit === 'end_least_recently_used') live.sort((a, b) => a.lastActivity - b.lastActivity);
  const evicted = live.slice(0, excess);
  return {
    kind: 'available',
    ended: [
      ...expired.map((session) => toEndedSession(session, 'expired')),
      ...evicted.map((session) => toEndedSession(session, 'session_policy')),
    ],
  };
}

/** Opens a session for a user whose identity has been proven. */
@Injectable()
export class SessionOpening {
  private readonly policy: SessionPolicy;

  constructor(
    @Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions,
    private readonly tokens: TokenIssuer,
    private readonly transitions: SessionTransitions,
    private readonly lifecycle: SessionLifecycle,
  ) {
    this.policy = policyOf(options);
  }

  /**
   * Opens a session, and applies the session limit.
   * @param proof the credentials version, the failure streaks to end, and the login ticket: see `OpenSession`
   * @param proofsAt returns the methods by which the user was identified, and the application's data
   * @returns the session, the error `session_limit_reached`, or null if the user is not active, the
   *   credentials changed after they were verified, or the login ticket changed or is no longer valid
   * @throws the error of `proofsAt` if the methods or the data are invalid
   */
  async open(
    userId: UserId,
    info: ClientInfo,
    proof: Pick<OpenSession, 'credentialsVersion' | 'attempt' | 'ticket'>,
    proofsAt: (now: number) => StoredProofs,
  ): Promise<OpenedSession | AuthError | null> {
    const context = this.lifecycle.operationContext(info);
    const { now, client } = context;
    const { methods, data } = proofsAt(now);
    const id = this.tokens.newSessionId();
    const idleExpiresAt = now + this.options.idleTimeoutSeconds * 1000;
    const absoluteExpiresAt = now + this.options.absoluteTimeoutSeconds * 1000;
    const { tokens, digests } = this.tokens.issueFamily(id, now);
    const expiries = {
      accessExpiresAt: Math.min(digests.accessExpiresAt, absoluteExpiresAt),
      refreshExpiresAt: Math.min(digests.refreshExpiresAt, absoluteExpiresAt),
    };
    const outcome = await this.transitions.open({
      ...context,
      ...proof,
      ...this.policy,
      session: {
        id,
        userId: String(userId),
        state: 'active',
        ipAddress: client.ipAddress,
        ...client.device,
        methods,
        data,
        createdAt: now,
        authenticatedAt: now,
        lastActivity: now,
        idleExpiresAt,
        absoluteExpiresAt,
        expiresAt: Math.min(idleExpiresAt, absoluteExpiresAt),
      },
      issued: { ...digests, ...expiries },
    });
    if (outcome.kind === 'credentials_changed') return null;
    if (outcome.kind === 'limit_reached') {
      this.lifecycle.signals.emit('session_limit_reached', { userId, activeSessions: outcome.activeSessions });
      return new AuthError('session_limit_reached', 'The session limit has been reached.');
    }
    this.lifecycle.publishSessionOpened(outcome);
    return { ...tokenPair(tokens, expiries), sessionId: id };
  }
}

function policyOf({ sessionPolicy, maxSessions, onSessionLimit }: ResolvedAuthOptions): SessionPolicy {
  if (sessionPolicy === 'multi') return { maxSessions: SESSION_LIMIT, onLimit: 'end_least_recently_used' };
  if (sessionPolicy === 'single') return { maxSessions: 1, onLimit: 'end_oldest' };
  return { maxSessions, onLimit: onSessionLimit === 'reject' ? 'reject' : 'end_oldest' };
}

/** The condition for a ticket that has neither expired nor reached the maximum number of failures. */
export const VALID_TICKET = `{ticket.expiresAt} > :now AND {ticket.failureCount} < ${MAX_TICKET_FAILURES}`;

/** The columns of a new session whose values are parameters of the same name. */
const PARAMETER_COLUMNS = `id userId ipAddress deviceType osFamily browserFamily deviceName createdAt authenticatedAt
  lastActivity idleExpiresAt absoluteExpiresAt accessDigest accessExpiresAt refreshDigest refreshExpiresAt familyDigest
  methods data`;

/** The columns of a new session and their values. All other columns are NULL. */
const NEW_SESSION: Readonly<Record<string, string>> = {
  ...Object.fromEntries(PARAMETER_COLUMNS.split(/\s+/).map((property) => [property, `:${property}`])),
  state: "'active'",
  checkAt: ':expiresAt',
  loginNetwork: ':network',
  lastNetwork: ':lastNetwork',
  generation: '0',
  replayCount: '0',
};

/** Opens a session and applies the session policy, which can end other sessions or refuse the login. */
@Injectable()
export class SessionOpener {
  private readonly read;
  private readonly insert;
  private readonly endStreaks;
  private readonly readRefusals;
  private readonly readTicket;
  private readonly consumeTicket;

  constructor(
    private readonly database: Database,
    statements: StatementFactory,
    private readonly locks: UserLocks,
    private readonly revocation: SessionRevocation,
    private readonly events: EventWriter,
  ) {
    const account = statements.account ? statements.accountStatus : "'active'";
    const sessions = 'FROM {session} WHERE {session.userId} = s.{lock.userId}';
    // Runs while the user's lock is held. `s` is the row of the lock. The ticket and, at the
    // session limit, the active sessions are read separately.
    this.read = statements.prepared(
      `SELECT s.{lock.credentialsVersion} AS version, ${account} AS account,
         (SELECT COUNT(*) ${sessions} AND {session.state} = 'active') AS active_sessions,
         (SELECT COUNT(*) FROM {session} WHERE {session.id} = :id) AS is_open,
         CASE WHEN EXISTS (SELECT 1 ${sessions}) AND NOT EXISTS (SELECT 1 ${sessions}
           AND {session.loginNetwork} = :network AND {session.deviceType} = :deviceType
           AND {session.osFamily} = :osFamily AND {session.browserFamily} = :browserFamily) THEN 1 ELSE 0 END AS is_new_device
       FROM {lock} s WHERE s.{lock.userId} = :userId`,
    );
    const columns = Object.keys(NEW_SESSION).map((property) => `{session.${property}}`);
    const values = Object.values(NEW_SESSION);
    this.insert = statements.prepared(`INSERT INTO {session} (${columns.join(', ')}) VALUES (${values.join(', ')})`);
    this.endStreaks = statements.prepared(endStreaks(statements.dialect));
    const presented = `{ticket.digest} = :digest AND {ticket.userId} = :userId AND {ticket.methods} = :methods
      AND ${VALID_TICKET}`;
    this.readTicket = statements.statement(`SELECT 1 AS valid FROM {ticket} WHERE ${presented}`);
    this.consumeTicket = statements.statement(`DELETE FROM {ticket} WHERE ${presented}`);
    this.readRefusals = statements.statement(
      `SELECT {event.ipAddress} AS ip_address FROM {event}
       WHERE {event.userId} = :userId AND {event.id} >= :firstId AND {event.occurredAt} > :since
         AND {event.event} = 'login_blocked' AND {event.extra} = :extra`,
    );
  }

  open(command: OpenSession): Promise<OpenOutcome> {
    // If the response to COMMIT is lost, the next run finds the session and returns the outcome of the
    // first run.
    let firstOutcome: OpenOutcome | undefined;
    const openOnce = function* (this: SessionOpener): Step<OpenOutcome> {
      return (firstOutcome = yield* this.openLocked(command, firstOutcome));
    };
    return this.database.transaction(() => openOnce.call(this), { retryUnknownCommit: true });
  }

  private *openLocked(command: OpenSession, firstOutcome?: OpenOutcome): Step<OpenOutcome> {
    const { session, client, now, credentialsVersion } = command;
    const { userId } = session;
    yield* this.locks.lock(userId);
    const network = client.trackedNetwork;
    const values = { ...session, ...client.device, network, lastNetwork: network || null };
    const state = (yield* firstOf(this.read.with(values)))!;
    if (firstOutcome && Number(state['is_open']) > 0) return firstOutcome;
    // The credentials or the account may have changed while the password was being verified.
    const isSameVersion = credentialsVersion === null || Number(state['version']) === credentialsVersion;
    if (!isSameVersion || state['account'] !== 'active') return { kind: 'credentials_changed' };

    const ticket = command.ticket && { ...command.ticket, userId, now };
    if (ticket && !(yield* firstOf(this.readTicket.with(ticket)))) return { kind: 'credentials_changed' };

    const isFull = Number(state['active_sessions']) >= command.maxSessions;
    const capacity = applySessionPolicy(isFull ? yield* this.revocation.lockAllActive(userId) : [], command, now);
    if (capacity.kind === 'limit_reached') {
      // The password was correct, so its failure streak ends although the login is refused.
      if (command.attempt) yield* affectedBy(this.endStreaks.with({ ...command.attempt }));
      yield* this.recordRefusal(command);
      return capacity;
    }
    yield* this.revocation.storeEnded(capacity.ended, now);
    if (ticket) yield* changeAll(this.consumeTicket.with(ticket), 1);

    const newDevice = client.recognizable && Number(state['is_new_device']) === 1;
    yield* affectedBy(this.insert.with({ ...values, ...command.issued, expiresAt: session.expiresAt }));
    if (command.attempt) yield* affectedBy(this.endStreaks.with({ ...command.attempt }));
    const opened = newEvent('login_success', userId, client, now, newDevice ? { new_device: true } : {});
    yield* this.events.write([...endEvents(capacity.ended, client, now), opened]);
    return { kind: 'opened', session, ended: capacity.ended, newDevice };
  }

  /** Records a login that the session limit refuses, at most once an hour for each user and network. */
  private *recordRefusal({ session: { userId }, client, now }: OpenSession): Step<void> {
    const refused = newEvent('login_blocked', userId, client, now, { reason: 'session_limit' });
    const since = now - REFUSAL_RECORDED_FOR_MS;
    const recent = { userId, since, firstId: firstEventIdAt(since), extra: JSON.stringify(refused.extra) };
    const addresses = (yield* rowsOf(this.readRefusals.with(recent))).map((row) => row['ip_address'] as string | null);
    if (addresses.some((address) => (address ? networkOf(address) : '') === client.trackedNetwork)) return;
    yield* this.events.write([refused]);
  }
}
