import type { DataSource, EntityManager } from 'typeorm';
import { setTimeout as sleep } from 'node:timers/promises';
import { Database } from './database';
import type { Deadline } from './deadline';
import { failureCode } from './failure';
import { type JoinedTransaction, savepoint } from './joined-transaction';
import { bind, driveSync, type Query, type Result, RolledBack, type UnitOfWork } from './transaction';
import { sqliteConnection } from './typeorm';

/**
 * The part of better-sqlite3 that the library uses. The `driver` option of the DataSource can replace
 * better-sqlite3, for example with `NodeSqlite`.
 */
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

/** The settings of a connection, which are read once, and its prepared statements. */
interface ConnectionState {
  /** The statement that restores the busy timeout that the connection had when the library first used it. */
  readonly restoreBusyTimeout: string;
  /** Whether reads never wait for a writer, as with a write-ahead log or an in-memory database. */
  readonly readsNeverBlock: boolean;
  readonly prepared: Map<string, SqliteStatement>;
}

/** The interval at which a busy connection is checked again. */
const POLL_INTERVAL_MS = 2;

/** Makes statements fail immediately if the database is busy. SQLite's own wait would block the event loop. */
const NO_BLOCKING = 'PRAGMA busy_timeout = 0';

/**
 * Runs statements on SQLite, where the application and the library share one connection. A transaction that
 * awaited anything would include, or roll back, all other statements that run meanwhile. Transactions
 * therefore run synchronously: in a savepoint of the application's transaction that they join, or from BEGIN
 * to COMMIT, once no transaction of the application is open and no other connection is writing.
 */
export class SqliteDatabase extends Database {
  readonly dialect = 'sqlite';
  private readonly connectionStates = new WeakMap<SqliteConnection, ConnectionState>();

  constructor(private readonly dataSource: DataSource) {
    super();
  }

  protected runTransaction<T>(unit: UnitOfWork<T>, deadline: Deadline): Promise<T> {
    return this.whenFree(deadline, (connection) => {
      const { restoreBusyTimeout } = this.connectionState(connection);
      try {
        connection.exec(`${NO_BLOCKING}; BEGIN IMMEDIATE`);
        const outcome = driveSync(unit(), (query) => this.execute(connection, query));
        const isRolledBack = outcome instanceof RolledBack;
        connection.exec(`${isRolledBack ? 'ROLLBACK' : 'COMMIT'}; ${restoreBusyTimeout}`);
        return isRolledBack ? outcome.outcome : outcome;
      } catch (error) {
        if (connection.inTransaction) connection.exec('ROLLBACK');
        execQuietly(connection, restoreBusyTimeout);
        throw error;
      }
    });
  }

  protected runAutocommit(query: Query, deadline: Deadline): Promise<Result> {
    return this.whenFree(deadline, (connection) => {
      const { readsNeverBlock, restoreBusyTimeout } = this.connectionState(connection);
      if (readsNeverBlock && query.sql.startsWith('SELECT')) return this.execute(connection, query);
      try {
        connection.exec(NO_BLOCKING);
        return this.execute(connection, query);
      } finally {
        execQuietly(connection, restoreBusyTimeout);
      }
    });
  }

  protected runJoined<T>(unit: UnitOfWork<T>, joined: JoinedTransaction, deadline: Deadline): Promise<T> {
    deadline.failIfPassed();
    joined.assertOpen();
    const { connection } = this;
    try {
      connection.exec(savepoint('SAVEPOINT').sql);
      const outcome = driveSync(unit(), (query) => this.execute(connection, query));
      const isRolledBack = outcome instanceof RolledBack;
      connection.exec(savepoint(isRolledBack ? 'ROLLBACK TO SAVEPOINT' : 'RELEASE SAVEPOINT').sql);
      return Promise.resolve(isRolledBack ? outcome.outcome : outcome);
    } catch (error) {
      // The savepoint does not exist if SAVEPOINT failed or the transaction was rolled back. The
      // original error is rethrown.
      execQuietly(connection, savepoint('ROLLBACK TO SAVEPOINT').sql);
      throw error;
    }
  }

  protected runWithManager<T>(work: (manager: EntityManager) => Promise<T>, deadline: Deadline): Promise<T> {
    return this.whenFree(deadline, () => work(this.dataSource.manager));
  }

  protected assertWritable(): Promise<void> {
    return Promise.resolve();
  }

  serverWarnings(): Promise<readonly string[]> {
    return Promise.resolve([]);
  }

  private connectionState(connection: SqliteConnection): ConnectionState {
    let state = this.connectionStates.get(connection);
    if (!state) {
      const valuesOf = (pragma: string): unknown[] =>
        Object.values(connection.prepare(`PRAGMA ${pragma}`).all()[0] ?? {});
      const [, , file] = valuesOf('database_list');
      state = {
        restoreBusyTimeout: `PRAGMA busy_timeout = ${Number(valuesOf('busy_timeout')[0])}`,
        readsNeverBlock: file === '' || valuesOf('journal_mode')[0] === 'wal',
        prepared: new Map(),
      };
      this.connectionStates.set(connection, state);
    }
    return state;
  }

  private execute(connection: SqliteConnection, query: Query): Result {
    this.dataSource.logger.logQuery(query.sql);
    const statement = query.isPrepared ? this.prepareOnce(connection, query.sql) : connection.prepare(query.sql);
    const params = bind(query).map((value) => (typeof value === 'boolean' ? Number(value) : value));
    if (statement.reader) return { rows: statement.all(...params), affected: 0 };
    return { rows: [], affected: statement.run(...params).changes };
  }

  private prepareOnce(connection: SqliteConnection, sql: string): SqliteStatement {
    const { prepared } = this.connectionState(connection);
    let statement = prepared.get(sql);
    if (!statement) prepared.set(sql, (statement = connection.prepare(sql)));
    return statement;
  }

  private get connection(): SqliteConnection {
    return sqliteConnection(this.dataSource);
  }

  /**
   * Waits until the connection is free, and then calls `work` synchronously, so that no other statement runs
   * in between. Calls `work` again as long as the database is busy.
   */
  private async whenFree<T>(deadline: Deadline, work: (connection: SqliteConnection) => T | Promise<T>): Promise<T> {
    const { connection } = this;
    for (;;) {
      deadline.failIfPassed();
      try {
        if (!connection.inTransaction) return await work(connection);
      } catch (error) {
        if (failureCode(error) !== 'SQLITE_BUSY') throw error;
      }
      await sleep(POLL_INTERVAL_MS);
    }
  }
}

/**
 * Runs a statement and ignores its failure. If the busy timeout stays 0 because of the failure, statements of
 * the application fail immediately on a busy database, instead of waiting.
 */
function execQuietly(connection: SqliteConnection, sql: string): void {
  try {
    connection.exec(sql);
  } catch {
    // The failure must not hide the result or the error of the caller.
  }
}
