import { Logger } from '@nestjs/common';
import { createHash } from 'node:crypto';
import type { Deadline } from './deadline';
import type { Dialect } from './dialect';
import { failureCode, isConnectionLost, isNotWritable } from './failure';
import { PoolRenewal, type PoolOwner } from './pool-renewal';
import type { Query, Result, Row } from './transaction';

/** The parts of a connection of `pg` (`query`) and of `mysql2` (`query`, `execute`; `mysql` has no `execute`) that are used. */
export interface DriverConnection {
  readonly connection?: DriverConnection;
  readonly stream?: { destroy(): void };
  query(config: { name?: string; text: string; values: unknown[] }): Promise<{ rows: Row[]; rowCount: number | null }>;
  query(sql: string, params: unknown[], done: MysqlCallback): void;
  execute?(sql: string, params: unknown[], done: MysqlCallback): void;
  on(event: 'error', listener: () => void): unknown;
  off(event: 'error', listener: () => void): unknown;
  release(): void;
  /** Of `mysql2` and `mysql`. */
  destroy?(): void;
  /** Of `pg`, as the next one. */
  end?(): Promise<void>;
  readonly processID?: number;
}

type MysqlCallback = (error: Error | null, result: Row[] | { readonly affectedRows: number }) => void;

/** The part of TypeORM's drivers that is used: a connection to the primary from the pool, and the way to release it. */
interface PooledDriver extends PoolOwner {
  obtainMasterConnection(): Promise<DriverConnection | [DriverConnection, (isBroken?: boolean) => void]>;
}

/**
 * PostgreSQL: no statement has this name, or another one has it, since a pooler hands out connections that others prepared
 * on. MySQL, MariaDB: the statement cannot be prepared here (a proxy), or too many are.
 */
const PREPARED_STATEMENT_CONFLICTS = ['26000', '42P05', '1295', '1461'];
/** PostgreSQL: a column has changed its type since the statement was prepared on this connection. */
const PLAN_OUTDATED = '0A000';

/** How a statement is sent while a connection is in use. `params` are evaluated when it is sent. */
export type Send = (query: Query, params: () => unknown[]) => Promise<Result>;

/** What is done with a connection. `discard` closes it at once. */
type Work<T> = (send: Send, discard: () => void, connection: DriverConnection) => Promise<T>;

/**
 * Connections of the DataSource's pool, used directly: TypeORM's query runner takes more time than a short statement.
 *
 * A statement that is sent again without its name was refused before anything of it was done.
 */
export class DriverConnections {
  private readonly logger = new Logger('AuthDatabase');
  private readonly names = new Map<string, string>();
  readonly renewal: PoolRenewal;

  constructor(
    private readonly driver: PooledDriver,
    private readonly dialect: Dialect,
    /** Whether statements that ask for it are prepared. */
    private mayPrepare: boolean,
  ) {
    this.renewal = new PoolRenewal(driver);
  }

  /** Lends a connection to the work. It is closed, not released, when the deadline passes, it broke, or takes no writes. */
  async use<T>(deadline: Deadline, work: Work<T>): Promise<T> {
    let [connection, release] = lease(await this.driver.obtainMasterConnection());
    while (!deadline.hasPassed && this.renewal.isOutdated(connection)) {
      release(true);
      [connection, release] = lease(await this.driver.obtainMasterConnection());
    }
    if (deadline.hasPassed) release();
    deadline.failIfPassed();
    let isBroken = false;
    const discard = (): void => {
      isBroken = true;
      tearDown(connection);
    };
    connection.on('error', ignore);
    // A connection that has not answered in time may never do: released, it would keep the next caller waiting.
    deadline.onPassed(discard);
    try {
      const send: Send = (query, params) => this.send(connection, query, params, () => (isBroken = true));
      return await work(send, discard, connection);
    } catch (error) {
      if (isNotWritable(error)) this.renewal.begin(connection, error);
      isBroken ||= isConnectionLost(error) || isNotWritable(error);
      throw error;
    } finally {
      deadline.offPassed(discard);
      connection.off('error', ignore);
      release(isBroken);
    }
  }

  private async send(
    connection: DriverConnection,
    query: Query,
    params: () => unknown[],
    discard: () => void,
  ): Promise<Result> {
    const sendPlain = (): Promise<Result> => this.sendNow(connection, { ...query, isPrepared: false }, params());
    if (!query.isPrepared || !this.mayPrepare) return sendPlain();
    try {
      return await this.sendNow(connection, query, params());
    } catch (error) {
      const code = failureCode(error);
      if (code === PLAN_OUTDATED) discard();
      else if (PREPARED_STATEMENT_CONFLICTS.includes(code)) this.disablePreparing();
      else throw error;
      return sendPlain();
    }
  }

  private async sendNow(connection: DriverConnection, { sql, isPrepared }: Query, values: unknown[]): Promise<Result> {
    if (this.dialect === 'postgres') {
      const text = isPrepared ? { name: this.nameOf(sql), text: sql } : { text: sql };
      const { rows, rowCount } = await connection.query({ ...text, values });
      return { rows, affected: rowCount ?? 0 };
    }
    return mysqlResult((done) =>
      isPrepared && connection.execute ? connection.execute(sql, values, done) : connection.query(sql, values, done),
    );
  }

  /** The same text has the same name, and another text another one: behind a pooler others share the connection. */
  private nameOf(sql: string): string {
    let name = this.names.get(sql);
    if (!name) this.names.set(sql, (name = `auth_${createHash('sha256').update(sql).digest('hex').slice(0, 32)}`));
    return name;
  }

  private disablePreparing(): void {
    this.mayPrepare = false;
    this.logger.warn(
      'Prepared statements do not survive between the application and the database: continuing without them. ' +
        'Set `namedStatements: false` to silence this warning.',
    );
  }
}

function mysqlResult(ask: (done: MysqlCallback) => void): Promise<Result> {
  return new Promise((resolve, reject) =>
    ask((error, result) => {
      if (error) reject(error);
      else if (Array.isArray(result)) resolve({ rows: result, affected: 0 });
      else resolve({ rows: [], affected: result.affectedRows });
    }),
  );
}

/** The connection, and what returns it to the pool, or closes it. */
function lease(
  obtained: Awaited<ReturnType<PooledDriver['obtainMasterConnection']>>,
): [DriverConnection, (isBroken?: boolean) => void] {
  if (Array.isArray(obtained)) return obtained;
  return [obtained, (isBroken) => (isBroken ? close(obtained) : obtained.release())];
}

/** Closes a connection. `mysql2` takes it out of its pool immediately, `pg` when it is released. */
export function close(connection: DriverConnection): void {
  if (connection.destroy) connection.destroy();
  else void connection.end?.().catch(ignore);
}

/** Breaks the connection: whoever waits for its answer gets an error at once. */
export function tearDown(connection: Pick<DriverConnection, 'connection' | 'stream'>): void {
  (connection.connection ?? connection).stream?.destroy();
}

/** A connection that breaks reports it to the query as well. Without a listener the event would end the process. */
function ignore(): void {}
