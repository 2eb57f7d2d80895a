import { Injectable } from '@nestjs/common';
import type { AuthEventEntry } from '../../domain/auth-event';
import {
  HISTORY_SEARCH_LIMIT,
  type HistoryCriteria,
  type OperationContext,
  type SessionCriteria,
  SessionDirectory,
} from '../../domain/ports/sessions';
import { endingAt, type EndedSession, type SessionRecord } from '../../domain/session';
import { StatementFactory } from '../database/statement-factory';
import { endEvents } from '../../domain/session-events';
import { eventFromRow, sessionFromRow } from '../database/rows';
import type { WriteEvents } from '../events/revocation-runner';
import { SessionRevocation } from './session-revocation';
import { Database } from '../database/database';
import { forUpdate } from '../database/dialect';
import { columns, type Statement } from '../database/statement';
import { rowsOf, type Transaction } from '../database/transaction';

/** The condition of each criterion; a statement has those that are given. */
const CONDITIONS: Readonly<Record<keyof SessionCriteria, string>> = {
  userId: 's.{session.userId} = :userId',
  createdBefore: 's.{session.createdAt} < :createdBefore',
  inactiveSince: 's.{session.lastActivity} < :inactiveSince',
  ipAddress: 's.{session.ipAddress} = :ipAddress',
  deviceType: 's.{session.deviceType} = :deviceType',
  osFamily: 's.{session.osFamily} = :osFamily',
  browserFamily: 's.{session.browserFamily} = :browserFamily',
};

/** The sessions and histories of all users, in the application's database. */
@Injectable()
export class SqlSessionDirectory extends SessionDirectory {
  private readonly historyBefore;
  private readonly eventsBefore;

  constructor(
    private readonly database: Database,
    private readonly statements: StatementFactory,
    private readonly revocation: SessionRevocation,
  ) {
    super();
    const fields = (alias: string): string => columns('event', 'id event ipAddress userAgent extra occurredAt', alias);
    const before = 'FROM {event} WHERE {event.userId} = :userId AND {event.id} < :before ORDER BY {event.id} DESC';
    this.historyBefore = statements.statement(`SELECT ${fields('')} ${before} LIMIT :most`);
    // No index has the names of the events, and a rare one would be looked for in all rows of the user.
    this.eventsBefore = statements.statement(
      `SELECT ${fields('e.')} FROM (SELECT {event.id}, {event.event} ${before} LIMIT ${HISTORY_SEARCH_LIMIT}) newest
         INNER JOIN {event} e ON e.{event.id} = newest.{event.id}
       WHERE newest.{event.event} IN (:events...) ORDER BY newest.{event.id} DESC LIMIT :most`,
    );
  }

  async page(criteria: SessionCriteria, after: string, most: number): Promise<readonly SessionRecord[]> {
    const statement = this.select(criteria, '');
    return (await this.database.autocommit(statement.with({ ...criteria, after, most }))).rows.map(sessionFromRow);
  }

  end(
    criteria: SessionCriteria,
    after: string,
    most: number,
    actor: string,
    at: OperationContext,
  ): Promise<readonly EndedSession[]> {
    return this.revocation.run((write) => this.endBatch(criteria, after, most, actor, at, write));
  }

  async history(userId: string, { before, events, most }: HistoryCriteria): Promise<readonly AuthEventEntry[]> {
    const values = { userId, before: Math.min(before, Number.MAX_SAFE_INTEGER), most };
    const query = events ? this.eventsBefore.with({ ...values, events }) : this.historyBefore.with(values);
    return (await this.database.autocommit(query)).rows.map(eventFromRow);
  }

  /** In the order of ids, without the users' locks, which would be too many: transactions that conflict are run again. */
  private *endBatch(
    criteria: SessionCriteria,
    after: string,
    most: number,
    actor: string,
    { now, client }: OperationContext,
    write: WriteEvents,
  ): Transaction<readonly EndedSession[]> {
    const statement = this.select(criteria, forUpdate(this.statements.dialect));
    const found = (yield* rowsOf(statement.with({ ...criteria, after, most }))).map(sessionFromRow);
    const ended = found.map((session) => endingAt(session, now, 'admin'));
    const isAllOfUser = Object.keys(criteria).length === 1 && criteria.userId !== undefined;
    if (isAllOfUser) yield* this.revocation.storeEndOfAll(criteria.userId, ended, now);
    else yield* this.revocation.storeEnded(ended, now, criteria);
    yield* write(endEvents(ended, client, now, actor));
    return ended;
  }

  private select(criteria: SessionCriteria, lock: string): Statement {
    const given = Object.keys(criteria).map((name) => CONDITIONS[name as keyof SessionCriteria]);
    const conditions = ["s.{session.state} = 'active'", 's.{session.id} > :after', ...given].join(' AND ');
    return this.statements.selectSession(`WHERE ${conditions} ORDER BY s.{session.id} LIMIT :most ${lock}`);
  }
}
