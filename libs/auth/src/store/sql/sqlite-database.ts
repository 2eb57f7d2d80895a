import type { DataSource } from 'typeorm';
import { setTimeout as sleep } from 'node:timers/promises';
import { assertInTime, Database } from './database';
import type { Query, Result, Row, Unit } from './unit';

/** What is used of better-sqlite3, or of whatever the DataSource's `driver` option puts in its place. */
interface SqliteConnection {
  readonly inTransaction: boolean;
  prepare(sql: string): SqliteStatement;
  exec(sql: string): unknown;
}

interface SqliteStatement {
  readonly reader: boolean;
  all(...params: unknown[]): Row[];
  run(...params: unknown[]): { changes: number };
}

/**
 * SQLite: the host and the library share one connection, so a transaction that waits for anything would take in, or throw
 * away, whatever else runs meanwhile. Here a unit runs from beginning to end without giving up control, and waits first
 * for a transaction of the host's to end.
 */
export class SqliteDatabase extends Database {
  readonly dialect = 'sqlite';

  constructor(private readonly dataSource: DataSource) {
    super();
  }

  protected async runAtomic<T>(unit: () => Unit<T>, deadline: AbortSignal): Promise<T> {
    const connection = await this.connectionOutsideTransactions(deadline);
    try {
      connection.exec('BEGIN IMMEDIATE');
      const outcome = drive(unit(), (query) => execute(connection, query));
      connection.exec('COMMIT');
      return outcome;
    } catch (error) {
      if (connection.inTransaction) connection.exec('ROLLBACK');
      throw error;
    }
  }

  protected async runSingle(query: Query, deadline: AbortSignal): Promise<Result> {
    return execute(await this.connectionOutsideTransactions(deadline), query);
  }

  private async connectionOutsideTransactions(deadline: AbortSignal): Promise<SqliteConnection> {
    const { databaseConnection } = this.dataSource.driver as unknown as { databaseConnection: SqliteConnection };
    while (databaseConnection.inTransaction) {
      await sleep(1);
      assertInTime(deadline);
    }
    return databaseConnection;
  }
}

function execute(connection: SqliteConnection, query: Query): Result {
  const statement = connection.prepare(query.sql);
  const params = query.params.map((value) => (typeof value === 'boolean' ? Number(value) : value));
  if (statement.reader) return { rows: statement.all(...params), affected: 0 };
  return { rows: [], affected: statement.run(...params).changes };
}

function drive<T>(unit: Unit<T>, run: (query: Query) => Result): T {
  let step = unit.next();
  while (!step.done) {
    let result: Result;
    try {
      result = run(step.value);
    } catch (error) {
      step = unit.throw(error);
      continue;
    }
    step = unit.next(result);
  }
  return step.value;
}
