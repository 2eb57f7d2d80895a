import type { Socket as NetSocket } from 'node:net';
import type { DataSource, EntityMetadata, QueryRunner } from 'typeorm';
import type { Row } from './transaction';

export type Column = EntityMetadata['columns'][number];

/** The injection token of the library's DataSource, which is undefined if the configured one does not exist. */
export const AUTH_DATA_SOURCE = 'NESTJS_SESSION_AUTH_DATA_SOURCE';

/** The part of a connection of `pg`, of drivers that only imitate `pg`, of `mysql2` or of `mysql`. */
export interface DriverConnection {
  query(config: object): Promise<PgResult>;
  query(sql: string, values: unknown[]): Promise<PgResult>;
  query(options: object, done: MysqlCallback): void;
  /** `mysql2` only. */
  execute?(options: object, done: MysqlCallback): void;
  on(event: 'error', listener: () => void): unknown;
  release(): void;
  readonly connection?: { readonly stream?: Socket };
  readonly stream?: Socket;
  readonly _socket?: Socket;
  /** The id of the session on the server: `pg`, and `mysql2` and `mysql`. */
  readonly processID?: number;
  readonly threadId?: number;
  /** `pg` only. */
  end?(): Promise<void>;
  /** `mysql2` and `mysql` only. */
  destroy?(): void;
  _removeFromPool(): void;
  _realEnd(done: () => void): void;
}

/** `affectedRows`: PGlite only. */
type PgResult = { readonly rows: Row[]; readonly rowCount?: number | null; readonly affectedRows?: number };

type Socket = Pick<NetSocket, 'destroy'> & Partial<Pick<NetSocket, 'ref' | 'unref'>>;

export type MysqlCallback = (error: Error | null, result: Row[] | { readonly affectedRows: number }) => void;

/** A connection in use. `release` returns it to its pool, or closes it if it is broken. */
export interface Lease {
  readonly connection: DriverConnection;
  readonly release: (isBroken: boolean) => void;
}

type Connect = (done: (error: Error | null, connection: DriverConnection, release: Lease['release']) => void) => void;

/** `pg` has `connect`. `mysql2` and `mysql` have `getConnection`, without `release`. */
type DriverPool = Readonly<Record<'connect' | 'getConnection', Connect>> & { end(done: () => void): void };

interface TypeParsers {
  getTypeParser(type: number, format?: string): (text: string) => unknown;
}

/** Protected or undocumented members of TypeORM's drivers, the same in TypeORM 0.3.20 to 1.1. */
interface Driver {
  createPool(options: object, credentials?: object): Promise<DriverPool>;
  createConnectionOptions(options: object, credentials: object): object | Promise<object>;
  obtainMasterConnection(): Promise<DriverConnection | [DriverConnection, Lease['release']]>;
  readonly databaseConnection: unknown;
  readonly postgres: { readonly types?: TypeParsers };
}

function driverOf(dataSource: DataSource): Driver {
  return dataSource.driver as unknown as Driver;
}

interface Options {
  readonly type: string;
  readonly replication?: { readonly master: object };
  readonly extra?: object;
  readonly connectTimeoutMS?: number;
  readonly connectTimeout?: number;
  readonly flags?: string | readonly string[];
}

/** How long a connection may take to open, unless the DataSource has a shorter limit. */
const CONNECT_TIMEOUT_MS = 5_000;

const IDLE_MS = 10_000;

/** A statement outlives the deadline of its operation, which is at most 5 seconds, by at most one second. */
const PG_SETTINGS =
  '-c default_transaction_isolation=read\\ committed -c statement_timeout=6s -c idle_in_transaction_session_timeout=10s';

const asText = (value: string): string => value;

/** Text and 64-bit integers stay text. Columns of users may have other types, parsed as for the application. */
const PG_PARSERS: Readonly<Record<number, (text: string) => unknown>> = {
  ...{ 16: (value) => value === 't', 21: Number, 23: Number, 700: Number, 701: Number },
  ...{ 20: asText, 25: asText, 1042: asText, 1043: asText, 1700: asText, 2950: asText },
};

/** Returns the library's type parsers, which do not depend on those that the application has set. */
export function pgTypes(dataSource: DataSource): TypeParsers {
  const { types } = driverOf(dataSource).postgres ?? {};
  return { getTypeParser: (type, format) => PG_PARSERS[type] ?? types?.getTypeParser(type, format) ?? asText };
}

/** Makes `mysql2` and `mysql` return rows as the library expects them, whatever the application has configured. */
export const MYSQL_RESULTS = {
  typeCast: (_field: unknown, next: () => unknown): unknown => next(),
  ...{ rowsAsArray: false, nestTables: false, supportBigNumbers: true, bigNumberStrings: true },
} as const;

/** Options of an application's pool that the library's pool must not have. `mysql2` warns about unknown options. */
const MYSQL_REMOVED = ['maxIdle', 'idleTimeout', 'resetOnRelease', 'queryFormat', 'decimalNumbers'];

export interface Pool {
  obtain(): Promise<Lease>;
  /** Closes the connections that are not in use. Resolves when all connections are closed. */
  end(): Promise<void>;
}

/**
 * Opens a pool to the primary with the address and credentials of the DataSource, and at most `size` connections.
 * @param sendsSettings whether PostgreSQL receives the library's settings as startup parameters
 */
export async function openPool(dataSource: DataSource, size: number, sendsSettings: boolean): Promise<Pool> {
  const options = dataSource.options as unknown as Options;
  const driver = driverOf(dataSource);
  const credentials = options.replication?.master ?? options;
  const given = options.connectTimeoutMS || options.connectTimeout;
  const connectTimeout = Math.min(given || CONNECT_TIMEOUT_MS, CONNECT_TIMEOUT_MS);
  const isPostgres = options.type === 'postgres';
  let pool: DriverPool;
  if (isPostgres) {
    const extra = {
      ...options.extra,
      ...{ max: size, min: 0, connectionTimeoutMillis: connectTimeout, binary: false },
      ...{ idleTimeoutMillis: IDLE_MS, allowExitOnIdle: true, onConnect: undefined, verify: undefined },
      ...{ options: sendsSettings ? PG_SETTINGS : undefined, client_encoding: undefined, query_timeout: undefined },
      ...{ statement_timeout: undefined, lock_timeout: undefined, idle_in_transaction_session_timeout: undefined },
    };
    const own = { extra, parseInt8: undefined, logNotifications: false, poolErrorHandler: ignore };
    pool = await driver.createPool({ ...options, ...own }, credentials);
  } else {
    const inherited = Object.entries(await driver.createConnectionOptions(options, credentials));
    pool = await driver.createPool({
      ...Object.fromEntries(inherited.filter(([name]) => !MYSQL_REMOVED.includes(name))),
      ...{ ...MYSQL_RESULTS, typeCast: true, charset: 'UTF8MB4_UNICODE_CI' },
      ...{ multipleStatements: false, namedPlaceholders: false },
      ...{ connectionLimit: size, queueLimit: 0, waitForConnections: true, connectTimeout },
      // Without this flag, an UPDATE does not count the rows whose values do not change.
      flags: String(options.flags ?? '').replace(/-FOUND_ROWS/gi, ''),
      // The server limits the sum of all connections, to 16,382 by default.
      maxPreparedStatements: 64,
    });
  }
  const obtain = (): Promise<Lease> =>
    new Promise((resolve, reject) =>
      pool[isPostgres ? 'connect' : 'getConnection']((error, connection, release) => {
        if (error) reject(error);
        else resolve(isPostgres ? { connection, release } : mysqlLease(connection));
      }),
    );
  return { obtain, end: () => new Promise((resolve) => pool.end(resolve)) };
}

const idleTimers = new WeakMap<DriverConnection, NodeJS.Timeout>();

/** Closes idle connections, as `pg` does: `mysql2` does it with a timer that keeps the process alive. */
function mysqlLease(connection: DriverConnection): Lease {
  clearTimeout(idleTimers.get(connection));
  socketOf(connection)?.ref?.();
  const quit = (): void => {
    // After `destroy()`, the server would log an aborted connection.
    connection._removeFromPool();
    connection._realEnd(ignore);
  };
  const release = (isBroken: boolean): void => {
    if (isBroken) return connection.destroy!();
    socketOf(connection)?.unref?.();
    idleTimers.set(connection, setTimeout(quit, IDLE_MS).unref());
    connection.release();
  };
  return { connection, release };
}

export async function obtainShared(dataSource: DataSource): Promise<Lease> {
  const obtained = await driverOf(dataSource).obtainMasterConnection();
  if (Array.isArray(obtained)) return { connection: obtained[0], release: obtained[1] };
  return { connection: obtained, release: (isBroken) => (isBroken ? close(obtained) : obtained.release()) };
}

/** Undefined if the driver only imitates `pg`. */
export function sessionOf({ processID, threadId }: DriverConnection): number | undefined {
  return processID ?? threadId;
}

/** Closes a connection. `mysql2` removes it from its pool immediately, `pg` when it is released. */
export function close(connection: DriverConnection): void {
  if (connection.destroy) connection.destroy();
  else void connection.end?.().catch(ignore);
}

/** Breaks the connection, so that pending queries fail immediately. */
export function tearDown(connection: DriverConnection): void {
  socketOf(connection)?.destroy();
}

function socketOf({ connection, stream, _socket }: DriverConnection): Socket | undefined {
  return connection?.stream ?? stream ?? _socket;
}

/** Ignores an error of a connection, which also makes its next query fail. An error without a listener ends Node. */
export function ignore(): void {}

export function sqliteConnection<T>(dataSource: DataSource): T {
  return driverOf(dataSource).databaseConnection as T;
}

/** TypeORM runs nested transactions as savepoints. */
export function transactionDepth(runner: QueryRunner): number {
  return (runner as unknown as { transactionDepth: number }).transactionDepth;
}

/** Returns the table of an entity with its schema or database, so that a setting cannot select a different table. */
export function tablePath({ driver, options }: DataSource, metadata: EntityMetadata): string {
  const { database, schema, tableName } = driver.parseTableName(metadata);
  const qualifier = options.type === 'postgres' ? schema : options.type === 'better-sqlite3' ? undefined : database;
  const path = qualifier === undefined ? metadata.tablePath.split('.') : [qualifier, tableName];
  return path.map((name) => driver.escape(name)).join('.');
}
