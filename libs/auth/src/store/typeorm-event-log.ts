import type { AuthEventEntry } from '../domain/auth-event';
import { EventLog } from '../domain/ports/event-log';
import type { AuthTables } from './auth-tables';
import { eventFromRow } from './rows';
import type { Database } from './sql/database';

/** The durable log on the host's DataSource. */
export class TypeOrmEventLog extends EventLog {
  private readonly newest;

  constructor(
    private readonly database: Database,
    tables: AuthTables,
  ) {
    super();
    this.newest = tables.statement(
      `SELECT {event.id} AS id, {event.event} AS event, {event.ipAddress} AS ip_address,
         {event.userAgent} AS user_agent, {event.extra} AS extra, {event.occurredAt} AS occurred_at
       FROM {event} WHERE {event.userId} = :userId
       ORDER BY {event.occurredAt} DESC, {event.id} DESC LIMIT :limit`,
    );
  }

  async latest(userId: string, limit: number): Promise<readonly AuthEventEntry[]> {
    return (await this.database.single(this.newest.with({ userId, limit }))).rows.map(eventFromRow);
  }
}
