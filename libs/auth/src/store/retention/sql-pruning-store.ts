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

/** The table of each kind, its key, and which rows are too old. */
const PRUNABLE: Readonly<Record<Prunable, readonly [table: string, key: string, tooOld: string]>> = {
  // Ids of events rise with time.
  events: ['event', 'id', '{event.id} < :before'],
  loginTickets: ['ticket', 'digest', '{ticket.expiresAt} <= :before'],
  passwordResets: ['reset', 'digest', '{reset.expiresAt} <= :before'],
  // An attempt that is being verified has not failed yet.
  loginFailures: ['failure', 'key', '{failure.expiresAt} <= :before AND {failure.pendingUntil} <= :before'],
};

/** Pruning in the application's database. */
@Injectable()
export class SqlPruningStore extends PruningStore {
  private readonly sessions: SessionPruner;
  private readonly tooOld: Readonly<Record<Prunable, TooOldRows>>;
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
    const rows = (kind: Prunable): TooOldRows => tooOldRows(statements, kind);
    this.tooOld = {
      events: rows('events'),
      loginFailures: rows('loginFailures'),
      loginTickets: rows('loginTickets'),
      passwordResets: rows('passwordResets'),
    };
    this.trimmer = new HistoryTrimmer(statements, locks);
    this.sessionTrimmer = new EndedSessionTrimmer(statements, locks);
  }

  pruneSessions(context: OperationContext, most: number): Promise<PrunedSessions> {
    return this.revocation.run((write) => this.sessions.prune(context, most, write));
  }

  remove(what: Prunable, before: number, most: number): Promise<number> {
    return this.database.transaction(() => this.removeRows(what, before, most));
  }

  async usersOverCap(cap: number, after: string): Promise<UsersOverCap> {
    return usersOverCap((await this.database.autocommit(this.trimmer.countingNext(after))).rows, cap);
  }

  trim(userId: string | null, cap: number, most: number, position: TrimPosition): Promise<TrimmedEvents> {
    return this.database.transaction(() => this.trimmer.trim(userId, cap, most, position));
  }

  trimSessions(userId: string, cap: number, most: number): Promise<number> {
    return this.database.transaction(() => this.sessionTrimmer.trim(userId, cap, most));
  }

  async countSessions(now: number): Promise<{ readonly toEnd: number; readonly toRemove: number }> {
    const [row] = (await this.database.autocommit(this.sessions.counting(now))).rows;
    return { toEnd: Number(row?.['to_end']), toRemove: Number(row?.['to_remove']) };
  }

  async count(what: Prunable, before: number): Promise<number> {
    const query = this.tooOld[what].count.with({ before: boundOf(what, before) });
    return Number((await this.database.autocommit(query)).rows[0]?.['total']);
  }

  async countOverCap(before: number, { perUser, withoutUser }: HistoryCaps): Promise<number> {
    const [row] = (await this.database.autocommit(this.trimmer.counting(before, perUser))).rows;
    return Number(row?.['over_cap']) + Math.max(0, Number(row?.['without_user']) - withoutUser);
  }

  /** Skips rows that others have locked, to wait for none. */
  private *removeRows(what: Prunable, before: number, most: number): Step<number> {
    const { find, remove } = this.tooOld[what];
    const bound = boundOf(what, before);
    const keys = (yield* rowsOf(find.with({ before: bound, most }))).map((row) => row['found']);
    return keys.length === 0 ? 0 : yield* affectedBy(remove.with({ keys, before: bound }));
  }
}

type TooOldRows = Readonly<Record<'find' | 'remove' | 'count', Statement>>;

function tooOldRows(statements: StatementFactory, kind: Prunable): TooOldRows {
  const [table, key, tooOld] = PRUNABLE[kind];
  const skipLocked = forUpdateSkipLocked(statements.dialect);
  const rows = `FROM {${table}} WHERE ${tooOld}`;
  return {
    find: statements.statement(`SELECT {${table}.${key}} AS found ${rows} LIMIT :most ${skipLocked}`),
    remove: statements.statement(`DELETE FROM {${table}} WHERE {${table}.${key}} IN (:keys...) AND ${tooOld}`),
    count: statements.statement(`SELECT COUNT(*) AS total ${rows}`),
  };
}

function boundOf(what: Prunable, before: number): number {
  return what === 'events' ? firstEventIdAt(before) : before;
}
