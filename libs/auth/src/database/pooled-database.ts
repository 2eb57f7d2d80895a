import type { DataSource, EntityManager } from 'typeorm';
import { Connections, MYSQL_MODE, type Send } from './connections';
import { type AutocommitOptions, Database } from './database';
import { Deadline } from './deadline';
import type { Dialect } from './dialect';
import { CommitError, isNotWritable } from './failure';
import { BEGIN_NESTED, COMMIT_NESTED, type JoinedTransaction, ROLLBACK_NESTED } from './joined-transaction';
import { assertWritable, ROLE_COLUMNS, serverWarnings } from './server-checks';
import { drive, type Query, type Result, type Row, type UnitOfWork } from './transaction';
import { close, type DriverConnection, tearDown } from './typeorm';

/** READ COMMITTED suffices, because decisions are made by conditional statements or while locks are held. */
const POSTGRES_BEGIN = 'BEGIN ISOLATION LEVEL READ COMMITTED';

/** The share of the remaining time that a statement receives. The rest is for the network. */
const STATEMENT_SHARE = 0.9;

const SHARED =
  "The library shares the connections of the DataSource, because the database has only one session. The application's " +
  'transactions can include, or roll back, statements of the library. Use a database server in production.';

/** Runs statements on PostgreSQL, MySQL and MariaDB. */
export class PooledDatabase extends Database {
  readonly connections: Connections;

  constructor(
    private readonly dataSource: DataSource,
    readonly dialect: Dialect,
    { connections = 5, namedStatements = true } = {},
  ) {
    super();
    this.connections = new Connections(dataSource, dialect, connections, namedStatements);
  }

  protected runTransaction<T>(unit: UnitOfWork<T>, deadline: Deadline): Promise<T> {
    return this.connections.use(deadline, async (sendNow, discard) => {
      const send = async (query: Query): Promise<Result> => {
        deadline.failIfPassed();
        return sendNow(query);
      };
      try {
        await send({ sql: this.dialect === 'postgres' ? POSTGRES_BEGIN : 'START TRANSACTION' });
        const outcome = await drive(unit(), send);
        deadline.failIfPassed();
        await deadline
          .commit(() => sendNow({ sql: 'COMMIT' }))
          .catch((error: unknown) => {
            throw new CommitError(error);
          });
        return outcome;
      } catch (error) {
        // A connection with an open transaction must not return to the pool. BEGIN may have failed after it took effect.
        await sendNow({ sql: 'ROLLBACK' }).catch(discard);
        throw error;
      }
    });
  }

  protected runAutocommit(query: Query, deadline: Deadline, options: AutocommitOptions): Promise<Result> {
    const work = async (send: Send): Promise<Result> => {
      // The limit is computed when the statement is sent, because the wait for a connection can be long.
      const limitMs = Math.floor(deadline.remainingMs * STATEMENT_SHARE);
      const result = await deadline.commit(() => send(query, limitMs));
      options.checkServer?.(result);
      return result;
    };
    return this.connections.use(deadline, work, options.isGuardRead);
  }

  protected async runWithManager<T>(
    work: (manager: EntityManager) => Promise<T>,
    joined: JoinedTransaction | null,
    deadline: Deadline,
  ): Promise<T> {
    if (joined) {
      const shared = (await joined.runner.connect()) as DriverConnection;
      return joined.runApplicationCode(() => this.withOwnMode(shared, () => work(joined.runner.manager)));
    }
    // 'master' is the primary. A replica may lag behind.
    const runner = this.dataSource.createQueryRunner('master');
    const connection = (await runner.connect()) as DriverConnection;
    const discard = (): void => tearDown(connection);
    try {
      deadline.failIfPassed();
      deadline.listeners.add(discard);
      return await deadline.race(this.withOwnMode(connection, () => work(runner.manager)));
    } catch (error) {
      if (isNotWritable(error)) this.connections.checkAgain();
      if (isNotWritable(error) || deadline.hasPassed) close(connection);
      throw error;
    } finally {
      deadline.listeners.delete(discard);
      await runner.release();
    }
  }

  protected async runJoined<T>(unit: UnitOfWork<T>, joined: JoinedTransaction, deadline: Deadline): Promise<T> {
    const connection = (await joined.runner.connect()) as DriverConnection;
    const send = async (query: Query): Promise<Result> => {
      joined.assertOpen();
      deadline.failIfPassed();
      // On PostgreSQL, a conflict of a prepared statement would abort the application's transaction.
      return this.connections.send(connection, { ...query, isPrepared: false });
    };
    const work = async (): Promise<T> => {
      await send(BEGIN_NESTED);
      try {
        const outcome = await drive(unit(), send);
        await send(COMMIT_NESTED);
        return outcome;
      } catch (error) {
        if (isNotWritable(error)) this.connections.checkAgain();
        // Fails if the database has rolled back the whole transaction, or if the connection broke.
        await this.connections.send(connection, ROLLBACK_NESTED).catch(() => joined.end());
        throw error;
      }
    };
    return this.withOwnMode(connection, work);
  }

  /**
   * Runs work on a connection of the application under the library's `sql_mode`. Under `NO_BACKSLASH_ESCAPES`, a value
   * that a driver or TypeORM has escaped could end its literal.
   */
  private async withOwnMode<T>(connection: DriverConnection, work: () => Promise<T>): Promise<T> {
    if (this.dialect === 'postgres') return work();
    await this.connections.send(connection, { sql: `SET @auth_sql_mode = @@sql_mode, ${MYSQL_MODE}` });
    return work().finally(() => this.connections.send(connection, { sql: 'SET sql_mode = @auth_sql_mode' }));
  }

  protected override isWritable(deadline: Deadline): Promise<boolean> {
    // An error closes the connection, so that the next check opens another one.
    const check = async (send: Send): Promise<boolean> => {
      assertWritable(await send({ sql: `SELECT ${ROLE_COLUMNS[this.dialect]}` }));
      return true;
    };
    return this.connections.use(deadline, check).catch(() => false);
  }

  override async serverWarnings(): Promise<readonly string[]> {
    const deadline = new Deadline(1_000);
    const work = async (send: Send, _: unknown, connection: DriverConnection): Promise<readonly string[]> => {
      await this.connections.detectSharing(connection);
      if (this.connections.isShared) return [SHARED];
      const query = async (sql: string): Promise<readonly Row[]> => (await send({ sql })).rows;
      return serverWarnings(this.dialect, { processID: connection.processID, query });
    };
    return deadline.race(this.connections.use(deadline, work)).finally(() => deadline.clear());
  }

  onApplicationShutdown(): Promise<void> {
    return this.connections.close();
  }
}
