import { Inject, Injectable } from '@nestjs/common';
import { Database } from '../database/database';
import { forUpdateSkipLocked, least } from '../database/dialect';
import { type ParameterValues, type Statement, StatementFactory } from '../database/statements';
import { affectedBy, type Query, type Row, rowsOf, type Step } from '../database/transaction';
import { EventLog, firstEventIdAt, type WriteEvents } from '../history/event-log';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from '../options/auth-options';
import { endEvents, EndSessions, inactiveReason, NO_CLIENT } from '../sessions/end-sessions';
import { MAX_IMPERSONATION_SECONDS } from '../sessions/impersonate';
import {
  accountFromRow,
  type EndedSession,
  isExpired,
  sessionFromRow,
  SessionSql,
  toEndedSession,
} from '../sessions/session';

/** The rows that pruning removes because they are too old or have expired. */
const PRUNABLE = ['loginFailures', 'loginTickets', 'passwordResets', 'apiKeys', 'events'] as const;
type Prunable = (typeof PRUNABLE)[number];

export type PruneCounts = Readonly<Record<Prunable | 'endedSessions' | 'sessions', number>>;
type Batches = AsyncGenerator<Partial<PruneCounts>>;

/** The maximum number of rows in a batch, which is one transaction. */
const BATCH_SIZE = 500;

const MAX_EVENTS_READ = 10_000;

/** The maximum number of events kept for unknown names, which anyone can cause. (ASVS 16.4) */
const MAX_EVENTS_WITHOUT_USER = 10_000;

/** The maximum number of ended sessions kept per user. Each login is compared with them to detect a new device. */
const MAX_ENDED_SESSIONS = 1_000;

/** The events that are removed before all others: routine events, and events that outsiders can cause. */
const REMOVED_FIRST = ['token_refresh', 'login_failure', 'login_blocked', 'password_reset_requested'];

/** Ends and removes what is due, in batches, which skip rows that other transactions have locked. */
@Injectable()
export class Prune {
  private readonly sessions;
  private readonly due;
  private readonly history;

  constructor(
    private readonly database: Database,
    statements: StatementFactory,
    sql: SessionSql,
    private readonly events: EventLog,
    private readonly endSessions: EndSessions,
    @Inject(AUTH_OPTIONS) private readonly options: Pick<ResolvedAuthOptions, 'history'>,
  ) {
    const { dialect } = statements;
    const compile = (template: string): Statement => statements.statement(template);
    const skipLocked = forUpdateSkipLocked(dialect);
    const isDue = 's.{session.checkAt} <= :now';
    const isEnding = `(${sql.expiresAt} <= :now OR ${sql.account} IN ('disabled', 'deleted'))`;
    this.sessions = {
      due: sql.select(
        `WHERE ${isDue} ORDER BY s.{session.checkAt} LIMIT ${BATCH_SIZE} ${skipLocked}`,
        sql.columnsWithAccount,
      ),
      remove: compile(`DELETE FROM {session} WHERE {session.id} IN (:ids...) AND {session.state} <> 'active'`),
      reschedule: compile(
        `UPDATE {session} SET {session.checkAt} = ${least(dialect, '{session.idleExpiresAt}', '{session.absoluteExpiresAt}')}
         WHERE {session.id} IN (:ids...) AND {session.state} = 'active'`,
      ),
      countDue: compile(
        `SELECT COUNT(CASE WHEN s.{session.state} = 'active' AND ${isEnding} THEN 1 END) AS to_end,
           COUNT(CASE WHEN s.{session.state} <> 'active' THEN 1 END) AS to_remove FROM {session} s WHERE ${isDue}`,
      ),
      endedOfUser: compile(
        `SELECT {session.id} AS id, {session.createdAt} AS created_at FROM {session} WHERE {session.userId} = :userId
           AND {session.state} IN ('expired', 'logged_out', 'revoked') LIMIT ${MAX_ENDED_SESSIONS + BATCH_SIZE} ${skipLocked}`,
      ),
    };
    const dueRows = (table: string, key: string, condition: string) => ({
      find: compile(`SELECT {${key}} AS found FROM {${table}} WHERE ${condition} LIMIT ${BATCH_SIZE} ${skipLocked}`),
      remove: compile(`DELETE FROM {${table}} WHERE {${key}} IN (:ids...) AND ${condition}`),
      count: compile(`SELECT COUNT(*) AS total FROM {${table}} WHERE ${condition}`),
    });
    this.due = {
      loginFailures: dueRows('failure', 'failure.key', '{failure.expiresAt} <= :before'),
      loginTickets: dueRows('ticket', 'ticket.digest', '{ticket.expiresAt} <= :before'),
      passwordResets: dueRows('reset', 'reset.digest', '{reset.expiresAt} <= :before'),
      apiKeys: dueRows('apiKey', 'apiKey.id', '{apiKey.expiresAt} <= :before'),
      // The ids of events increase with time.
      events: dueRows('event', 'event.id', '{event.id} < :before'),
    };
    const isCounted = `({event.event} <> 'impersonation_started' OR {event.id} < :lastingFrom)`;
    const newestOf = (owner: string): Statement =>
      compile(
        `SELECT {event.id} AS id, {event.event} AS event FROM {event} WHERE ${owner} AND {event.id} < :before
           AND ${isCounted} ORDER BY {event.id} DESC LIMIT ${BATCH_SIZE}`,
      );
    this.history = {
      perUser: compile(
        `SELECT {event.userId} AS user_id, COUNT(*) AS total FROM (SELECT {event.userId} FROM {event}
           WHERE {event.userId} > :after ORDER BY {event.userId} LIMIT ${MAX_EVENTS_READ}) next_events
         GROUP BY {event.userId} ORDER BY {event.userId}`,
      ),
      ofUser: newestOf('{event.userId} = :userId'),
      ofUnknownNames: newestOf('{event.userId} IS NULL'),
      lock: compile(`SELECT {event.id} AS found FROM {event} WHERE {event.id} IN (:keys...) ${skipLocked}`),
      remove: compile('DELETE FROM {event} WHERE {event.id} IN (:ids...)'),
      countExcess: compile(
        `SELECT COALESCE(SUM(total - :cap), 0) AS over_cap,
           (SELECT COUNT(*) FROM {event} WHERE {event.userId} IS NULL AND {event.id} >= :before) AS without_user
         FROM (SELECT COUNT(*) AS total FROM {event} WHERE {event.userId} IS NOT NULL AND {event.id} >= :before
             AND ${isCounted} GROUP BY {event.userId} HAVING COUNT(*) > :cap) counted`,
      ),
    };
  }

  /** Ends and removes everything that is due. Yields the counts after each batch and each longer read. */
  async *run(now: number): Batches {
    for (let visited = BATCH_SIZE; visited === BATCH_SIZE;) {
      const batch = await this.events.revoke(null, (write) => this.pruneSessions(now, write));
      this.endSessions.publish(batch.ended, null);
      visited = batch.visited;
      yield { endedSessions: batch.ended.length, sessions: batch.removed };
    }
    for (const kind of PRUNABLE) yield* fullBatches(kind, () => this.removeDue(kind, now));
    yield* this.removeExcessEvents(null, MAX_EVENTS_WITHOUT_USER, now);
    yield* this.removeExcessOfUsers(now);
  }

  removeDue(kind: Prunable, now: number): Promise<number> {
    const { find, remove } = this.due[kind];
    const before = this.dueBefore(kind, now);
    return this.database.transaction(null, () => removeFound(find.with({ before }), remove, { before }));
  }

  /** Counts what a run would end and remove, without the ended sessions that exceed the maximum of their user. */
  async count(now: number): Promise<PruneCounts> {
    const count = async (query: Query): Promise<Row> => (await this.database.run(null, query)).rows[0] ?? {};
    const sessions = await count(this.sessions.countDue.with({ now }));
    const rows = {} as Record<Prunable, number>;
    for (const kind of PRUNABLE) {
      rows[kind] = Number((await count(this.due[kind].count.with({ before: this.dueBefore(kind, now) })))['total']);
    }
    const before = this.dueBefore('events', now);
    const { maxRowsPerUser: cap } = this.options.history;
    const excess = await count(this.history.countExcess.with({ before, cap, lastingFrom: lastingFrom(now) }));
    rows.events += Number(excess['over_cap']) + Math.max(0, Number(excess['without_user']) - MAX_EVENTS_WITHOUT_USER);
    return { endedSessions: Number(sessions['to_end']), sessions: Number(sessions['to_remove']), ...rows };
  }

  private dueBefore(kind: Prunable, now: number): number {
    return kind === 'events' ? firstEventIdAt(now - this.options.history.retentionDays * 86_400_000) : now;
  }

  /**
   * Processes one batch of the sessions that are due: removes ended sessions, ends those that have expired or whose user
   * is known to be inactive, and reschedules the others, because refreshes and activity do not change `checkAt`.
   */
  private *pruneSessions(now: number, write: WriteEvents) {
    const rows = yield* rowsOf(this.sessions.due.with({ now }));
    const ended: EndedSession[] = [];
    const toRemove: unknown[] = [];
    const toReschedule: unknown[] = [];
    for (const row of rows) {
      const session = sessionFromRow(row);
      const reason = isExpired(session, now) ? 'expired' : inactiveReason(accountFromRow(row));
      if (session.state !== 'active') toRemove.push(session.id);
      else if (reason) ended.push(toEndedSession(session, now, reason));
      else toReschedule.push(session.id);
    }
    const removed = yield* changeAny(this.sessions.remove, toRemove);
    yield* changeAny(this.sessions.reschedule, toReschedule);
    yield* this.endSessions.storeEnded(ended, now);
    yield* write(endEvents(ended, NO_CLIENT, now));
    return { visited: rows.length, ended, removed };
  }

  /** Removes excess events and ended sessions. The number of events reveals both, because each login writes an event. */
  private async *removeExcessOfUsers(now: number): Batches {
    const { maxRowsPerUser } = this.options.history;
    let after: string | undefined = '';
    while (after !== undefined) {
      const { rows } = await this.database.run(null, this.history.perUser.with({ after }));
      const users = rows.map((row) => ({ id: String(row['user_id']), events: Number(row['total']) }));
      const isFull = users.reduce((sum, { events }) => sum + events, 0) === MAX_EVENTS_READ;
      after = isFull ? users.at(-1)?.id : undefined;
      for (const { id, events } of users) {
        // The last user of a full page may have more events than were read.
        const total = id === after ? Infinity : events;
        if (total > maxRowsPerUser) yield* this.removeExcessEvents(id, maxRowsPerUser, now);
        if (total > Math.min(maxRowsPerUser, MAX_ENDED_SESSIONS)) {
          yield* fullBatches('sessions', () => this.database.transaction(null, () => this.removeExcessSessions(id)));
        }
      }
      yield {};
    }
  }

  /**
   * Removes the events of a user, or of unknown names (null), beyond the cap: first those of `REMOVED_FIRST`, kind by
   * kind, then all others, and of each kind the oldest. Reads them from the newest to the oldest, and removes an event
   * as soon as `cap` events that are kept longer have been read, which holds whatever other instances remove. Keeps the
   * beginnings of impersonations that may still last, because `forgetUser` ends those.
   */
  private async *removeExcessEvents(userId: string | null, cap: number, now: number): Batches {
    const { ofUser, ofUnknownNames, lock, remove } = this.history;
    const kept: number[][] = [...REMOVED_FIRST, 'others'].map(() => []);
    let surplus = -cap;
    let before: number | undefined = Number.MAX_SAFE_INTEGER;
    while (before !== undefined) {
      const page = (userId === null ? ofUnknownNames : ofUser).with({ userId, before, lastingFrom: lastingFrom(now) });
      const { rows } = await this.database.run(null, page);
      for (const row of rows) kept.at(REMOVED_FIRST.indexOf(String(row['event'])))!.push(Number(row['id']));
      before = rows.length === BATCH_SIZE ? Number(rows.at(-1)!['id']) : undefined;
      surplus += rows.length;
      const keys: number[] = [];
      for (; surplus > 0; surplus--) keys.push(kept.find((ids) => ids.length > 0)!.pop()!);
      const removeSurplus = (): Step<number> => removeFound(lock.with({ keys }), remove);
      const removed = keys.length === 0 ? 0 : await this.database.transaction(null, removeSurplus);
      yield { events: removed };
    }
  }

  /** Removes one batch of ended sessions, each older than 1,000 that are locked until the commit. */
  private *removeExcessSessions(userId: string): Step<number> {
    const found = yield* rowsOf(this.sessions.endedOfUser.with({ userId }));
    const oldestFirst = [...found].sort((a, b) => Number(a['created_at']) - Number(b['created_at']));
    const ids = oldestFirst.slice(0, Math.max(0, found.length - MAX_ENDED_SESSIONS)).map((row) => row['id']);
    return yield* changeAny(this.sessions.remove, ids);
  }
}

/** Returns the id of the first event that can begin an impersonation which still lasts. */
function lastingFrom(now: number): number {
  return firstEventIdAt(now - MAX_IMPERSONATION_SECONDS * 1000);
}

function* removeFound(find: Query, remove: Statement, values: ParameterValues = {}): Step<number> {
  const ids = (yield* rowsOf(find)).map((row) => row['found']);
  return yield* changeAny(remove, ids, values);
}

function* changeAny(statement: Statement, ids: readonly unknown[], values: ParameterValues = {}): Step<number> {
  return ids.length === 0 ? 0 : yield* affectedBy(statement.with({ ...values, ids }));
}

/** Removes batches until one is not full. */
async function* fullBatches(kind: keyof PruneCounts, remove: () => Promise<number>): Batches {
  for (let removed = BATCH_SIZE; removed === BATCH_SIZE;) {
    removed = await remove();
    yield { [kind]: removed };
  }
}
