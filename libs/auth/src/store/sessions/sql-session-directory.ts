import { Injectable } from '@nestjs/common';
import type { AuthEventEntry } from '../../domain/auth-event';
import {
  HISTORY_SEARCH_LIMIT,
  type HistoryCriteria,
  type OperationContext,
  type SessionCriteria,
  SessionDirectory,
} from '../../domain/ports/sessions';
import { toEndedSessionAt, type EndedSession, type SessionRecord } from '../../domain/session';
import { UserLocks } from '../accounts/user-locks';
import { StatementFactory } from '../database/statement-factory';
import { endEvents } from '../../domain/session-events';
import { eventFromRow, sessionFromRow } from '../database/rows';
import type { WriteEvents } from '../events/revocation-runner';
import { SessionRevocation } from './session-revocation';
import { Database } from '../database/database';
import { forUpdate } from '../database/dialect';
import { columns, type Statement } from '../database/statement';
import { rowsOf, type Transaction } from '../database/transaction';

/** The condition of each criterion. A statement contains the conditions of the given criteria. */
const CONDITIONS: Readonly<Record<keyof SessionCriteria, string>> = {
  userId: 's.{session.userId} = :userId',
  createdBefore: 's.{session.createdAt} < :createdBefore',
  inactiveSince: 's.{session.lastActivity} < :inactiveSince',
  ipAddress: 's.{session.ipAddress} = :ipAddress',
  deviceType: 's.{session.deviceType} = :deviceType',
  osFamily: 's.{session.osFamily} = :osFamily',
  browserFamily: 's.{session.browserFamily} = :browserFamily',
};

/** Reads and ends sessions, and reads histories, in the application's database. */
@Injectable()
export class SqlSessionDirectory extends SessionDirectory {
  private readonly historyBefore;
  private readonly eventsBefore;

  constructor(
    private readonly database: Database,
    private readonly statements: StatementFactory,
    private readonly revocation: SessionRevocation,
    private readonly locks: UserLocks,
  ) {
    super();
    const fields = (alias: string): string => columns('event', 'id event ipAddress userAgent extra occurredAt', alias);
    const before = 'FROM {event} WHERE {event.userId} = :userId AND {event.id} < :before ORDER BY {event.id} DESC';
    this.historyBefore = statements.statement(`SELECT ${fields('')} ${before} LIMIT :limit`);
    // The names of events have no index. Without the limit of the subquery, the statement could
    // read all events of the user to find a rare event.
    this.eventsBefore = statements.statement(
      `SELECT ${fields('e.')} FROM (SELECT {event.id}, {event.event} ${before} LIMIT ${HISTORY_SEARCH_LIMIT}) newest
         INNER JOIN {event} e ON e.{event.id} = newest.{event.id}
       WHERE newest.{event.event} IN (:events...) ORDER BY newest.{event.id} DESC LIMIT :limit`,
    );
  }

  async page(criteria: SessionCriteria, after: string, limit: number): Promise<readonly SessionRecord[]> {
    const statement = this.select(criteria, '');
    return (await this.database.autocommit(statement.with({ ...criteria, after, limit }))).rows.map(sessionFromRow);
  }

  async end(
    criteria: SessionCriteria,
    after: string,
    limit: number,
    actor: string,
    context: OperationContext,
  ): Promise<readonly EndedSession[]> {
    const isFirstOfEveryone = Object.keys(criteria).length === 0 && after === '';
    // Not part of a batch, because a login can lock sessions before it locks its ticket.
    if (isFirstOfEveryone) await this.database.autocommit(this.locks.revocationOfAllLoginTickets());
    return this.revocation.run((write) => this.endBatch(criteria, after, limit, actor, context, write));
  }

  async history(userId: string, { before, events, limit }: HistoryCriteria): Promise<readonly AuthEventEntry[]> {
    const values = { userId, before: Math.min(before, Number.MAX_SAFE_INTEGER), limit };
    const query = events ? this.eventsBefore.with({ ...values, events }) : this.historyBefore.with(values);
    return (await this.database.autocommit(query)).rows.map(eventFromRow);
  }

  /**
   * Ends a batch of sessions. Locks them in the order of their ids. Locks the row of the user's
   * lock only if the criteria select all sessions of one user, because a batch can affect many
   * users. Outside the application's transaction, batches that conflict are run again.
   */
  private *endBatch(
    criteria: SessionCriteria,
    after: string,
    limit: number,
    actor: string,
    { now, client }: OperationContext,
    write: WriteEvents,
  ): Transaction<readonly EndedSession[]> {
    const isAllOfUser = Object.keys(criteria).length === 1 && criteria.userId !== undefined;
    // A login locks the same row before it opens a session. The session therefore opens either before
    // the sessions are read here, or after this batch.
    if (isAllOfUser) yield* this.locks.revokeLogins(criteria.userId);
    const statement = this.select(criteria, forUpdate(this.statements.dialect));
    const found = (yield* rowsOf(statement.with({ ...criteria, after, limit }))).map(sessionFromRow);
    const ended = found.map((session) => toEndedSessionAt(session, now, 'admin'));
    yield* this.revocation.storeEnded(ended, now, criteria);
    yield* write(endEvents(ended, client, now, actor));
    return ended;
  }

  private select(criteria: SessionCriteria, lock: string): Statement {
    const given = Object.keys(criteria).map((name) => CONDITIONS[name as keyof SessionCriteria]);
    const conditions = ["s.{session.state} = 'active'", 's.{session.id} > :after', ...given].join(' AND ');
    return this.statements.selectSession(`WHERE ${conditions} ORDER BY s.{session.id} LIMIT :limit ${lock}`);
  }
}
