import { Logger } from '@nestjs/common';
import { assertInTime } from './deadline';
import type { Dialect } from './dialect';
import { failureCode, isConnectionLost } from './failure';
import type { Query, Row } from './unit';

/** A read that the database prepares once for each connection, and knows by its name from then on. */
export interface PreparedQuery extends Query {
  readonly name: string;
}

/** What is used of a connection of `pg` (`query`) and of `mysql2` (`execute`; `mysql` has none). */
export interface DriverConnection {
  readonly connection?: DriverConnection;
  readonly stream?: { destroy(): void };
  query(config: { name?: string; text: string; values: unknown[] }): Promise<{ rows: Row[] }>;
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

/** Prepared reads past TypeORM's query runner, which takes more time than such a read itself. */
export class PreparedReads {
  private readonly logger = new Logger('AuthDatabase');

  constructor(
    private readonly driver: PooledDriver,
    private readonly dialect: Dialect,
    private isNamed: boolean,
  ) {}

  async run(query: PreparedQuery, deadline: AbortSignal): Promise<readonly Row[]> {
    const obtained = await this.driver.obtainMasterConnection();
    const [connection, release] = Array.isArray(obtained) ? obtained : [obtained, () => obtained.release()];
    const breakOff = (): void => tearDown(connection);
    let isBroken = false;
    connection.on('error', ignore);
    deadline.addEventListener('abort', breakOff);
    try {
      assertInTime(deadline);
      return await this.ask(connection, query);
    } catch (error) {
      isBroken = deadline.aborted || isConnectionLost(error);
      throw error;
    } finally {
      deadline.removeEventListener('abort', breakOff);
      connection.off('error', ignore);
      release(isBroken);
    }
  }

  private ask(connection: DriverConnection, query: PreparedQuery): Promise<readonly Row[]> {
    return this.dialect === 'postgres' ? this.askPostgres(connection, query) : askMysql(connection, query);
  }

  private async askPostgres(connection: DriverConnection, { name, sql, params }: PreparedQuery): Promise<Row[]> {
    const plain = { text: sql, values: [...params] };
    if (!this.isNamed) return (await connection.query(plain)).rows;
    try {
      return (await connection.query({ name, ...plain })).rows;
    } catch (error) {
      if (!NAMES_MIXED_UP.includes(failureCode(error))) throw error;
      this.isNamed = false;
      this.logger.warn(
        'Prepared statements get lost on the way to the database: going on without. See `namedStatements`.',
      );
      return (await connection.query(plain)).rows;
    }
  }
}

function askMysql(connection: DriverConnection, { sql, params }: PreparedQuery): Promise<Row[]> {
  return new Promise((resolve, reject) => {
    const done = (error: Error | null, rows: Row[]): void => (error ? reject(error) : resolve(rows));
    if (connection.execute) connection.execute(sql, [...params], done);
    else connection.query(sql, [...params], done);
  });
}

/** Breaks the connection: whoever waits for its answer is told at once. */
export function tearDown(connection: Pick<DriverConnection, 'connection' | 'stream'>): void {
  (connection.connection ?? connection).stream?.destroy();
}

/** A connection that breaks tells it to the query as well; without a listener it would end the process. */
function ignore(): void {}
