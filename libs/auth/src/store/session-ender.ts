import type { NewAuthEvent } from '../domain/auth-event';
import type { AccountStatus } from '../domain/outcomes';
import type { Circumstances, EndSessions } from '../domain/ports/session-store';
import {
  ending,
  isOver,
  stateAfter,
  type EndedSession,
  type EndReason,
  type SessionLimits,
  type SessionRecord,
} from '../domain/session';
import type { AuthTables } from './auth-tables';
import { endEvents } from './event-writer';
import { accountFromRow, sessionFromRow } from './rows';
import { forUpdate } from './sql/dialect';
import { affectedBy, firstOf, rowsOf, type Unit } from './sql/unit';
import type { UserLocks } from './user-locks';

/** How a unit writes the rows of the log that tell of it. */
export type WriteEvents = (events: readonly NewAuthEvent[]) => Unit<void>;

/** As many ids as every database takes in one statement. */
const IDS_AT_ONCE = 1_000;

/** Ending sessions. Only an active one ends, so each ends once, for one reason, and none comes back. */
export class SessionEnder {
  private readonly activeOfUser;
  private readonly activeOne;
  private readonly accountOfUser;
  private readonly markEnded;

  constructor(
    private readonly tables: AuthTables,
    private readonly locks: UserLocks,
  ) {
    const active = `WHERE s.{session.userId} = :userId AND s.{session.state} = 'active'`;
    const lock = forUpdate(tables.dialect);
    this.activeOfUser = tables.selectSession(`${active} ORDER BY s.{session.createdAt}, s.{session.id} ${lock}`);
    this.activeOne = tables.selectSession(`${active} AND s.{session.id} = :sessionId ${lock}`);
    this.accountOfUser = tables.selectSessionWithAccount('1 AS one', `${active} LIMIT 1`);
    this.markEnded = tables.statement(
      `UPDATE {session} SET {session.state} = :state, {session.endReason} = :reason, {session.endedAt} = :now,
         {session.sealedAnswer} = NULL, {session.sealedUntil} = NULL
       WHERE {session.id} IN (:ids...)`,
    );
  }

  /** Ends what the command names, and tells it in the log. Sessions whose time was over come out as expired. */
  *endAndTell(command: EndSessions, write: WriteEvents): Unit<readonly EndedSession[]> {
    const { userId, sessionId, exceptId, current, now } = command;
    if (sessionId === undefined) yield* this.locks.lock(userId);
    const found =
      sessionId === undefined
        ? yield* this.lockActive(userId)
        : (yield* rowsOf(this.activeOne.with({ userId, sessionId }))).map(sessionFromRow);
    const reasonOf = (session: SessionRecord): EndReason =>
      session.id === current?.id ? current.reason : command.reason;
    const ended = found
      .filter((session) => session.id !== exceptId)
      .map((session) => ending(session, isOver(session, command.limits, now) ? 'expired' : reasonOf(session)));
    yield* this.mark(ended, now);
    yield* write(endEvents(ended, command.client, now, command.actor));
    return ended;
  }

  /** Ends the sessions of a user who may not be signed in any more; looks once more, for a host may change its mind. */
  *endIfGone(
    userId: string,
    known: AccountStatus | null,
    at: Circumstances,
    write: WriteEvents,
  ): Unit<readonly EndedSession[]> {
    yield* this.locks.lock(userId);
    const row = this.tables.account ? yield* firstOf(this.accountOfUser.with({ userId })) : null;
    const account = row ? accountFromRow(row) : known;
    if (account !== 'disabled' && account !== 'deleted') return [];
    const reason = account === 'disabled' ? 'user_disabled' : 'user_deleted';
    return yield* this.endAndTell({ ...at, userId, reason }, write);
  }

  /** Stores that the time of sessions is over, where it is. */
  *expire(userId: string, now: number, limits: SessionLimits): Unit<readonly EndedSession[]> {
    yield* this.locks.lock(userId);
    const over = (yield* this.lockActive(userId)).filter((session) => isOver(session, limits, now));
    const ended = over.map((session) => ending(session, 'expired'));
    yield* this.mark(ended, now);
    return ended;
  }

  /** The user's active sessions, oldest first, locked; the user's lock must be held. */
  *lockActive(userId: string): Unit<readonly SessionRecord[]> {
    return (yield* rowsOf(this.activeOfUser.with({ userId }))).map(sessionFromRow);
  }

  /** Stores the ends of sessions that are locked. */
  *mark(ended: readonly EndedSession[], now: number): Unit<void> {
    const byReason = new Map<EndReason, string[]>();
    for (const { session, reason } of ended) {
      const ids = byReason.get(reason);
      if (ids) ids.push(session.id);
      else byReason.set(reason, [session.id]);
    }
    for (const [reason, ids] of byReason) {
      for (let i = 0; i < ids.length; i += IDS_AT_ONCE) {
        const batch = ids.slice(i, i + IDS_AT_ONCE);
        yield* affectedBy(this.markEnded.with({ state: stateAfter(reason), reason, now, ids: batch }));
      }
    }
  }
}
