import type { DataSource, EntityManager } from 'typeorm';
import { setTimeout as sleep } from 'node:timers/promises';
import { failureCode } from '../base/failures';
import { Database } from './database';
import type { Deadline } from './deadline';
import { BEGIN_NESTED, COMMIT_NESTED, type JoinedTransaction, ROLLBACK_NESTED } from './joined-transaction';
import { bind, driveSync, type Query, type Result, type UnitOfWork } from './transaction';
import { sqliteConnection } from './typeorm';

interface SqliteConnection {
  readonly inTransaction: boolean;
  prepare(sql: string): SqliteStatement;
  exec(sql: string): unknown;
}

interface SqliteStatement {
  readonly reader: boolean;
  all(...params: unknown[]): Result['rows'];
  run(...params: unknown[]): { changes: number };
}

interface ConnectionState {
  readonly connection: SqliteConnection;
  readonly busyTimeout: number;
  readonly prepared: Map<string, SqliteStatement>;
}

/**
 * Runs statements on SQLite, where the application and the library share one connection. Transactions run synchronously,
 * because they would otherwise include, or roll back, all other statements that run meanwhile.
 */
export class SqliteDatabase extends Database {
  readonly dialect = 'sqlite';
  private known: ConnectionState | null = null;

  constructor(private readonly dataSource: DataSource) {
    super();
  }

  protected runTransaction<T>(unit: UnitOfWork<T>, deadline: Deadline): Promise<T> {
    return this.whenFree(deadline, () => this.runUnit(unit, 'BEGIN IMMEDIATE', 'COMMIT', 'ROLLBACK'));
  }

  protected runAutocommit(query: Query, deadline: Deadline): Promise<Result> {
    return this.whenFree(deadline, () => this.execute(query));
  }

  protected runJoined<T>(unit: UnitOfWork<T>, joined: JoinedTransaction, deadline: Deadline): Promise<T> {
    deadline.failIfPassed();
    joined.assertOpen();
    return Promise.resolve(this.runUnit(unit, BEGIN_NESTED.sql, COMMIT_NESTED.sql, ROLLBACK_NESTED.sql));
  }

  protected runWithManager<T>(
    work: (manager: EntityManager) => Promise<T>,
    joined: JoinedTransaction | null,
    deadline: Deadline,
  ): Promise<T> {
    if (joined) return joined.runApplicationCode(() => work(joined.runner.manager));
    return this.whenFree(deadline, () => work(this.dataSource.manager));
  }

  /** Runs a transaction synchronously. On an error, SQLite may have rolled back the transaction already. */
  private runUnit<T>(unit: UnitOfWork<T>, begin: string, commit: string, rollback: string): T {
    const { connection } = this.state;
    try {
      connection.exec(begin);
      const outcome = driveSync(unit(), (query) => this.execute(query));
      connection.exec(commit);
      return outcome;
    } catch (error) {
      if (connection.inTransaction) connection.exec(rollback);
      throw error;
    }
  }

  private execute(query: Query): Result {
    this.dataSource.logger.logQuery(query.sql);
    const { connection, prepared } = this.state;
    const statement = prepared.get(query.sql) ?? connection.prepare(query.sql);
    if (query.isPrepared) prepared.set(query.sql, statement);
    const params = bind(query).map((value) => (typeof value === 'boolean' ? Number(value) : value));
    if (statement.reader) return { rows: statement.all(...params), affected: 0 };
    return { rows: [], affected: statement.run(...params).changes };
  }

  /** The state of the connection, which is another one after the DataSource was closed and opened again. */
  private get state(): ConnectionState {
    const connection = sqliteConnection<SqliteConnection>(this.dataSource);
    if (this.known?.connection !== connection) {
      const [row] = connection.prepare('PRAGMA busy_timeout').all();
      this.known = { connection, busyTimeout: Number(row?.['timeout']), prepared: new Map() };
    }
    return this.known;
  }

  /** Calls `work` when no transaction is open, and again as long as another connection is writing. */
  private async whenFree<T>(deadline: Deadline, work: () => T | Promise<T>): Promise<T> {
    const { connection } = this.state;
    for (;;) {
      deadline.failIfPassed();
      try {
        if (!connection.inTransaction) return await this.withoutWaiting(work);
      } catch (error) {
        if (failureCode(error) !== 'SQLITE_BUSY') throw error;
      }
      await sleep(2);
    }
  }

  /** Makes statements fail immediately if the database is busy. A wait would block the event loop. */
  private withoutWaiting<T>(work: () => T): T {
    const { connection, busyTimeout } = this.state;
    connection.exec('PRAGMA busy_timeout = 0');
    try {
      return work();
    } finally {
      connection.exec(`PRAGMA busy_timeout = ${busyTimeout}`);
    }
  }
}
