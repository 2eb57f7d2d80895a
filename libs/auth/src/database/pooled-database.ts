import type { DataSource, EntityManager, QueryRunner } from 'typeorm';
import { close, type DriverConnection, DriverConnections, tearDown } from './connections';
import { Database, type TransactionOptions } from './database';
import { type Deadline, raceWithDeadline } from './deadline';
import type { Dialect } from './dialect';
import { CommitError, failureCode, isNotWritable } from './failure';
import { type JoinedTransaction, savepoint } from './joined-transaction';
import { serverWarnings } from './server-checks';
import { ServerClock } from './server-clock';
import {
  autocommitParams,
  drive,
  paramsInTransaction,
  type Query,
  type Result,
  RolledBack,
  type Row,
  type UnitOfWork,
} from './transaction';

/** READ COMMITTED suffices, because decisions are made by conditional statements or while locks are held. */
const POSTGRES_BEGIN = ['BEGIN ISOLATION LEVEL READ COMMITTED'];

const MYSQL_BEGIN = ['SET TRANSACTION ISOLATION LEVEL READ COMMITTED', 'START TRANSACTION'];

const MYSQL_BEGIN_ANY_ISOLATION = ['START TRANSACTION'];

/** PostgreSQL's code for a division by zero, by which a statement fails after its deadline. */
const DIVISION_BY_ZERO = '22012';

/** How long startup waits for the server's settings. */
const CHECK_TIMEOUT_MS = 1_000;

/** Runs statements on PostgreSQL, MySQL and MariaDB, on connections of the pool or in the application's transaction. */
export class PooledDatabase extends Database {
  private readonly connections: DriverConnections;
  private readonly clock = new ServerClock();

  constructor(
    private readonly dataSource: DataSource,
    readonly dialect: Dialect,
    namedStatements = true,
  ) {
    super();
    this.connections = new DriverConnections(dataSource.driver, dialect, namedStatements);
  }

  protected runTransaction<T>(unit: UnitOfWork<T>, deadline: Deadline, options: TransactionOptions): Promise<T> {
    const mysqlBegin = options.anyIsolation ? MYSQL_BEGIN_ANY_ISOLATION : MYSQL_BEGIN;
    const begin = this.dialect === 'postgres' ? POSTGRES_BEGIN : mysqlBegin;
    return this.connections.use(deadline, async (sendNow, discard) => {
      const send = async (query: Query): Promise<Result> => {
        deadline.failIfPassed();
        return sendNow(query, () => paramsInTransaction(query));
      };
      const sendText = (sql: string): Promise<Result> => send({ sql, params: [] });
      try {
        for (const sql of begin) await sendText(sql);
        const outcome = await drive(unit(), send);
        if (outcome instanceof RolledBack) {
          await sendText('ROLLBACK');
          return outcome.outcome;
        }
        deadline.failIfPassed();
        await deadline
          .commit(() => sendText('COMMIT'))
          .catch((error: unknown) => {
            throw new CommitError(error);
          });
        return outcome;
      } catch (error) {
        // A connection with an open transaction must not return to the pool. After a failed BEGIN, its
        // state is unknown.
        await sendNow({ sql: 'ROLLBACK', params: [] }, () => []).catch(discard);
        throw error;
      }
    });
  }

  protected runAutocommit(query: Query, deadline: Deadline, checkServer?: (result: Result) => void): Promise<Result> {
    return this.connections.use(deadline, async (send) => {
      const sentAt = performance.now();
      // The parameters are computed when the statement is sent, because the wait for a connection can be
      // long.
      const params = (): unknown[] => autocommitParams(query, deadline.remainingMs, this.clock);
      const result = await deadline
        .commit(() => send(query, params))
        .catch((error: unknown) => {
          // The statement failed because of its deadline, perhaps too early because a clock was set
          // after the estimate.
          if (failureCode(error) === DIVISION_BY_ZERO) this.clock.reset();
          throw error;
        });
      const serverNow = result.rows[0]?.['server_now'];
      if (serverNow !== undefined) this.clock.observe(Number(serverNow), sentAt);
      checkServer?.(result);
      return result;
    });
  }

  protected async runWithManager<T>(work: (manager: EntityManager) => Promise<T>, deadline: Deadline): Promise<T> {
    const runner = await this.connectRunner(deadline);
    const connection = (await runner.connect()) as DriverConnection;
    const discard = (): void => tearDown(connection);
    try {
      deadline.failIfPassed();
      deadline.onPassed(discard);
      return await work(runner.manager);
    } catch (error) {
      if (isNotWritable(error)) {
        this.connections.renewal.begin(connection, error);
        close(connection);
      }
      throw error;
    } finally {
      deadline.offPassed(discard);
      await runner.release();
    }
  }

  private async connectRunner(deadline: Deadline): Promise<QueryRunner> {
    for (;;) {
      // 'master' is the primary. A replica may not have received a revocation yet.
      const runner = this.dataSource.createQueryRunner('master');
      const connection = (await runner.connect()) as DriverConnection;
      if (deadline.hasPassed || !this.connections.renewal.isOutdated(connection)) return runner;
      close(connection);
      await runner.release();
    }
  }

  protected async runJoined<T>(unit: UnitOfWork<T>, joined: JoinedTransaction, deadline: Deadline): Promise<T> {
    const { runner } = joined;
    const send = async (query: Query): Promise<Result> => {
      joined.assertOpen();
      deadline.failIfPassed();
      return execute(runner, query);
    };
    await send(savepoint('SAVEPOINT'));
    try {
      const outcome = await drive(unit(), send);
      if (outcome instanceof RolledBack) {
        await send(savepoint('ROLLBACK TO SAVEPOINT'));
        return outcome.outcome;
      }
      await send(savepoint('RELEASE SAVEPOINT'));
      return outcome;
    } catch (error) {
      // The rollback fails if the database has rolled back the whole transaction, or if the connection broke.
      await runner.query(savepoint('ROLLBACK TO SAVEPOINT').sql).catch(() => joined.end());
      throw error;
    }
  }

  serverWarnings(): Promise<readonly string[]> {
    return raceWithDeadline(CHECK_TIMEOUT_MS, (deadline) =>
      this.connections.use(deadline, (send, _, { processID }) => {
        const query = async (sql: string): Promise<readonly Row[]> => (await send({ sql, params: [] }, () => [])).rows;
        return serverWarnings(this.dialect, { processID, query });
      }),
    );
  }

  protected override async replaceAfter(joined: JoinedTransaction, error: unknown): Promise<void> {
    const connection = (await joined.runner.connect()) as DriverConnection;
    this.connections.renewal.begin(connection, error);
    joined.whenEnded(() => close(connection));
    // Takes a connection, which closes outdated connections that are idle. The application's next
    // transaction is not retried, and should not receive an outdated connection. The call is not
    // awaited, because the pool may have no free connection until this transaction ends.
    void raceWithDeadline(this.answerWithinMs, (deadline) =>
      this.connections.use(deadline, () => Promise.resolve()),
    ).catch(() => undefined);
  }
}

async function execute(runner: QueryRunner, query: Query): Promise<Result> {
  const result = await runner.query(query.sql, paramsInTransaction(query), true);
  return { rows: result.records as Result['rows'], affected: result.affected ?? 0 };
}
