import { Injectable } from '@nestjs/common';
import type { AccountStatus } from '../adapters/user-store';
import type { TimeBudget } from '../database/deadline';
import { forUpdate, greatest } from '../database/dialect';
import type { AuthEventName, EndReason } from '../database/entities';
import { type Statement, StatementFactory } from '../database/statements';
import { changeAll, firstOf, rowsOf, type Step, type Transaction } from '../database/transaction';
import type { Client, OperationContext } from '../history/client';
import { type NewAuthEvent, newEvent, RevocationRunner, type WriteEvents } from '../history/event-log';
import { UserLocks } from '../users/user-lock';
import {
  accountFromRow,
  type EndedSession,
  isExpired,
  sessionFromRow,
  type SessionRecord,
  stateAfter,
  toEndedSession,
  toEndedSessionAt,
} from './session';

/** The sessions to end: all sessions of a user, or only `sessionId`. */
export interface EndSessions extends OperationContext {
  readonly userId: string;
  readonly sessionId?: string;
  /** The session to keep. */
  readonly exceptId?: string;
  /** The session of the request, and the reason to record if this session is among the sessions to end. */
  readonly current?: { readonly id: string; readonly reason: EndReason };
  readonly reason: EndReason;
  /** The administrator who ends the sessions, if any. */
  readonly actor?: string;
}

/** The event that records each end reason. One `token_reuse` event covers all sessions. An expiry has no event. */
const EVENT_BY_REASON: Readonly<Record<EndReason, AuthEventName | null>> = {
  logout: 'logout',
  logout_all: 'session_revoked',
  user: 'session_revoked',
  admin: 'session_revoked',
  session_policy: 'forced_logout',
  password_change: 'forced_logout',
  password_reset: 'forced_logout',
  user_disabled: 'forced_logout',
  user_deleted: 'forced_logout',
  failed_reauthentication: 'forced_logout',
  token_reuse: null,
  expired: null,
};

/** Creates the events that record the end of sessions. */
export function endEvents(
  ended: readonly EndedSession[],
  client: Pick<Client, 'ipAddress' | 'userAgent'>,
  at: number,
  actor: string | null = null,
): NewAuthEvent[] {
  return ended.flatMap(({ session, reason }) => {
    const event = EVENT_BY_REASON[reason];
    if (event === null) return [];
    const actorField = actor !== null && reason === 'admin' ? { actor } : {};
    const extra = event === 'logout' ? {} : { session_id: session.id, reason, ...actorField };
    return [newEvent(event, session.userId, client, at, extra)];
  });
}

/** The maximum number of active sessions of a user under any policy. Bounds transactions that end a user's sessions. */
export const SESSION_LIMIT = 1_000;

/** Returns the reason why the sessions of an inactive account end, or null if the account is active or unknown. */
export function inactiveReason(account: AccountStatus | null): EndReason | null {
  if (account === 'disabled') return 'user_disabled';
  return account === 'deleted' ? 'user_deleted' : null;
}

/** Conditions, besides the state `active`, that must still hold when a session that has not expired ends. */
export interface EndCondition {
  /** The last activity of the sessions is earlier than this instant. */
  readonly inactiveSince?: number;
  /** The session to which a refresh token was presented still has the token's family. */
  readonly presented?: { readonly sessionId: string; readonly familyDigest: string };
}

/**
 * Ends sessions. Only an active session can end. Each session therefore ends at most once, with one reason,
 * and is never revived.
 */
@Injectable()
export class SessionRevocation {
  private readonly activeOfUser;
  private readonly activeOne;
  private readonly accountOfUser;
  private readonly updates;

  constructor(
    private readonly statements: StatementFactory,
    private readonly locks: UserLocks,
    private readonly runner: RevocationRunner,
  ) {
    const { dialect, expiresAt, retentionMs } = statements;
    const active = `WHERE s.{session.userId} = :userId AND s.{session.state} = 'active'`;
    const lock = forUpdate(dialect);
    this.activeOfUser = statements.selectSession(`${active} ORDER BY s.{session.createdAt}, s.{session.id} ${lock}`);
    this.activeOne = statements.selectSession(`${active} AND s.{session.id} = :sessionId ${lock}`);
    this.accountOfUser = statements.selectSessionWithAccount(`${active} LIMIT 1`);
    // Ended sessions are kept as long as the event of their login, because later logins are compared
    // with them to recognize a new device.
    const removeAt = greatest(dialect, ':now', `s.{session.createdAt} + ${retentionMs}`);
    const endIf = (condition = ''): Statement =>
      statements.statement(
        `UPDATE {session} AS s SET {session.state} = :state, {session.endReason} = :reason, {session.endedAt} = :now,
           {session.checkAt} = ${removeAt}, {session.replaySeed} = NULL
         WHERE s.{session.id} IN (:ids...) AND s.{session.state} = 'active' ${condition}`,
      );
    this.updates = {
      active: endIf(),
      expired: endIf(`AND ${expiresAt} <= :now`),
      inactive: endIf('AND s.{session.lastActivity} < :inactiveSince'),
      presented: endIf('AND (s.{session.id} <> :sessionId OR s.{session.familyDigest} = :familyDigest)'),
    };
  }

  /** Runs a transaction that can end sessions. See `RevocationRunner`. */
  run<T>(revocation: (write: WriteEvents) => Transaction<T>, budget?: TimeBudget): Promise<T> {
    return this.runner.run(revocation, budget);
  }

  /**
   * Ends the sessions that the command selects, and writes their events. Sessions that have already
   * expired end with the reason `expired`, for which there is no event.
   */
  *endAndRecord(command: EndSessions, write: WriteEvents): Step<readonly EndedSession[]> {
    const { userId, sessionId, exceptId, current, now } = command;
    const found =
      sessionId === undefined
        ? yield* this.lockAllActive(userId)
        : (yield* rowsOf(this.activeOne.with({ userId, sessionId }))).map(sessionFromRow);
    const reasonOf = (session: SessionRecord): EndReason =>
      session.id === current?.id ? current.reason : command.reason;
    const ended = found
      .filter((session) => session.id !== exceptId)
      .map((session) => toEndedSessionAt(session, now, reasonOf(session)));
    if (command.reason === 'logout_all') yield* this.storeEndOfAll(userId, ended, now);
    else yield* this.storeEnded(ended, now);
    yield* write(endEvents(ended, command.client, now, command.actor));
    return ended;
  }

  /**
   * Ends the sessions of a user whose account is inactive and revokes the user's credentials, as disabling
   * does. Reads the account again if statements can read it and the user has an active session, because the
   * account may be active by now.
   */
  *endForInactiveAccount(
    userId: string,
    known: AccountStatus | null,
    context: OperationContext,
    write: WriteEvents,
  ): Step<readonly EndedSession[]> {
    yield* this.locks.lock(userId);
    const row = this.statements.account ? yield* firstOf(this.accountOfUser.with({ userId })) : null;
    const reason = inactiveReason(row ? accountFromRow(row) : known);
    if (reason === null) return [];
    yield* this.locks.revokeCredentials(userId);
    return yield* this.endAndRecord({ ...context, userId, reason }, write);
  }

  /** Ends the user's sessions that have expired. */
  *expire(userId: string, now: number): Step<readonly EndedSession[]> {
    const active = yield* this.lockAllActive(userId);
    const ended = active
      .filter((session) => isExpired(session, now))
      .map((session) => toEndedSession(session, 'expired'));
    yield* this.storeEnded(ended, now);
    return ended;
  }

  /** Takes the user's lock, then locks the active sessions and returns them, oldest first. */
  *lockAllActive(userId: string): Step<readonly SessionRecord[]> {
    yield* this.locks.lock(userId);
    return (yield* rowsOf(this.activeOfUser.with({ userId }))).map(sessionFromRow);
  }

  /**
   * Stores the states of a user's ended sessions, and revokes the user's logins in progress, so
   * that none of them opens a session afterwards.
   */
  *storeEndOfAll(
    userId: string,
    ended: readonly EndedSession[],
    now: number,
    condition: EndCondition = {},
  ): Step<void> {
    yield* this.storeEnded(ended, now, condition);
    yield* this.locks.revokeLogins(userId);
  }

  /**
   * Stores the states of ended sessions. The caller has locked the sessions if the database supports row
   * locks. If a session has changed nevertheless, the transaction is run again.
   */
  *storeEnded(ended: readonly EndedSession[], now: number, condition: EndCondition = {}): Step<void> {
    const { inactiveSince, presented } = condition;
    const conditionValues = { inactiveSince, sessionId: presented?.sessionId, familyDigest: presented?.familyDigest };
    const byReason = new Map<EndReason, string[]>();
    for (const { session, reason } of ended) {
      const ids = byReason.get(reason);
      if (ids) ids.push(session.id);
      else byReason.set(reason, [session.id]);
    }
    for (const [reason, ids] of byReason) {
      for (let i = 0; i < ids.length; i += SESSION_LIMIT) {
        const batch = ids.slice(i, i + SESSION_LIMIT);
        const values = { ...conditionValues, state: stateAfter(reason), reason, now, ids: batch };
        yield* changeAll(this.updateFor(reason, condition).with(values), batch.length);
      }
    }
  }

  private updateFor(reason: EndReason, { inactiveSince, presented }: EndCondition): Statement {
    if (reason === 'expired') return this.updates.expired;
    if (presented) return this.updates.presented;
    return inactiveSince === undefined ? this.updates.active : this.updates.inactive;
  }
}
