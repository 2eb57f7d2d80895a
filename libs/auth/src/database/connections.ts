import { Logger } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import { failureCode } from '../base/failures';
import { sha256 } from '../base/random';
import type { Deadline } from './deadline';
import type { Dialect } from './dialect';
import { isConnectionLost, isNotWritable } from './failure';
import { assertWritable, ROLE_COLUMNS } from './server-checks';
import { bind, type Query, type Result } from './transaction';
import {
  type DriverConnection,
  ignore,
  type Lease,
  MYSQL_RESULTS,
  type MysqlCallback,
  obtainShared,
  openPool,
  pgTypes,
  type Pool,
  sessionOf,
  tearDown,
} from './typeorm';

/** The prepared statement has another client's name (PostgreSQL behind a pooler), or cannot be prepared (MySQL). */
const PREPARED_STATEMENT_CONFLICTS = ['26000', '42P05', '1295', '1461'];

/** PostgreSQL: the type of a column has changed since the statement was prepared on this connection. */
const PLAN_OUTDATED = '0A000';

/** MySQL: `mysql2` sends a number as a DOUBLE to servers that do not report the types of parameters. */
const WRONG_TYPE = '1210';

/** How a pooler, or a server that only resembles PostgreSQL, refuses startup parameters. */
const SETTINGS_REFUSED = /^(08P01|0A000|22023|42704)$/;

/** The `sql_mode` on which the library's statements depend. */
export const MYSQL_MODE = `sql_mode = 'STRICT_TRANS_TABLES'`;

/** The name of the isolation level differs. Waits for locks outlive an operation by at most a second. */
const MYSQL_SETTINGS = `SET SESSION ${MYSQL_MODE}, innodb_lock_wait_timeout = 6, lock_wait_timeout = 6,
  /*!80000 transaction_isolation */ /*M! tx_isolation */ = 'READ-COMMITTED'`;

export type Send = (query: Query, limitMs?: number) => Promise<Result>;

/** `discard` closes the connection immediately. */
type Work<T> = (send: Send, discard: () => void, connection: DriverConnection) => Promise<T>;

/** The library's own connections, one of which is reserved for the guard's reads. */
export class Connections {
  isShared = false;
  /** How many operations have a connection, and how many wait for one. */
  readonly load = { used: 0, waiting: 0 };
  private readonly logger = new Logger('AuthDatabase');
  /** The connections that no operation has reserved, and the operations that wait for one. */
  private free: number;
  private readonly queue: (() => void)[] = [];
  private readonly names = new Map<string, string>();
  private readonly types;
  private pool: Promise<Pool> | null = null;
  private sendsSettings = true;
  /** Incremented by each read-only error. */
  private epoch = 0;
  private readonly checkedIn = new WeakMap<DriverConnection, number>();
  private readonly broken = new WeakSet<DriverConnection>();

  constructor(
    private readonly dataSource: DataSource,
    private readonly dialect: Dialect,
    readonly size: number,
    private mayPrepare: boolean,
  ) {
    this.free = size - 1;
    this.types = pgTypes(dataSource);
  }

  /** Runs the work with a connection, which is closed if it broke, was too slow or leads to a read-only server. */
  async use<T>(deadline: Deadline, work: Work<T>, isGuardRead = false): Promise<T> {
    if (isGuardRead) return this.useNext(deadline, work);
    this.load.waiting++;
    if (this.free > 0) this.free--;
    else await new Promise<void>((resolve) => this.queue.push(resolve));
    this.load.waiting--;
    try {
      return await this.useNext(deadline, work);
    } finally {
      const next = this.queue.shift();
      if (next) next();
      else this.free++;
    }
  }

  private async useNext<T>(deadline: Deadline, work: Work<T>): Promise<T> {
    deadline.failIfPassed();
    this.load.waiting++;
    const { connection, release } = await this.obtain(deadline).finally(() => this.load.waiting--);
    this.load.used++;
    const discard = (): void => {
      this.broken.add(connection);
      tearDown(connection);
    };
    // A connection that has not responded in time may never respond, so its next user would also wait.
    deadline.listeners.add(discard);
    try {
      deadline.failIfPassed();
      // Without access to the socket, as with `pg-native`, a pending statement does not fail when it is torn down.
      const isReady = this.checkedIn.get(connection) === this.epoch || (await deadline.race(this.prepare(connection)));
      const send: Send = (query, limitMs) => this.send(connection, query, limitMs);
      if (isReady) return await deadline.race(work(send, discard, connection));
      this.broken.add(connection);
    } catch (error) {
      if (isNotWritable(error) && this.checkedIn.get(connection) === this.epoch) this.checkAgain();
      if (isNotWritable(error) || isConnectionLost(error)) this.broken.add(connection);
      throw error;
    } finally {
      deadline.listeners.delete(discard);
      this.load.used--;
      release(this.broken.has(connection));
    }
    return this.useNext(deadline, work);
  }

  /** Makes each open connection be checked before its next use, because another one leads to a read-only server. */
  checkAgain(): void {
    this.epoch++;
  }

  /** Prepares a new connection, or checks one after a read-only error. Returns false if it must be closed. */
  private async prepare(connection: DriverConnection): Promise<boolean> {
    const { epoch, dialect } = this;
    if (!this.checkedIn.has(connection)) {
      connection.on('error', ignore);
      if (dialect === 'mysql') await this.sendNow(connection, MYSQL_SETTINGS);
    } else {
      try {
        assertWritable(await this.sendNow(connection, `SELECT ${ROLE_COLUMNS[dialect]}`));
      } catch {
        return false;
      }
    }
    this.checkedIn.set(connection, epoch);
    return true;
  }

  private async obtain(deadline: Deadline): Promise<Lease> {
    if (!this.dataSource.isInitialized) throw new Error('The DataSource is closed.');
    this.pool ??= this.open(deadline).catch((error: unknown) => {
      this.pool = null;
      throw error;
    });
    const pool = await this.pool;
    return this.isShared ? obtainShared(this.dataSource) : pool.obtain();
  }

  private async open(deadline: Deadline): Promise<Pool> {
    try {
      const pool = await openPool(this.dataSource, this.size, this.sendsSettings);
      const { connection, release } = await pool.obtain();
      const detection = sessionOf(connection) === undefined ? this.detectSharing(connection) : undefined;
      await deadline.race(Promise.resolve(detection)).finally(() => release(deadline.hasPassed));
      return pool;
    } catch (error) {
      if (!this.sendsSettings || !SETTINGS_REFUSED.test(failureCode(error))) throw error;
      this.sendsSettings = false;
      return this.open(deadline);
    }
  }

  /** Shares the DataSource's connections if the database has only one session, as PGlite does. */
  async detectSharing(own: DriverConnection): Promise<void> {
    const idOf = async (connection: DriverConnection): Promise<unknown> =>
      sessionOf(connection) ??
      this.sendNow(connection, 'SELECT pg_backend_pid() AS pid').then(
        ({ rows }) => rows[0]?.['pid'],
        // A driver that only imitates `pg` may have no id of the session.
        () => null,
      );
    const given = await obtainShared(this.dataSource);
    this.isShared = (await idOf(own)) === (await idOf(given.connection));
    given.release(false);
  }

  async close(): Promise<void> {
    const opened = await this.pool?.catch(() => null);
    this.pool = null;
    if (!this.isShared) await opened?.end();
  }

  /**
   * Sends a statement on a connection of the library or of the application. If the server rejects a prepared statement,
   * sends it again unprepared. In a transaction of PostgreSQL, this fails too (25P02), and the transaction is retried.
   */
  async send(connection: DriverConnection, query: Query, limitMs?: number): Promise<Result> {
    const { sql } = query;
    const params = bind(query, limitMs);
    const isPrepared = this.dialect === 'postgres' ? query.isPrepared : params.length > 0 && 'execute' in connection;
    if (!isPrepared || !this.mayPrepare) return this.sendNow(connection, sql, params);
    try {
      return await this.sendNow(connection, sql, params, true);
    } catch (error) {
      const code = failureCode(error);
      if (PREPARED_STATEMENT_CONFLICTS.includes(code)) {
        this.mayPrepare = false;
        this.logger.warn(
          'The server rejected a prepared statement, for example because of a connection pooler. ' +
            'The library continues without prepared statements. ' +
            'Set `namedStatements: false` to disable them at startup and to silence this warning.',
        );
      } else if (code === PLAN_OUTDATED) this.broken.add(connection);
      else if (code !== WRONG_TYPE) throw error;
      return this.sendNow(connection, sql, params);
    }
  }

  private async sendNow(
    connection: DriverConnection,
    sql: string,
    values: unknown[] = [],
    isPrepared = false,
  ): Promise<Result> {
    this.dataSource.logger.logQuery(sql);
    if (this.dialect === 'postgres') {
      const name = isPrepared ? this.nameOf(sql) : undefined;
      // Drivers that only imitate `pg` support what TypeORM uses.
      const result = await (connection.processID
        ? connection.query({ name, text: sql, values, types: this.types })
        : connection.query(sql, values));
      return { rows: result.rows, affected: result.rowCount ?? result.affectedRows ?? 0 };
    }
    const options = { sql, values, ...(this.checkedIn.has(connection) ? undefined : MYSQL_RESULTS) };
    return new Promise((resolve, reject) => {
      const done: MysqlCallback = (error, result) => {
        if (error) reject(error);
        else if (Array.isArray(result)) resolve({ rows: result, affected: 0 });
        else resolve({ rows: [], affected: result.affectedRows });
      };
      if (isPrepared) connection.execute!(options, done);
      else connection.query(options, done);
    });
  }

  /** Returns a name that only this text has, because clients can share a connection through a pooler. */
  private nameOf(sql: string): string {
    const name = this.names.get(sql) ?? `auth_${sha256(sql).slice(0, 32)}`;
    this.names.set(sql, name);
    return name;
  }
}
