import type { DataSource, EntityManager, QueryRunner } from 'typeorm';
import { Database } from './database';
import { within, type Deadline } from './deadline';
import type { Dialect } from './dialect';
import { CommitError } from './failure';
import { savepoint, type JoinedTransaction } from './joined-transaction';
import { PreparedStatements, tearDown, type DriverConnection } from './prepared-statements';
import { boundParams, type Query, type Result, type Unit } from './unit';

/** Each decision is one conditional statement that reads what is committed, so nothing more is asked. */
const BEGIN: Readonly<Record<Dialect, readonly string[]>> = {
  postgres: ['BEGIN ISOLATION LEVEL READ COMMITTED'],
  mysql: ['SET TRANSACTION ISOLATION LEVEL READ COMMITTED', 'START TRANSACTION'],
  sqlite: ['BEGIN'],
};

/** PostgreSQL, MySQL and MariaDB: each unit has a connection of its own. */
export class PooledDatabase extends Database {
  private readonly prepared: PreparedStatements;

  constructor(
    private readonly dataSource: DataSource,
    readonly dialect: Dialect,
    namedStatements = true,
  ) {
    super();
    this.prepared = new PreparedStatements(dataSource.driver, dialect, namedStatements);
  }

  protected async runAtomic<T>(unit: () => Unit<T>, deadline: Deadline): Promise<T> {
    return this.withConnection(deadline, async (connection, breakOff) => {
      const send = (sql: string): Promise<unknown> => execute(connection, { sql, params: [] }, deadline);
      try {
        for (const sql of BEGIN[this.dialect]) await send(sql);
        const outcome = await drive(unit(), (query) => execute(connection, query, deadline));
        deadline.assertInTime();
        await send('COMMIT').catch((error: unknown) => {
          throw new CommitError(error);
        });
        return outcome;
      } catch (error) {
        // With its transaction open it must not go back to the pool; nobody knows how far a BEGIN that failed has come.
        await connection.query('ROLLBACK').catch(breakOff);
        throw error;
      }
    });
  }

  protected async runUnbound<T>(unit: (isUnbound: boolean) => Unit<T>, deadline: Deadline): Promise<T> {
    return drive(unit(true), (query) => this.runPrepared(query, deadline));
  }

  protected async runSingle(query: Query, deadline: Deadline): Promise<Result> {
    return this.withConnection(deadline, (connection) => execute(connection, query, deadline));
  }

  protected runPrepared(query: Query, deadline: Deadline): Promise<Result> {
    const { withinMs } = query;
    if (withinMs === undefined) return this.prepared.run(query, deadline);
    return within(Math.min(withinMs, deadline.left), (part) => this.prepared.run(query, part));
  }

  protected async runWithManager<T>(work: (manager: EntityManager) => Promise<T>, deadline: Deadline): Promise<T> {
    return this.withConnection(deadline, (connection) => work(connection.manager));
  }

  protected async runJoined<T>(unit: () => Unit<T>, transaction: JoinedTransaction, deadline: Deadline): Promise<T> {
    const { runner } = transaction;
    const run = (query: Query): Promise<Result> => {
      transaction.assertOpen();
      return execute(runner, query, deadline);
    };
    await run(savepoint('SAVEPOINT'));
    try {
      const outcome = await drive(unit(), run);
      await run(savepoint('RELEASE SAVEPOINT'));
      return outcome;
    } catch (error) {
      // Where there is no savepoint any more, the database has given the whole transaction up.
      await runner.query(savepoint('ROLLBACK TO SAVEPOINT').sql).catch(() => transaction.end());
      throw error;
    }
  }

  private async withConnection<T>(
    deadline: Deadline,
    work: (connection: QueryRunner, breakOff: () => void) => Promise<T>,
  ): Promise<T> {
    // 'master' is the primary: a replica may not know of a revocation yet.
    const connection = this.dataSource.createQueryRunner('master');
    let driverConnection: DriverConnection | undefined;
    const breakOff = (): void => driverConnection && tearDown(driverConnection);
    try {
      const connected = (await connection.connect()) as DriverConnection;
      deadline.assertInTime();
      driverConnection = connected;
      // One that has not answered in time may never do: given back to the pool it would keep the next caller waiting.
      deadline.onOver(breakOff);
      return await work(connection, breakOff);
    } finally {
      deadline.offOver(breakOff);
      await connection.release();
    }
  }
}

async function execute(connection: QueryRunner, query: Query, deadline: Deadline): Promise<Result> {
  deadline.assertInTime();
  const result = await connection.query(query.sql, boundParams(query), true);
  return { rows: result.records as Result['rows'], affected: result.affected ?? 0 };
}

async function drive<T>(unit: Unit<T>, run: (query: Query) => Promise<Result>): Promise<T> {
  let step = unit.next();
  while (!step.done) {
    let result: Result;
    try {
      result = await run(step.value);
    } catch (error) {
      step = unit.throw(error);
      continue;
    }
    step = unit.next(result);
  }
  return step.value;
}
