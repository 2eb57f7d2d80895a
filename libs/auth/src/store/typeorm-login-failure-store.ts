import { LoginFailureStore, type LoginFailure } from '../domain/ports/session-store';
import type { AuthTables } from './auth-tables';
import type { EventWriter } from './event-writer';
import type { Database } from './sql/database';
import { onDuplicate } from './sql/dialect';
import { affectedBy, firstOf, type Unit } from './sql/unit';

/** The count of failed logins on the host's DataSource, shared by all instances. */
export class TypeOrmLoginFailureStore extends LoginFailureStore {
  private readonly count;
  private readonly read;

  constructor(
    private readonly database: Database,
    tables: AuthTables,
    private readonly events: EventWriter,
  ) {
    super();
    // PostgreSQL needs to be told whose count is meant; MySQL and SQLite take the table's own name as well.
    const stored = (column: string): string => `{failure}.{failure.${column}}`;
    this.count = tables.statement(
      `INSERT INTO {failure} ({failure.key}, {failure.failureCount}, {failure.expiresAt})
       VALUES (:key, 1, :expiresAt)
       ${onDuplicate(
         tables.dialect,
         '{failure.key}',
         `{failure.failureCount} = CASE WHEN ${stored('expiresAt')} <= :now THEN 1
            ELSE ${stored('failureCount')} + 1 END, {failure.expiresAt} = :expiresAt`,
       )}`,
    );
    this.read = tables.statement('SELECT {failure.failureCount} AS failures FROM {failure} WHERE {failure.key} = :key');
  }

  record(failure: LoginFailure): Promise<number> {
    return this.database.atomic(() => this.recordOne(failure));
  }

  /** The upsert locks the row until the unit ends, so the count that is read is the one that this failure made. */
  private *recordOne({ key, now, windowMs, event }: LoginFailure): Unit<number> {
    yield* affectedBy(this.count.with({ key, now, expiresAt: now + windowMs }));
    const row = yield* firstOf(this.read.with({ key }));
    const failureCount = Number(row?.['failures']);
    yield* this.events.write([event(failureCount)]);
    return failureCount;
  }
}
