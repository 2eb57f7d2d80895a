import type { DataSource, EntityManager } from 'typeorm';
import { setTimeout as sleep } from 'node:timers/promises';
import { Database } from './database';
import type { Deadline } from './deadline';
import { failureCode } from './failure';
import { savepoint, type JoinedTransaction } from './joined-transaction';
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

/** How long to leave others alone before looking again whether the database is free. */
const LOOK_AGAIN_MS = 2;

/**
 * SQLite: the host and the library share one connection, so a transaction that waits for anything would take in, or throw
 * away, whatever else runs meanwhile. Here a unit runs from beginning to end without giving up control, and waits first
 * for a transaction of the host's to end, and for other processes that write.
 */
export class SqliteDatabase extends Database {
  readonly dialect = 'sqlite';
  private readonly isFreeToRead = new WeakMap<SqliteConnection, boolean>();
  private readonly prepared = new WeakMap<SqliteConnection, Map<string, SqliteStatement>>();

  constructor(private readonly dataSource: DataSource) {
    super();
  }

  protected runAtomic<T>(unit: () => Unit<T>, deadline: Deadline): Promise<T> {
    return this.whenFree(deadline, (connection) =>
      withoutBlocking(connection, () => {
        try {
          connection.exec('BEGIN IMMEDIATE');
          const outcome = drive(unit(), (query) => execute(connection, query));
          connection.exec('COMMIT');
          return outcome;
        } catch (error) {
          if (connection.inTransaction) connection.exec('ROLLBACK');
          throw error;
        }
      }),
    );
  }

  protected runUnbound<T>(unit: (isUnbound: boolean) => Unit<T>, deadline: Deadline): Promise<T> {
    return this.runAtomic(() => unit(false), deadline);
  }

  protected runJoined<T>(unit: () => Unit<T>, transaction: JoinedTransaction, deadline: Deadline): Promise<T> {
    deadline.assertInTime();
    transaction.assertOpen();
    const { connection } = this;
    try {
      connection.exec(savepoint('SAVEPOINT').sql);
      const outcome = drive(unit(), (query) => execute(connection, query));
      connection.exec(savepoint('RELEASE SAVEPOINT').sql);
      return Promise.resolve(outcome);
    } catch (error) {
      undo(connection);
      throw error;
    }
  }

  protected runSingle(query: Query, deadline: Deadline): Promise<Result> {
    const run = (connection: SqliteConnection): Result => execute(connection, query);
    const mayRead = query.sql.startsWith('SELECT') && this.readersWaitForNobody();
    return this.whenFree(deadline, mayRead ? run : (connection) => withoutBlocking(connection, run));
  }

  protected runPrepared({ sql, params }: Query, deadline: Deadline): Promise<Result> {
    const read = (connection: SqliteConnection): Result => ({
      rows: this.prepare(connection, sql).all(...params),
      affected: 0,
    });
    const isFree = this.readersWaitForNobody();
    return this.whenFree(deadline, isFree ? read : (connection) => withoutBlocking(connection, read));
  }

  protected runWithManager<T>(work: (manager: EntityManager) => Promise<T>, deadline: Deadline): Promise<T> {
    return this.whenFree(deadline, () => work(this.dataSource.manager));
  }

  private prepare(connection: SqliteConnection, sql: string): SqliteStatement {
    let statements = this.prepared.get(connection);
    if (!statements) this.prepared.set(connection, (statements = new Map<string, SqliteStatement>()));
    let statement = statements.get(sql);
    if (!statement) statements.set(sql, (statement = connection.prepare(sql)));
    return statement;
  }

  /** With a WAL they do not; without one they wait for whoever writes. */
  private readersWaitForNobody(): boolean {
    const { connection } = this;
    let isFree = this.isFreeToRead.get(connection);
    if (isFree === undefined) {
      const [row] = connection.prepare('PRAGMA journal_mode').all();
      this.isFreeToRead.set(connection, (isFree = ['wal', 'memory'].includes(String(row?.['journal_mode']))));
    }
    return isFree;
  }

  private get connection(): SqliteConnection {
    return (this.dataSource.driver as unknown as { databaseConnection: SqliteConnection }).databaseConnection;
  }

  /** Between finding the connection free and the end of the work nobody else has a turn. */
  private async whenFree<T>(deadline: Deadline, work: (connection: SqliteConnection) => T | Promise<T>): Promise<T> {
    const { connection } = this;
    for (;;) {
      deadline.assertInTime();
      try {
        if (!connection.inTransaction) return await work(connection);
      } catch (error) {
        if (failureCode(error) !== 'SQLITE_BUSY') throw error;
      }
      await sleep(LOOK_AGAIN_MS);
    }
  }
}

/** SQLite's own wait for another process would stop the whole of this one: here whoever is in the way is told at once. */
function withoutBlocking<T>(connection: SqliteConnection, work: (connection: SqliteConnection) => T): T {
  const [row] = connection.prepare('PRAGMA busy_timeout').all();
  try {
    connection.exec('PRAGMA busy_timeout = 0');
    return work(connection);
  } finally {
    setBusyTimeout(connection, Number(row?.['timeout']));
  }
}

/** What was done is done, whatever becomes of this. */
function setBusyTimeout(connection: SqliteConnection, milliseconds: number): void {
  try {
    connection.exec(`PRAGMA busy_timeout = ${milliseconds}`);
  } catch {
    // Others would be told at once that the database is busy; nothing is lost.
  }
}

/** Where the savepoint could not be made there is none to go back to. */
function undo(connection: SqliteConnection): void {
  try {
    connection.exec(savepoint('ROLLBACK TO SAVEPOINT').sql);
  } catch {
    // The host's transaction is gone, or was never joined: what failed is told to the caller.
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
