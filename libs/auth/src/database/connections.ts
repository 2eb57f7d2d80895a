import { Logger } from '@nestjs/common';
import { createHash } from 'node:crypto';
import type { Deadline } from './deadline';
import type { Dialect } from './dialect';
import { failureCode, isConnectionLost, isNotWritable } from './failure';
import { type PoolOwner, PoolRenewal } from './pool-renewal';
import type { Query, Result, Row } from './transaction';

/**
 * The part of a connection that the library uses. The first signature of `query` is that of `pg`, the second
 * is that of `mysql2` and `mysql`. `mysql` has no `execute`.
 */
export interface DriverConnection {
  readonly connection?: DriverConnection;
  readonly stream?: { destroy(): void };
  query(config: { name?: string; text: string; values: unknown[] }): Promise<{ rows: Row[]; rowCount: number | null }>;
  query(sql: string, params: unknown[], done: MysqlCallback): void;
  execute?(sql: string, params: unknown[], done: MysqlCallback): void;
  on(event: 'error', listener: () => void): unknown;
  off(event: 'error', listener: () => void): unknown;
  release(): void;
  /** `mysql2` and `mysql` only. */
  destroy?(): void;
  /** Used only with `pg`, like `processID`. */
  end?(): Promise<void>;
  readonly processID?: number;
}

type MysqlCallback = (error: Error | null, result: Row[] | { readonly affectedRows: number }) => void;

/** The part of TypeORM's drivers that the library uses, which obtains a connection to the primary from the pool. */
interface PooledDriver extends PoolOwner {
  obtainMasterConnection(): Promise<DriverConnection | [DriverConnection, (isBroken?: boolean) => void]>;
}

/**
 * PostgreSQL: no statement has this name, or another client has already prepared a statement with
 * this name, because a pooler shares connections between clients. MySQL, MariaDB: the server or a proxy
 * cannot prepare the statement, or too many statements are prepared.
 */
const PREPARED_STATEMENT_CONFLICTS = ['26000', '42P05', '1295', '1461'];

/** PostgreSQL: the type of a column has changed since the statement was prepared on this connection. */
const PLAN_OUTDATED = '0A000';

/** Sends a statement on a connection in use. `params` is called when the statement is sent. */
export type Send = (query: Query, params: () => unknown[]) => Promise<Result>;

/** The work that uses a connection. `discard` closes the connection immediately. */
type Work<T> = (send: Send, discard: () => void, connection: DriverConnection) => Promise<T>;

/**
 * Uses connections of the DataSource's pool directly, because the overhead of TypeORM's query runner
 * exceeds the time of a short statement.
 *
 * If the server rejects a prepared statement, the server has executed no part of that statement, and the
 * statement is sent again unprepared. In a transaction of PostgreSQL, the second statement fails too (25P02), and
 * `Database` runs the transaction again.
 */
export class DriverConnections {
  private readonly logger = new Logger('AuthDatabase');
  private readonly names = new Map<string, string>();
  readonly renewal: PoolRenewal;

  constructor(
    private readonly driver: PooledDriver,
    private readonly dialect: Dialect,
    /** Whether statements may be prepared. */
    private mayPrepare: boolean,
  ) {
    this.renewal = new PoolRenewal(driver);
  }

  /**
   * Runs the work with a connection from the pool, and then releases the connection. Closes the
   * connection instead if it must not be used again, for example because the deadline passes during
   * the work, the connection breaks, or its server does not accept writes.
   */
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
    // A connection that has not responded in time may never respond. If the connection were released, its
    // next user would also wait.
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

  /**
   * Returns the name of a prepared statement, which is a digest of its text. Clients that share a
   * connection through a pooler thus use the same name only for the same text.
   */
  private nameOf(sql: string): string {
    let name = this.names.get(sql);
    if (!name) this.names.set(sql, (name = `auth_${createHash('sha256').update(sql).digest('hex').slice(0, 32)}`));
    return name;
  }

  private disablePreparing(): void {
    this.mayPrepare = false;
    this.logger.warn(
      'The server rejected a prepared statement, for example because of a connection pooler. ' +
        'The library continues without prepared statements. ' +
        'Set `namedStatements: false` to disable them at startup and to silence this warning.',
    );
  }
}

function mysqlResult(send: (done: MysqlCallback) => void): Promise<Result> {
  return new Promise((resolve, reject) =>
    send((error, result) => {
      if (error) reject(error);
      else if (Array.isArray(result)) resolve({ rows: result, affected: 0 });
      else resolve({ rows: [], affected: result.affectedRows });
    }),
  );
}

/** Returns the connection and the function that releases or closes it. */
function lease(
  obtained: Awaited<ReturnType<PooledDriver['obtainMasterConnection']>>,
): [DriverConnection, (isBroken?: boolean) => void] {
  if (Array.isArray(obtained)) return obtained;
  return [obtained, (isBroken) => (isBroken ? close(obtained) : obtained.release())];
}

/** Closes a connection. `mysql2` removes it from its pool immediately, `pg` when it is released. */
export function close(connection: DriverConnection): void {
  if (connection.destroy) connection.destroy();
  else void connection.end?.().catch(ignore);
}

/** Breaks the connection, so that pending queries fail immediately. */
export function tearDown(connection: Pick<DriverConnection, 'connection' | 'stream'>): void {
  (connection.connection ?? connection).stream?.destroy();
}

/**
 * Ignores an error of a connection, which also makes its pending or next query fail. Without a listener, the
 * `error` event would end the process.
 */
function ignore(): void {}
