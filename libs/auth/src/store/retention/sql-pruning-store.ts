import { Injectable } from '@nestjs/common';
import { type OperationContext } from '../../domain/ports/sessions';
import {
  type HistoryCaps,
  type Prunable,
  type PrunedSessions,
  PruningStore,
  type TrimmedEvents,
  type TrimPosition,
  type UsersOverCap,
} from '../../domain/ports/maintenance';
import { UserLocks } from '../accounts/user-locks';
import { Database } from '../database/database';
import { forUpdateSkipLocked } from '../database/dialect';
import type { Statement } from '../database/statement';
import { StatementFactory } from '../database/statement-factory';
import { affectedBy, rowsOf, type Step } from '../database/transaction';
import { firstEventIdAt } from '../events/event-ids';
import { SessionRevocation } from '../sessions/session-revocation';
import { EndedSessionTrimmer } from './ended-session-trimmer';
import { HistoryTrimmer, usersOverCap } from './history-trimmer';
import { SessionPruner } from './session-pruner';

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
