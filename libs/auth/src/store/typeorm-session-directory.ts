import type { AuthEventEntry } from '../domain/auth-event';
import { SessionDirectory, type HistoryPosition, type SessionCriteria } from '../domain/ports/session-directory';
import type { Circumstances } from '../domain/ports/session-store';
import { ending, isOver, type EndedSession, type SessionRecord } from '../domain/session';
import type { AuthTables } from './auth-tables';
import { endEvents, type EventWriter } from './event-writer';
import { eventFromRow, sessionFromRow } from './rows';
import type { SessionEnder, WriteEvents } from './session-ender';
import type { Database } from './sql/database';
import { forUpdate } from './sql/dialect';
import type { Statement } from './sql/statement';
import { rowsOf, type Unit } from './sql/unit';

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

/** The sessions and histories of all users, on the host's DataSource. */
export class TypeOrmSessionDirectory extends SessionDirectory {
  private readonly newest;
  private readonly older;

  constructor(
    private readonly database: Database,
    private readonly tables: AuthTables,
    private readonly ender: SessionEnder,
    private readonly events: EventWriter,
  ) {
    super();
    const select = (condition: string): Statement =>
      tables.statement(
        `SELECT {event.id} AS id, {event.event} AS event, {event.ipAddress} AS ip_address,
           {event.userAgent} AS user_agent, {event.extra} AS extra, {event.occurredAt} AS occurred_at
         FROM {event} WHERE {event.userId} = :userId ${condition}
         ORDER BY {event.occurredAt} DESC, {event.id} DESC LIMIT :most`,
      );
    this.newest = select('');
    this.older = select('AND ({event.occurredAt} < :at OR ({event.occurredAt} = :at AND {event.id} < :id))');
  }

  async page(criteria: SessionCriteria, after: string, most: number): Promise<readonly SessionRecord[]> {
    const statement = this.select(criteria, 's.{session.id} > :after', '');
    return (await this.database.single(statement.with({ ...criteria, after, most }))).rows.map(sessionFromRow);
  }

  end(criteria: SessionCriteria, most: number, actor: string, at: Circumstances): Promise<readonly EndedSession[]> {
    return this.events.revoke((write) => this.endBatch(criteria, most, actor, at, write));
  }

  async history(userId: string, before: HistoryPosition | null, most: number): Promise<readonly AuthEventEntry[]> {
    const query = before ? this.older.with({ userId, ...before, most }) : this.newest.with({ userId, most });
    return (await this.database.single(query)).rows.map(eventFromRow);
  }

  /** In the order of ids, without the users' locks, which would be too many: who gets in whose way is tried again. */
  private *endBatch(
    criteria: SessionCriteria,
    most: number,
    actor: string,
    { now, limits, client }: Circumstances,
    write: WriteEvents,
  ): Unit<readonly EndedSession[]> {
    const statement = this.select(criteria, '1 = 1', forUpdate(this.tables.dialect));
    const found = (yield* rowsOf(statement.with({ ...criteria, most }))).map(sessionFromRow);
    const ended = found.map((session) => ending(session, isOver(session, limits, now) ? 'expired' : 'admin'));
    yield* this.ender.mark(ended, now);
    yield* write(endEvents(ended, client, now, actor));
    return ended;
  }

  private select(criteria: SessionCriteria, condition: string, lock: string): Statement {
    const given = Object.keys(criteria).map((name) => CONDITIONS[name as keyof SessionCriteria]);
    const conditions = ["s.{session.state} = 'active'", condition, ...given].join(' AND ');
    return this.tables.selectSession(`WHERE ${conditions} ORDER BY s.{session.id} LIMIT :most ${lock}`);
  }
}
