import { Injectable } from '@nestjs/common';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { Database } from '../database/database';
import { forUpdateSkipLocked, least } from '../database/dialect';
import { type Statement, StatementFactory } from '../database/statements';
import { affectedBy, firstOf, type Query, type Row, rowsOf, type Step } from '../database/transaction';
import type { OperationContext } from '../history/client';
import { type EventOwner, firstEventIdAt, type WriteEvents } from '../history/event-log';
import { endEvents, inactiveReason, SessionRevocation } from '../sessions/end-sessions';
import { accountFromRow, type EndedSession, isExpired, sessionFromRow, toEndedSession } from '../sessions/session';
import { UserLocks } from '../users/user-lock';

/** The rows that pruning removes only because they are too old or have expired. */
export type Prunable = 'events' | 'loginFailures' | 'loginTickets' | 'passwordResets';

/** The result of one batch of pruning sessions. */
export interface PrunedSessions {
  /**
   * The number of sessions that the batch examined. If the number is below the limit, this batch was the last batch.
   */
  readonly visited: number;
  /** The number of ended sessions that were removed. */
  readonly removed: number;
  /** The active sessions that ended because they had expired, or because their user is no longer active. */
  readonly ended: readonly EndedSession[];
}

/** The maximum numbers of events that trimming keeps. */
export interface HistoryCaps {
  readonly perUser: number;
  /** The maximum for all events of unknown names together. */
  readonly withoutUser: number;
}

/** A page of users who may have more events than the cap. */
export interface UsersOverCap {
  readonly users: readonly string[];
  /** The user after whom the next page begins, or null if this is the last page. */
  readonly next: string | null;
}

/**
 * The position of the next batch: the group of events to remove, as an index into the order that
 * `PruningStore.trim` documents, and the event id after which the search for these events begins.
 */
export interface TrimPosition {
  readonly rank: number;
  readonly from: number;
}

/** The position of the first batch. */
export const TRIM_START: TrimPosition = { rank: 0, from: 0 };

/** The result of one batch of trimming a history. */
export interface TrimmedEvents {
  readonly removed: number;
  /** The position of the next batch, or null after the last batch. */
  readonly next: TrimPosition | null;
}

/**
 * Prunes rows in batches. Each call is one transaction. `pruneSessions` and `remove` skip rows that
 * other transactions have locked.
 */
export abstract class PruningStore {
  /** Ends, removes or reschedules the sessions that are due. */
  abstract pruneSessions(context: OperationContext, limit: number): Promise<PrunedSessions>;
  /**
   * Removes events that occurred before `before`, or rows of other kinds that expired by then.
   * Returns the number of rows that this call removed.
   */
  abstract remove(what: Prunable, before: number, limit: number): Promise<number>;
  /**
   * Returns a page of users, in the order of their ids as text, who may have more events than the cap.
   * Begins after the user `after`.
   */
  abstract usersOverCap(cap: number, after: string): Promise<UsersOverCap>;
  /**
   * Removes the events of a user, or of unknown names (null), beyond the cap, in this order:
   * `token_refresh`, `login_failure`, `login_blocked`, `password_reset_requested`, and then all
   * other events. Within each group, the oldest events are removed first.
   */
  abstract trim(userId: string | null, cap: number, limit: number, position: TrimPosition): Promise<TrimmedEvents>;
  /**
   * Removes at most `limit` ended sessions of a user that are not among the newest `cap`. Returns the number of
   * sessions that this call removed.
   */
  abstract trimSessions(userId: string, cap: number, limit: number): Promise<number>;

  /** Counts the sessions that `pruneSessions` would end and remove. */
  abstract countSessions(now: number): Promise<{ readonly toEnd: number; readonly toRemove: number }>;
  /** Counts the rows that `remove` would remove. */
  abstract count(what: Prunable, before: number): Promise<number>;
  /** Counts the events since `before` that exceed the caps. */
  abstract countOverCap(before: number, caps: HistoryCaps): Promise<number>;
}

/** The maximum number of rows in a batch. Each batch is one short transaction. */
export const BATCH_SIZE = 500;

/** The maximum number of events kept for unknown names. Anyone can cause events of unknown names. (ASVS 16.4) */
export const MAX_EVENTS_WITHOUT_USER = 10_000;

/**
 * An instance trims the rows of a user after it has written this many events for the user, or
 * `maxRowsPerUser` if that is less.
 */
export const GROWTH_LIMIT = 1_000;

/**
 * The maximum number of ended sessions kept per user. Each login is compared with these sessions to detect a new
 * device.
 */
const MAX_ENDED_SESSIONS = 1_000;

/** The number of failed owners after which trimming stops, because the database is probably down. */
const MAX_FAILED_OWNERS = 10;

export interface TrimmedRows {
  readonly events: number;
  readonly sessions: number;
}

/**
 * Removes the events and ended sessions that exceed the maximum per user, and the surplus events of unknown names.
 * Users over a maximum are found by their number of events alone, because each new session also writes an event.
 */
export class Trimming {
  constructor(
    private readonly store: PruningStore,
    private readonly maxRowsPerUser: number,
    private readonly countRemoved: (kind: 'events' | 'sessions', rows: number) => number,
    private readonly isStopped: () => boolean,
  ) {}

  /** Trims the events that belong to no user, and the rows of every user who may exceed a maximum. */
  async trimAll(): Promise<TrimmedRows> {
    return this.trimEach(this.ownersOverCap());
  }

  /**
   * Trims the rows of one owner after another. If trimming the rows of an owner fails, for example because a
   * transaction holds the user's lock, continues with the next owner. Stops after 10 failures, or at shutdown.
   * @throws the failure to read the next owner, immediately; otherwise the first failure, at the end
   */
  async trimEach(owners: Iterable<EventOwner> | AsyncIterable<EventOwner>): Promise<TrimmedRows> {
    const total = { events: 0, sessions: 0 };
    const failures: unknown[] = [];
    for await (const owner of owners) {
      try {
        total.events += await this.trimEvents(owner);
        if (owner !== null) total.sessions += await this.trimSessions(owner);
      } catch (error) {
        if (failures.push(error) === MAX_FAILED_OWNERS) break;
      }
      if (this.isStopped()) break;
    }
    if (failures.length > 0) throw failures[0];
    return total;
  }

  private async *ownersOverCap(): AsyncGenerator<EventOwner> {
    yield null;
    const threshold = Math.min(this.maxRowsPerUser, MAX_ENDED_SESSIONS);
    for (let after: string | null = ''; after !== null; await yieldToEventLoop()) {
      const { users, next } = await this.store.usersOverCap(threshold, after);
      yield* users;
      after = this.isStopped() ? null : next;
    }
  }

  private async trimEvents(owner: EventOwner): Promise<number> {
    const cap = owner === null ? MAX_EVENTS_WITHOUT_USER : this.maxRowsPerUser;
    let total = 0;
    for (let position: TrimPosition | null = TRIM_START; position !== null && !this.isStopped();) {
      const { removed, next } = await this.store.trim(owner, cap, BATCH_SIZE, position);
      total += this.countRemoved('events', removed);
      position = next;
      if (next) await yieldToEventLoop();
    }
    return total;
  }

  private async trimSessions(userId: string): Promise<number> {
    let total = 0;
    for (let removed = BATCH_SIZE; removed === BATCH_SIZE && !this.isStopped();) {
      removed = this.countRemoved('sessions', await this.store.trimSessions(userId, MAX_ENDED_SESSIONS, BATCH_SIZE));
      total += removed;
      if (removed === BATCH_SIZE) await yieldToEventLoop();
    }
    return total;
  }
}

/** Limits the number of ended sessions that are stored for each user. */
export class EndedSessionTrimmer {
  private readonly find: Statement;
  private readonly remove: Statement;

  constructor(
    statements: StatementFactory,
    private readonly locks: UserLocks,
  ) {
    const ended = `{session.userId} = :userId AND {session.state} IN ('expired', 'logged_out', 'revoked')`;
    this.find = statements.statement(
      `SELECT {session.id} AS id FROM (SELECT {session.id}, {session.createdAt} FROM {session} WHERE ${ended} LIMIT :limit) ended
       ORDER BY {session.createdAt}, {session.id}`,
    );
    this.remove = statements.statement(
      `DELETE FROM {session} WHERE {session.id} IN (:ids...) AND {session.state} <> 'active'`,
    );
  }

  /**
   * Removes at most `limit` ended sessions of the user, but never one of the newest `cap`. Each
   * call reads at most `cap + limit` sessions, however many sessions the user has. A removed
   * session is older than `cap` other ended sessions. The user's lock prevents two parallel calls
   * from both removing the excess.
   */
  *trim(userId: string, cap: number, limit: number): Step<number> {
    yield* this.locks.lock(userId);
    const found = yield* rowsOf(this.find.with({ userId, limit: cap + limit }));
    const ids = found.slice(0, Math.max(0, found.length - cap)).map((row) => row['id']);
    return ids.length === 0 ? 0 : yield* affectedBy(this.remove.with({ ids }));
  }
}

/**
 * The order in which events are removed: routine events and events that outsiders can cause first, then the
 * oldest remaining events (null).
 */
const TRIM_ORDER = ['token_refresh', 'login_failure', 'login_blocked', 'password_reset_requested', null] as const;

/** The key of the lock for events without a user. It is not expected to be the id of a user. */
const NO_USER = '';

/** The maximum number of events that one statement reads to find users, or events of one name. */
const MAX_EVENTS_READ = 10_000;

/**
 * Limits the number of stored events of each user, and of all unknown names together. The
 * statements of `trim` read a limited number of events, however long the history is.
 */
export class HistoryTrimmer {
  private readonly nextUsers: Statement;
  private readonly count: Statement;
  private readonly delete: Statement;
  private readonly ofUser: OwnedRows;
  private readonly ofUnknownNames: OwnedRows;

  constructor(
    statements: StatementFactory,
    private readonly locks: UserLocks,
  ) {
    const perUser = 'GROUP BY {event.userId}';
    this.nextUsers = statements.statement(
      `SELECT {event.userId} AS user_id, COUNT(*) AS total FROM (SELECT {event.userId} FROM {event}
         WHERE {event.userId} > :after ORDER BY {event.userId} LIMIT ${MAX_EVENTS_READ}) next_events
       ${perUser} ORDER BY {event.userId}`,
    );
    this.count = statements.statement(
      `SELECT COALESCE(SUM(total - :cap), 0) AS over_cap,
         (SELECT COUNT(*) FROM {event} WHERE {event.userId} IS NULL AND {event.id} >= :before) AS without_user
       FROM (SELECT COUNT(*) AS total FROM {event}
         WHERE {event.userId} IS NOT NULL AND {event.id} >= :before ${perUser} HAVING COUNT(*) > :cap) counted`,
    );
    this.delete = statements.statement('DELETE FROM {event} WHERE {event.id} IN (:ids...)');
    this.ofUser = ownedRows(statements, '{event.userId} = :userId');
    this.ofUnknownNames = ownedRows(statements, '{event.userId} IS NULL');
  }

  /**
   * Returns a query that counts the events since `before` that exceed the cap of their user, as `over_cap`,
   * and the events without a user, as `without_user`.
   */
  countOverCap(before: number, cap: number): Query {
    return this.count.with({ before: firstEventIdAt(before), cap });
  }

  /** Returns a query that counts the events of the users after `after`, for `usersOverCap`. */
  countNextUsers(after: string): Query {
    return this.nextUsers.with({ after });
  }

  /**
   * Removes at most `limit` events beyond the cap. The lock prevents two parallel calls from both removing
   * the excess.
   */
  *trim(userId: string | null, cap: number, limit: number, position: TrimPosition): Step<TrimmedEvents> {
    yield* this.locks.lock(userId ?? NO_USER);
    const owned = userId === null ? this.ofUnknownNames : this.ofUser;
    const owner = userId === null ? {} : { userId };
    const excess = yield* this.excessOf(owned, owner, cap, limit);
    let { rank, from } = position;
    let removed = 0;
    while (removed < excess && rank < TRIM_ORDER.length) {
      const event = TRIM_ORDER[rank]!;
      const range = { ...owner, from, limit: excess - removed };
      const found = yield* rowsOf(event === null ? owned.oldest.with(range) : owned.oldestOf.with({ ...range, event }));
      const ids = found.map((row) => Number(row['id']));
      const hasAll = ids.length === range.limit;
      // The next batch continues after the events that were searched, so that no batch searches the whole
      // history. The position is read before the events are removed.
      const searchedTo =
        event === null || hasAll ? null : yield* firstOf(owned.searchedTo.with({ ...owner, from: range.from }));
      if (ids.length > 0) removed += yield* affectedBy(this.delete.with({ ids }));
      from = ids.at(-1) ?? from;
      if (removed >= excess) break;
      if (searchedTo) return { removed, next: { rank, from: Number(searchedTo['id']) } };
      rank++;
      from = 0;
    }
    return { removed, next: excess < limit || rank === TRIM_ORDER.length ? null : { rank, from } };
  }

  /** Counts the events that are older than the newest `cap` events, up to `limit`. */
  private *excessOf(owned: OwnedRows, owner: object, cap: number, limit: number): Step<number> {
    const oldestKept = yield* firstOf(owned.nthNewest.with({ ...owner, newer: cap - 1 }));
    if (!oldestKept) return 0;
    return Number((yield* firstOf(owned.countOlder.with({ ...owner, id: oldestKept['id'], limit })))?.['total']);
  }
}

/**
 * Returns the users who may have more events than the cap. Unless this page is the last one or has
 * only one user, its last user is left for the next page, because not all events of that user may
 * have been read.
 */
export function usersOverCap(read: readonly Row[], cap: number): UsersOverCap {
  const users = read.map((row) => ({ id: String(row['user_id']), total: Number(row['total']) }));
  const isLast = users.reduce((sum, { total }) => sum + total, 0) < MAX_EVENTS_READ;
  // A single user fills the page and may have more events than were read. Trimming counts the events of
  // this user again.
  if (!isLast && users.length === 1) return { users: [users[0]!.id], next: users[0]!.id };
  const complete = isLast ? users : users.slice(0, -1);
  return {
    users: complete.filter(({ total }) => total > cap).map(({ id }) => id),
    next: isLast ? null : complete.at(-1)!.id,
  };
}

type OwnedRows = Readonly<Record<'nthNewest' | 'countOlder' | 'oldest' | 'oldestOf' | 'searchedTo', Statement>>;

function ownedRows(statements: StatementFactory, owner: string): OwnedRows {
  const rows = `FROM {event} WHERE ${owner}`;
  const oldestFirst = 'ORDER BY {event.id} LIMIT';
  const afterPosition = `${rows} AND {event.id} > :from ${oldestFirst}`;
  return {
    nthNewest: statements.statement(`SELECT {event.id} AS id ${rows} ORDER BY {event.id} DESC LIMIT 1 OFFSET :newer`),
    countOlder: statements.statement(
      `SELECT COUNT(*) AS total FROM (SELECT {event.id} ${rows} AND {event.id} < :id ${oldestFirst} :limit) older`,
    ),
    oldest: statements.statement(`SELECT {event.id} AS id ${afterPosition} :limit`),
    oldestOf: statements.statement(
      `SELECT {event.id} AS id FROM (SELECT {event.id}, {event.event} ${afterPosition} ${MAX_EVENTS_READ}) searched
       WHERE {event.event} = :event ${oldestFirst} :limit`,
    ),
    searchedTo: statements.statement(`SELECT {event.id} AS id ${afterPosition} 1 OFFSET ${MAX_EVENTS_READ - 1}`),
  };
}

/**
 * Processes the sessions that are due. Ended sessions are deleted. Active sessions end if they have
 * expired or, if statements can read the accounts, if their user is inactive. All other active sessions
 * are rescheduled. Refreshes and activity writes do not change `checkAt`, because it has an index,
 * and PostgreSQL cannot perform a HOT update that changes an indexed column.
 */
export class SessionPruner {
  private readonly due;
  private readonly remove;
  private readonly reschedule;
  private readonly count;

  constructor(
    statements: StatementFactory,
    private readonly revocation: SessionRevocation,
  ) {
    const { dialect, expiresAt, accountStatus } = statements;
    const isDue = 's.{session.checkAt} <= :now';
    this.due = statements.selectSessionWithAccount(
      `WHERE ${isDue} ORDER BY s.{session.checkAt} LIMIT :limit ${forUpdateSkipLocked(dialect)}`,
    );
    const ended = `{session.state} <> 'active'`;
    this.remove = statements.statement(`DELETE FROM {session} WHERE {session.id} IN (:ids...) AND ${ended}`);
    this.reschedule = statements.statement(
      `UPDATE {session} SET {session.checkAt} = ${least(dialect, '{session.idleExpiresAt}', '{session.absoluteExpiresAt}')}
       WHERE {session.id} IN (:ids...) AND {session.state} = 'active'`,
    );
    const isEnding = `(${expiresAt} <= :now OR ${accountStatus} IN ('disabled', 'deleted'))`;
    this.count = statements.statement(
      `SELECT COUNT(CASE WHEN s.{session.state} = 'active' AND ${isEnding} THEN 1 END) AS to_end,
         COUNT(CASE WHEN s.${ended} THEN 1 END) AS to_remove FROM {session} s WHERE ${isDue}`,
    );
  }

  /**
   * Processes at most `limit` due sessions. Takes no user lock, and skips locked sessions instead
   * of waiting for them.
   */
  *prune({ now, client }: OperationContext, limit: number, write: WriteEvents): Step<PrunedSessions> {
    const rows = yield* rowsOf(this.due.with({ now, limit }));
    const ended: EndedSession[] = [];
    const toRemove: string[] = [];
    const toReschedule: string[] = [];
    for (const row of rows) {
      const end = endOf(row, now);
      if (row['state'] !== 'active') toRemove.push(String(row['id']));
      else if (end) ended.push(end);
      else toReschedule.push(String(row['id']));
    }
    const removed = toRemove.length === 0 ? 0 : yield* affectedBy(this.remove.with({ ids: toRemove }));
    if (toReschedule.length > 0) yield* affectedBy(this.reschedule.with({ ids: toReschedule }));
    yield* this.revocation.storeEnded(ended, now);
    yield* write(endEvents(ended, client, now));
    return { visited: rows.length, removed, ended };
  }

  /** Returns a query that counts the due sessions to end, as `to_end`, and to remove, as `to_remove`. */
  countDue(now: number): Query {
    return this.count.with({ now });
  }
}

/** Returns how a due active session ends, or null if it remains active. */
function endOf(row: Row, now: number): EndedSession | null {
  const session = sessionFromRow(row);
  const reason = isExpired(session, now) ? 'expired' : inactiveReason(accountFromRow(row));
  return reason && toEndedSession(session, reason);
}

/** The table of each kind, its key, and the condition for rows that are due. */
const PRUNABLE: Readonly<Record<Prunable, readonly [table: string, key: string, isDue: string]>> = {
  // The ids of events increase with time.
  events: ['event', 'id', '{event.id} < :before'],
  loginTickets: ['ticket', 'digest', '{ticket.expiresAt} <= :before'],
  passwordResets: ['reset', 'digest', '{reset.expiresAt} <= :before'],
  // Keeps rows with slots of attempts that are still being verified.
  loginFailures: ['failure', 'key', '{failure.expiresAt} <= :before AND {failure.pendingUntil} <= :before'],
};

/** Prunes the library's tables in the application's database. */
@Injectable()
export class SqlPruningStore extends PruningStore {
  private readonly sessions: SessionPruner;
  private readonly due: Readonly<Record<Prunable, DueRows>>;
  private readonly trimmer: HistoryTrimmer;
  private readonly sessionTrimmer: EndedSessionTrimmer;

  constructor(
    private readonly database: Database,
    statements: StatementFactory,
    locks: UserLocks,
    private readonly revocation: SessionRevocation,
  ) {
    super();
    this.sessions = new SessionPruner(statements, revocation);
    const rows = (kind: Prunable): DueRows => dueRows(statements, kind);
    this.due = {
      events: rows('events'),
      loginFailures: rows('loginFailures'),
      loginTickets: rows('loginTickets'),
      passwordResets: rows('passwordResets'),
    };
    this.trimmer = new HistoryTrimmer(statements, locks);
    this.sessionTrimmer = new EndedSessionTrimmer(statements, locks);
  }

  pruneSessions(context: OperationContext, limit: number): Promise<PrunedSessions> {
    return this.revocation.run((write) => this.sessions.prune(context, limit, write));
  }

  remove(what: Prunable, before: number, limit: number): Promise<number> {
    return this.database.transaction(() => this.removeRows(what, before, limit));
  }

  async usersOverCap(cap: number, after: string): Promise<UsersOverCap> {
    return usersOverCap((await this.database.autocommit(this.trimmer.countNextUsers(after))).rows, cap);
  }

  trim(userId: string | null, cap: number, limit: number, position: TrimPosition): Promise<TrimmedEvents> {
    return this.database.transaction(() => this.trimmer.trim(userId, cap, limit, position));
  }

  trimSessions(userId: string, cap: number, limit: number): Promise<number> {
    return this.database.transaction(() => this.sessionTrimmer.trim(userId, cap, limit));
  }

  async countSessions(now: number): Promise<{ readonly toEnd: number; readonly toRemove: number }> {
    const [row] = (await this.database.autocommit(this.sessions.countDue(now))).rows;
    return { toEnd: Number(row?.['to_end']), toRemove: Number(row?.['to_remove']) };
  }

  async count(what: Prunable, before: number): Promise<number> {
    const query = this.due[what].count.with({ before: boundOf(what, before) });
    return Number((await this.database.autocommit(query)).rows[0]?.['total']);
  }

  async countOverCap(before: number, { perUser, withoutUser }: HistoryCaps): Promise<number> {
    const [row] = (await this.database.autocommit(this.trimmer.countOverCap(before, perUser))).rows;
    return Number(row?.['over_cap']) + Math.max(0, Number(row?.['without_user']) - withoutUser);
  }

  /** Removes due rows. Skips locked rows instead of waiting for them. */
  private *removeRows(what: Prunable, before: number, limit: number): Step<number> {
    const { find, remove } = this.due[what];
    const bound = boundOf(what, before);
    const keys = (yield* rowsOf(find.with({ before: bound, limit }))).map((row) => row['found']);
    return keys.length === 0 ? 0 : yield* affectedBy(remove.with({ keys, before: bound }));
  }
}

type DueRows = Readonly<Record<'find' | 'remove' | 'count', Statement>>;

function dueRows(statements: StatementFactory, kind: Prunable): DueRows {
  const [table, key, isDue] = PRUNABLE[kind];
  const skipLocked = forUpdateSkipLocked(statements.dialect);
  const rows = `FROM {${table}} WHERE ${isDue}`;
  return {
    find: statements.statement(`SELECT {${table}.${key}} AS found ${rows} LIMIT :limit ${skipLocked}`),
    remove: statements.statement(`DELETE FROM {${table}} WHERE {${table}.${key}} IN (:keys...) AND ${isDue}`),
    count: statements.statement(`SELECT COUNT(*) AS total ${rows}`),
  };
}

function boundOf(what: Prunable, before: number): number {
  return what === 'events' ? firstEventIdAt(before) : before;
}
