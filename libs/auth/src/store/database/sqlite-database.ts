import type { DataSource, EntityManager } from 'typeorm';
import { setTimeout as sleep } from 'node:timers/promises';
import { Database } from './database';
import type { Deadline } from './deadline';
import { failureCode } from './failure';
import { savepoint, type JoinedTransaction } from './joined-transaction';
import { driveSync, paramsInTransaction, RolledBack, type Query, type Result, type UnitOfWork } from './transaction';

/** The parts of better-sqlite3 that are used, or of what the DataSource's `driver` option puts in its place: `NodeSqlite`. */
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

/** What is read once of a connection, and the statements that are prepared on it. */
interface KnownConnection {
  /** The statement that restores the application's setting: it is part of how connections are opened. */
  readonly restoreBusyTimeout: string;
  /** With a write-ahead log readers wait for nobody. Without one they wait for whoever writes. */
  readonly readsNeverBlock: boolean;
  readonly prepared: Map<string, SqliteStatement>;
}

/** How long to leave the connection to others before checking again whether it is free. */
const CHECK_AGAIN_MS = 2;

/** SQLite's own wait for another process would stop the whole of this one, so a busy database fails at once instead. */
const NO_BLOCKING = 'PRAGMA busy_timeout = 0';

/**
 * SQLite: the application and the library share one connection, so a transaction that waits for anything would include, or
 * roll back, whatever else runs meanwhile. Here a transaction runs from beginning to end without giving up control. It
 * first waits for a transaction of the application to end, and for other processes that write.
 */
export class SqliteDatabase extends Database {
  readonly dialect = 'sqlite';
  private readonly known = new WeakMap<SqliteConnection, KnownConnection>();

  constructor(private readonly dataSource: DataSource) {
    super();
  }

  protected runTransaction<T>(unit: UnitOfWork<T>, deadline: Deadline): Promise<T> {
    return this.whenFree(deadline, (connection) => {
      const { restoreBusyTimeout } = this.knownOf(connection);
      try {
        connection.exec(`${NO_BLOCKING}; BEGIN IMMEDIATE`);
        const outcome = driveSync(unit(), (query) => this.execute(connection, query));
        const isRolledBack = outcome instanceof RolledBack;
        connection.exec(`${isRolledBack ? 'ROLLBACK' : 'COMMIT'}; ${restoreBusyTimeout}`);
        return isRolledBack ? outcome.outcome : outcome;
      } catch (error) {
        if (connection.inTransaction) connection.exec('ROLLBACK');
        tryTo(connection, restoreBusyTimeout);
        throw error;
      }
    });
  }

  /** It has no standby: nothing needs to be judged. */
  protected runAutocommit(query: Query, deadline: Deadline): Promise<Result> {
    return this.whenFree(deadline, (connection) => {
      const { readsNeverBlock, restoreBusyTimeout } = this.knownOf(connection);
      if (readsNeverBlock && query.sql.startsWith('SELECT')) return this.execute(connection, query);
      try {
        connection.exec(NO_BLOCKING);
        return this.execute(connection, query);
      } finally {
        tryTo(connection, restoreBusyTimeout);
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
      // Where that is impossible the application's transaction is gone, or was never joined: this error led there.
      tryTo(connection, savepoint('ROLLBACK TO SAVEPOINT').sql);
      throw error;
    }
  }

  protected runWithManager<T>(work: (manager: EntityManager) => Promise<T>, deadline: Deadline): Promise<T> {
    return this.whenFree(deadline, () => work(this.dataSource.manager));
  }

  serverWarnings(): Promise<readonly string[]> {
    return Promise.resolve([]);
  }

  protected replaceAfter(): Promise<void> {
    return Promise.resolve();
  }

  private knownOf(connection: SqliteConnection): KnownConnection {
    let known = this.known.get(connection);
    if (!known) {
      const valueOf = (pragma: string): unknown =>
        Object.values(connection.prepare(`PRAGMA ${pragma}`).all()[0] ?? {})[0];
      known = {
        restoreBusyTimeout: `PRAGMA busy_timeout = ${Number(valueOf('busy_timeout'))}`,
        readsNeverBlock: ['wal', 'memory'].includes(String(valueOf('journal_mode'))),
        prepared: new Map(),
      };
      this.known.set(connection, known);
    }
    return known;
  }

  private execute(connection: SqliteConnection, query: Query): Result {
    const statement = query.isPrepared ? this.prepareOnce(connection, query.sql) : connection.prepare(query.sql);
    const params = paramsInTransaction(query).map((value) => (typeof value === 'boolean' ? Number(value) : value));
    if (statement.reader) return { rows: statement.all(...params), affected: 0 };
    return { rows: [], affected: statement.run(...params).changes };
  }

  private prepareOnce(connection: SqliteConnection, sql: string): SqliteStatement {
    const { prepared } = this.knownOf(connection);
    let statement = prepared.get(sql);
    if (!statement) prepared.set(sql, (statement = connection.prepare(sql)));
    return statement;
  }

  private get connection(): SqliteConnection {
    return (this.dataSource.driver as unknown as { databaseConnection: SqliteConnection }).databaseConnection;
  }

  /** Nothing else runs between finding the connection free and the end of the work. */
  private async whenFree<T>(deadline: Deadline, work: (connection: SqliteConnection) => T | Promise<T>): Promise<T> {
    const { connection } = this;
    for (;;) {
      deadline.failIfPassed();
      try {
        if (!connection.inTransaction) return await work(connection);
      } catch (error) {
        if (failureCode(error) !== 'SQLITE_BUSY') throw error;
      }
      await sleep(CHECK_AGAIN_MS);
    }
  }
}

/** What was done is done, whether this succeeds or not. A busy timeout that stays 0 makes others fail early, no more. */
function tryTo(connection: SqliteConnection, sql: string): void {
  try {
    connection.exec(sql);
  } catch {
    // Nothing is lost.
  }
}
