import { Injectable } from '@nestjs/common';
import type { AccountStatus } from '../adapters/user-store';
import { Clock } from '../base/clock';
import { standardError } from '../base/errors';
import { forUpdate, greatest } from '../database/dialect';
import type { AuthEventName, EndReason } from '../database/entities';
import { afterCommit, type JoinedTransaction } from '../database/joined-transaction';
import { columns, StatementFactory } from '../database/statements';
import { changeAll, firstOf, type Row, rowsOf, type Step } from '../database/transaction';
import {
  type Client,
  EventLog,
  type NewAuthEvent,
  newEvent,
  type Operation,
  type WriteEvents,
} from '../history/event-log';
import { Signals } from '../history/signals';
import { Users } from '../users/users';
import {
  accountFromRow,
  type EndedSession,
  isExpired,
  sessionFromRow,
  type SessionRecord,
  SessionSql,
  type StoredActor,
  toEndedSession,
  toSessionInfo,
  UserLock,
} from './session';

/** The maximum number of active sessions of a user under any policy. Bounds transactions that end a user's sessions. */
export const SESSION_LIMIT = 1_000;

type EventClient = Pick<Client, 'ipAddress' | 'userAgent'>;

/** For events without a client, such as the end of a session by pruning. */
export const NO_CLIENT: EventClient = { ipAddress: null, userAgent: '' };

/** The sessions to end: all sessions of a user, or only `sessionId`. With the reason `expired`, only expired ones. */
interface SessionsToEnd {
  readonly userId: string;
  readonly sessionId?: string;
  readonly exceptId?: string;
  /** Whether nothing ends unless `exceptId` is an active session of the user. */
  readonly needsExcept?: boolean;
  /** Whether the login tickets and the logins in progress end too. */
  readonly endsLogins?: boolean;
  /** The session of the request. With the reason `logout_all`, it ends with the reason `logout`. */
  readonly currentId?: string | null;
  readonly reason: EndReason;
  /** The administrator who ends the sessions. */
  readonly actor?: string;
}

/** The API keys to end: all keys of a user, or only `keyId`. */
interface KeysToEnd extends Pick<SessionsToEnd, 'userId' | 'reason' | 'actor'> {
  readonly keyId?: string;
}

/** What must still hold when sessions end. */
interface EndCondition {
  /** No session was active at this instant or later. */
  readonly inactiveSince?: number | undefined;
  /** The session `sessionId` has the token family `familyDigest`. */
  readonly sessionId?: string;
  readonly familyDigest?: string;
}

/** The event that records each end reason. One `token_reuse` event covers all sessions. An expiry has no event. */
const EVENT_BY_REASON: Readonly<Record<EndReason, AuthEventName | null>> = {
  logout: 'logout',
  logout_all: 'session_revoked',
  application: 'session_revoked',
  user: 'session_revoked',
  admin: 'session_revoked',
  session_policy: 'forced_logout',
  password_change: 'forced_logout',
  password_reset: 'forced_logout',
  user_disabled: 'forced_logout',
  user_deleted: 'forced_logout',
  failed_reauthentication: 'forced_logout',
  token_reuse: null,
  // Only an impersonation ends for this reason.
  actor_session_ended: null,
  expired: null,
};

export function endEvents(
  ended: readonly EndedSession[],
  client: EventClient,
  at: number,
  actor?: string,
): NewAuthEvent[] {
  return ended.flatMap(({ session, reason }) => {
    if (session.actor !== null) {
      // Only the administrator has the token with which the session logs out.
      const [ofUser, ofActor] = reason === 'logout' ? [NO_CLIENT, client] : [client, NO_CLIENT];
      return impersonationEvents('impersonation_ended', session, ofUser, ofActor, at, { reason, ended_by: actor });
    }
    const event = EVENT_BY_REASON[reason];
    if (event === null) return [];
    const extra = { session_id: session.id, reason, ...(reason === 'admin' ? { actor } : {}) };
    return [newEvent(event, session.userId, client, at, event === 'logout' ? {} : extra)];
  });
}

/** Returns an event of an impersonation for both histories. Neither shows the address of the other. */
export function impersonationEvents(
  event: AuthEventName,
  { id, userId, actor }: Pick<SessionRecord, 'id' | 'userId' | 'actor'>,
  ofUser: EventClient,
  ofActor: EventClient,
  at: number,
  details: Record<string, unknown>,
): NewAuthEvent[] {
  const administrator = (JSON.parse(actor!) as StoredActor).userId;
  return [
    newEvent(event, userId, ofUser, at, { session_id: id, actor: administrator, ...details }),
    newEvent(event, administrator, ofActor, at, { session_id: id, user_id: userId, ...details }),
  ];
}

/** Returns null if the account is active or unknown. */
export function inactiveReason(account: AccountStatus | null): EndReason | null {
  if (account === 'disabled') return 'user_disabled';
  return account === 'deleted' ? 'user_deleted' : null;
}

/**
 * Ends sessions and API keys. Only an active session can end, so each session ends at most once, and is never revived. A
 * key ends by the deletion of its row.
 */
@Injectable()
export class EndSessions {
  /** Called after the commit, with the user, and with the id of the key if only one has ended. */
  onKeysEnded: (userId: string, keyId?: string) => void = () => undefined;
  private readonly sql;

  constructor(
    statements: StatementFactory,
    sessionSql: SessionSql,
    private readonly users: Users,
    private readonly lock: UserLock,
    private readonly events: EventLog,
    private readonly signals: Signals,
    private readonly clock: Clock,
  ) {
    const active = `WHERE s.{session.userId} = :userId AND s.{session.state} = 'active'`;
    const lockRows = forUpdate(statements.dialect);
    // Ended sessions are kept as long as the event of their login, because later logins are compared with them to
    // recognize a new device.
    const removeAt = greatest(statements.dialect, ':now', `s.{session.createdAt} + ${sessionSql.retentionMs}`);
    this.sql = {
      keysOfUser: statements.statement(
        `SELECT ${columns('apiKey', 'id name expiresAt')} FROM {apiKey} WHERE {apiKey.userId} = :userId`,
      ),
      removeKeys: statements.statement('DELETE FROM {apiKey} WHERE {apiKey.id} IN (:ids...)'),
      activeOfUser: sessionSql.select(`${active} ORDER BY s.{session.createdAt}, s.{session.id} ${lockRows}`),
      activeOne: sessionSql.select(`${active} AND s.{session.id} = :sessionId ${lockRows}`),
      accountOfUser: sessionSql.select(`${active} LIMIT 1`, `${sessionSql.account} AS account`),
      end: statements.statement(
        `UPDATE {session} AS s SET {session.state} = :state, {session.endReason} = :reason, {session.endedAt} = :now,
           {session.checkAt} = ${removeAt}, {session.replaySeed} = NULL
         WHERE s.{session.id} IN (:ids...) AND s.{session.state} = 'active'
           AND (:reason <> 'expired' OR ${sessionSql.expiresAt} <= :now) AND s.{session.lastActivity} < :inactiveSince
           AND (s.{session.id} <> :sessionId OR s.{session.familyDigest} = :familyDigest)`,
      ),
    };
  }

  /** Ends sessions in one transaction with their events, and emits their signals. */
  async end(
    command: SessionsToEnd,
    { client, tx }: Pick<Operation, 'tx'> & { readonly client: EventClient },
  ): Promise<readonly EndedSession[]> {
    const ended = await this.events.revoke(tx, (write) => this.endAndRecord(command, client, write));
    this.publish(ended, tx, command.currentId);
    return ended;
  }

  /**
   * Ends all sessions and API keys of a user who is disabled or deleted, and revokes the user's tickets and reset tokens. If
   * statements can read the account, it is read again, because it may be active by now.
   */
  async endForInactiveAccount(userId: string, known: AccountStatus, op: Operation): Promise<void> {
    const ended = await this.events.revoke(op.tx, (write) => this.endIfInactive(userId, known, op.client, write));
    if (!ended) return;
    this.publish(ended, op.tx);
    this.publishKeys(op.tx, userId);
  }

  publish(ended: readonly EndedSession[], tx: JoinedTransaction | null, currentId: string | null = null): void {
    for (const { session, reason } of ended) {
      const userId = this.users.parseId(session.userId);
      this.signals.emit(tx, 'user_logged_out', { userId, session: toSessionInfo(session, currentId), reason });
    }
  }

  /** Closes the sockets of the user's keys, or of one key, once the transaction that ended them is committed. */
  publishKeys(tx: JoinedTransaction | null, userId: string, keyId?: string): void {
    afterCommit(tx, () => this.onKeysEnded(userId, keyId));
  }

  /**
   * Deletes API keys and writes their events. Returns the number of keys that had not expired. For all keys of a user,
   * the user's lock is required, so that no key is created meanwhile.
   */
  *endKeys({ userId, keyId, reason, actor }: KeysToEnd, client: EventClient, write: WriteEvents): Step<number> {
    const rows = (yield* rowsOf(this.sql.keysOfUser.with({ userId }))).filter(({ id }) => id === (keyId ?? id));
    if (rows.length > 0) yield* changeAll(this.sql.removeKeys.with({ ids: rows.map(({ id }) => id) }), rows.length);
    const now = this.clock.now();
    const live = rows.filter((row) => Number(row['expires_at'] ?? Infinity) > now);
    const eventOf = ({ id, name }: Row): NewAuthEvent =>
      newEvent('api_key_revoked', userId, client, now, { key_id: id, name, reason, actor });
    yield* write(live.map(eventOf));
    return live.length;
  }

  /** Ends everything by which an inactive user could get access. The user's lock is required. */
  *endAccess(command: SessionsToEnd, client: EventClient, write: WriteEvents): Step<readonly EndedSession[]> {
    yield* this.lock.revokeCredentials(command.userId);
    yield* this.endKeys(command, client, write);
    return yield* this.endAndRecord(command, client, write);
  }

  /** The part of `end` in the transaction. Sessions that have already expired end without an event. */
  *endAndRecord(command: SessionsToEnd, client: EventClient, write: WriteEvents): Step<readonly EndedSession[]> {
    const { userId, sessionId, exceptId, needsExcept, endsLogins, currentId, reason, actor } = command;
    const found =
      sessionId === undefined
        ? yield* this.lockAllActive(userId)
        : (yield* rowsOf(this.sql.activeOne.with({ userId, sessionId }))).map(sessionFromRow);
    const now = this.clock.now();
    const kept = found.find((one) => one.id === exceptId && !isExpired(one, now));
    if (needsExcept && !kept) throw standardError('session_not_found');
    // An administrator who acts as the user must not end the user's own sessions.
    if (needsExcept && kept?.actor) throw standardError('not_allowed_while_impersonating');
    const ended = found
      .filter((one) => one.id !== exceptId && (reason !== 'expired' || isExpired(one, now)))
      .map((one) => toEndedSession(one, now, reason === 'logout_all' && one.id === currentId ? 'logout' : reason));
    yield* this.storeEnded(ended, now);
    if (endsLogins) yield* this.lock.revokeLogins(userId);
    yield* write(endEvents(ended, client, now, actor));
    return ended;
  }

  /** Takes the user's lock, then locks the active sessions and returns them, oldest first. */
  *lockAllActive(userId: string): Step<readonly SessionRecord[]> {
    yield* this.lock.lock(userId);
    return (yield* rowsOf(this.sql.activeOfUser.with({ userId }))).map(sessionFromRow);
  }

  /** Stores ended sessions, which the caller has read. If one has changed since then, the transaction is run again. */
  *storeEnded(ended: readonly EndedSession[], now: number, condition: EndCondition = {}): Step<void> {
    const { inactiveSince = Number.MAX_SAFE_INTEGER, sessionId = '', familyDigest = '' } = condition;
    for (const reason of new Set(ended.map((one) => one.reason))) {
      const sessions = ended.filter((one) => one.reason === reason).map(({ session }) => session);
      const ids = sessions.map(({ id }) => id);
      const { state } = sessions[0]!;
      const values = { inactiveSince, sessionId, familyDigest, state, reason, now, ids };
      yield* changeAll(this.sql.end.with(values), ids.length);
    }
  }

  private *endIfInactive(userId: string, known: AccountStatus, client: Client, write: WriteEvents) {
    yield* this.lock.lock(userId);
    const row = this.users.sql ? yield* firstOf(this.sql.accountOfUser.with({ userId })) : null;
    const reason = inactiveReason(row ? accountFromRow(row) : known);
    if (reason === null) return null;
    return yield* this.endAccess({ userId, reason }, client, write);
  }
}
