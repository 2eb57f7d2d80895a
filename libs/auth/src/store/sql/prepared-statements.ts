import { Logger } from '@nestjs/common';
import { createHash } from 'node:crypto';
import type { Deadline } from './deadline';
import type { Dialect } from './dialect';
import { failureCode, isConnectionLost } from './failure';
import { unboundParams, type Query, type Result, type Row } from './unit';

/** What is used of a connection of `pg` (`query`) and of `mysql2` (`execute`; `mysql` has none). */
export interface DriverConnection {
  readonly connection?: DriverConnection;
  readonly stream?: { destroy(): void };
  query(config: { name?: string; text: string; values: unknown[] }): Promise<{ rows: Row[]; rowCount: number | null }>;
  query(sql: string, params: unknown[], done: (error: Error | null, rows: Row[]) => void): void;
  execute?(sql: string, params: unknown[], done: (error: Error | null, rows: Row[]) => void): void;
  on(event: 'error', listener: () => void): unknown;
  off(event: 'error', listener: () => void): unknown;
  release(): void;
}

/** What is used of TypeORM's drivers: a connection to the primary, from the pool, and the way to give it back. */
interface PooledDriver {
  obtainMasterConnection(): Promise<DriverConnection | [DriverConnection, (isBroken?: boolean) => void]>;
}

/** PostgreSQL knows no statement of this name, or another one: a pooler hands out other connections than it was told on. */
const NAMES_MIXED_UP = ['26000', '42P05'];
/** PostgreSQL: a column that is read has another type by now, and this connection will not read it any more. */
const PLAN_OUTDATED = '0A000';
/** MySQL, MariaDB: this cannot be prepared here (a proxy), or too much is. */
const NOT_PREPARED = ['1295', '1461'];

/**
 * Prepared statements past TypeORM's query runner, which takes more time than a read does itself. Each stands for itself: it
 * may be a write, but on MySQL and MariaDB only rows are told.
 *
 * One that is asked once more without its name was refused before anything of it was done.
 */
export class PreparedStatements {
  private readonly logger = new Logger('AuthDatabase');
  private readonly names = new Map<string, string>();

  constructor(
    private readonly driver: PooledDriver,
    private readonly dialect: Dialect,
    /** Whether statements are prepared once for each connection, and known by a name from then on. */
    private isNamed: boolean,
  ) {}

  async run(query: Query, deadline: Deadline): Promise<Result> {
    const obtained = await this.driver.obtainMasterConnection();
    const [connection, release] = Array.isArray(obtained) ? obtained : [obtained, () => obtained.release()];
    if (deadline.isOver) release();
    deadline.assertInTime();
    const breakOff = (): void => tearDown(connection);
    let isBroken = false;
    connection.on('error', ignore);
    deadline.onOver(breakOff);
    try {
      return await this.ask(connection, query, deadline, () => (isBroken = true));
    } catch (error) {
      isBroken ||= deadline.isOver || isConnectionLost(error);
      throw error;
    } finally {
      deadline.offOver(breakOff);
      connection.off('error', ignore);
      release(isBroken);
    }
  }

  /** @param giveUp tells that the connection is good for nothing more */
  private async ask(
    connection: DriverConnection,
    query: Query,
    deadline: Deadline,
    giveUp: () => void,
  ): Promise<Result> {
    const { sql } = query;
    // What is left is told when it is sent: there may have been a long wait for the connection.
    const params = (): unknown[] => unboundParams(query, deadline.left);
    if (!this.isNamed) return this.askPlainly(connection, sql, params());
    try {
      return await this.askPrepared(connection, sql, params());
    } catch (error) {
      const code = failureCode(error);
      if (code === PLAN_OUTDATED) giveUp();
      else if (NAMES_MIXED_UP.includes(code) || NOT_PREPARED.includes(code)) this.goOnWithoutNames();
      else throw error;
      return this.askPlainly(connection, sql, params());
    }
  }

  private async askPrepared(connection: DriverConnection, sql: string, params: unknown[]): Promise<Result> {
    if (this.dialect !== 'postgres') {
      return callback((done) => (connection.execute ?? connection.query).call(connection, sql, params, done));
    }
    return resultOf(await connection.query({ name: this.nameOf(sql), text: sql, values: params }));
  }

  private async askPlainly(connection: DriverConnection, sql: string, params: unknown[]): Promise<Result> {
    if (this.dialect !== 'postgres') return callback((done) => connection.query(sql, params, done));
    return resultOf(await connection.query({ text: sql, values: params }));
  }

  /** The same text has the same name, and another text another one: behind a pooler others share the connection. */
  private nameOf(sql: string): string {
    let name = this.names.get(sql);
    if (!name) this.names.set(sql, (name = `auth_${createHash('sha256').update(sql).digest('hex').slice(0, 32)}`));
    return name;
  }

  private goOnWithoutNames(): void {
    this.isNamed = false;
    this.logger.warn(
      'Prepared statements get lost on the way to the database: going on without. See `namedStatements`.',
    );
  }
}

function callback(ask: (done: (error: Error | null, rows: Row[]) => void) => void): Promise<Result> {
  return new Promise((resolve, reject) =>
    ask((error, rows) => (error ? reject(error) : resolve({ rows, affected: 0 }))),
  );
}

function resultOf({ rows, rowCount }: { rows: Row[]; rowCount: number | null }): Result {
  return { rows, affected: rowCount ?? 0 };
}

/** Breaks the connection: whoever waits for its answer is told at once. */
export function tearDown(connection: Pick<DriverConnection, 'connection' | 'stream'>): void {
  (connection.connection ?? connection).stream?.destroy();
}

/** A connection that breaks tells it to the query as well; without a listener it would end the process. */
function ignore(): void {}
