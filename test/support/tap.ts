import { Database } from '../../libs/auth/src/database/database';
import type { DriverConnections, Send } from '../../libs/auth/src/database/connections';
import { paramsInTransaction, type Query } from '../../libs/auth/src/database/transaction';
import type { TestApplication } from './test-application';

/** A call to the database: a statement (including BEGIN and COMMIT), or on SQLite a whole transaction. */
export interface Call {
  readonly kind: 'statement' | 'transaction';
  /** Empty for a transaction. */
  sql: string;
  params: unknown[];
  /** The statement of a transaction that has only one. */
  readonly only?: Query;
}

/**
 * Called around the database calls of one instance. `before` and `after` may throw, which the library treats as
 * a failure of the database. `before` may change the statement. `before` and `after` may return a promise. On
 * SQLite they may do so only for whole transactions, because the statements of a transaction run synchronously.
 */
export interface Hook {
  before?(call: Call): void | Promise<void>;
  after?(call: Call): void | Promise<void>;
}

interface SqliteConnection {
  prepare(sql: string): { reader: boolean; all(...params: unknown[]): unknown; run(...params: unknown[]): unknown };
  exec(sql: string): unknown;
}

/** Passes every call of the library to its DataSource through a hook, until the application is closed. */
export class Tap {
  hook: Hook = {};

  constructor(private readonly app: TestApplication) {
    if (this.isSqlite) this.tapSqlite();
    else this.tapPool();
  }

  get isSqlite(): boolean {
    return this.app.dataSource.options.type === 'better-sqlite3';
  }

  private tapPool(): void {
    const { dataSource } = this.app;
    this.tapDriver();
    const create = dataSource.createQueryRunner.bind(dataSource);
    dataSource.createQueryRunner = (mode) => {
      const runner = create(mode);
      const query = runner.query.bind(runner) as (sql: string, params?: unknown[], structured?: boolean) => unknown;
      const tapped = async (sql: string, params: unknown[] = [], structured = false): Promise<unknown> => {
        const call: Call = { kind: 'statement', sql, params };
        await this.hook.before?.(call);
        const result = await query(call.sql, call.params, structured);
        await this.hook.after?.(call);
        return result;
      };
      runner.query = tapped as typeof runner.query;
      return runner;
    };
  }

  /** Taps the library's own connections: each statement, including BEGIN and COMMIT. */
  private tapDriver(): void {
    const { connections } = this.app.nest.get<{ connections: DriverConnections }>(Database);
    const use = connections.use.bind(connections);
    connections.use = (deadline, work) =>
      use(deadline, (send, discard, connection) => {
        const tapped: Send = async (query, params) => {
          const call: Call = { kind: 'statement', sql: query.sql, params: [...query.params] };
          await this.hook.before?.(call);
          const isChanged =
            call.params.length !== query.params.length || call.params.some((param, i) => param !== query.params[i]);
          const result = await send({ ...query, sql: call.sql }, isChanged ? () => paramsInTransaction(call) : params);
          await this.hook.after?.(call);
          return result;
        };
        return work(tapped, discard, connection);
      });
  }

  private tapSqlite(): void {
    const database = this.app.nest.get(Database);
    for (const name of ['transaction', 'run', 'read'] as const) {
      const run = database[name].bind(database) as (...args: unknown[]) => Promise<unknown>;
      database[name] = (async (...args: unknown[]) => {
        const only = name === 'transaction' ? {} : { only: args[name === 'read' ? 0 : 1] as Query };
        const call: Call = { kind: 'transaction', sql: '', params: [], ...only };
        await this.hook.before?.(call);
        const result = await run(...args);
        await this.hook.after?.(call);
        return result;
      }) as never;
    }
    const driver = this.app.dataSource.driver as unknown as { databaseConnection: SqliteConnection };
    const connection = driver.databaseConnection;
    const [prepare, exec] = [connection.prepare.bind(connection), connection.exec.bind(connection)];
    connection.exec = (sql) => this.tapSync(sql, [], (call) => exec(call.sql));
    connection.prepare = (sql) => {
      const { reader } = prepare(sql);
      const tapped =
        (method: 'all' | 'run') =>
        (...params: unknown[]): unknown =>
          this.tapSync(sql, params, (call) => prepare(call.sql)[method](...call.params));
      return { reader, all: tapped('all'), run: tapped('run') };
    };
    // Statements that are already prepared would bypass the hook. The settings are read again here, which the
    // hook does not see.
    const internals = database as unknown as {
      connectionStates: WeakMap<object, unknown>;
      connectionState(connection: object): unknown;
    };
    internals.connectionStates.delete(connection);
    internals.connectionState(connection);
  }

  private tapSync(sql: string, params: unknown[], run: (call: Call) => unknown): unknown {
    const call: Call = { kind: 'statement', sql, params };
    mustNotWait(this.hook.before?.(call));
    const result = run(call);
    mustNotWait(this.hook.after?.(call));
    return result;
  }
}

function mustNotWait(result: void | Promise<void>): void {
  if (result instanceof Promise) throw new Error('On SQLite nothing can wait inside a unit of work.');
}

/**
 * Returns the first words of the statements of a call. On SQLite the library sends a PRAGMA together with BEGIN
 * and COMMIT, which does not count as a statement.
 */
export function statementsOf({ kind, sql }: Call): string[] {
  if (kind !== 'statement') return [];
  const own = sql.split('; ').filter((part) => !part.startsWith('PRAGMA'));
  return own.map((part) => /^\w+/.exec(part)![0]);
}
