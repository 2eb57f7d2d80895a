import { Database } from '../../libs/auth/src/store/database/database';
import type { DriverConnections, Send } from '../../libs/auth/src/store/database/driver-connections';
import { paramsInTransaction, type Query } from '../../libs/auth/src/store/database/transaction';
import type { Host } from './host';

/** A call to the database: a statement, BEGIN and COMMIT included, or on SQLite a whole unit of work. */
export interface Call {
  readonly kind: 'statement' | 'unit';
  /** Empty for a unit. */
  sql: string;
  params: unknown[];
  /** The statement of a unit that has only one. */
  readonly only?: Query;
}

/**
 * What a test does to the calls of one instance. `before` and `after` may throw, which the library sees as a failure of the
 * database, and `before` may change the statement. They may wait, but not at a statement on SQLite, where a unit of work runs
 * without giving up control: there they can wait before and after whole units.
 */
export interface Hook {
  before?(call: Call): void | Promise<void>;
  after?(call: Call): void | Promise<void>;
}

interface SqliteConnection {
  prepare(sql: string): { reader: boolean; all(...params: unknown[]): unknown; run(...params: unknown[]): unknown };
  exec(sql: string): unknown;
}

/** Passes every call of the library to its DataSource through a hook, from now on until the application is closed. */
export class Tap {
  hook: Hook = {};

  constructor(private readonly host: Host) {
    if (this.isSqlite) this.tapSqlite();
    else this.tapPool();
  }

  get isSqlite(): boolean {
    return this.host.dataSource.options.type === 'better-sqlite3';
  }

  private tapPool(): void {
    const { dataSource } = this.host;
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

  /** The library's own connections: each statement, BEGIN and COMMIT included. */
  private tapDriver(): void {
    const { connections } = this.host.app.get<{ connections: DriverConnections }>(Database);
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
    const database = this.host.app.get(Database);
    for (const name of ['transaction', 'autocommit', 'read'] as const) {
      const run = database[name].bind(database) as (...args: unknown[]) => Promise<unknown>;
      database[name] = (async (...args: unknown[]) => {
        const only = name === 'transaction' ? {} : { only: args[0] as Query };
        const call: Call = { kind: 'unit', sql: '', params: [], ...only };
        await this.hook.before?.(call);
        const result = await run(...args);
        await this.hook.after?.(call);
        return result;
      }) as never;
    }
    const driver = this.host.dataSource.driver as unknown as { databaseConnection: SqliteConnection };
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
    // Statements that were prepared before would bypass the hook. The settings are read again at once, unseen by it.
    const internals = database as unknown as { known: WeakMap<object, unknown>; knownOf(connection: object): unknown };
    internals.known.delete(connection);
    internals.knownOf(connection);
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
 * The statements of a call, by their first word. On SQLite the library sends a setting of the connection together with BEGIN and
 * COMMIT, which is no statement of its own.
 */
export function statementsOf({ kind, sql }: Call): string[] {
  if (kind !== 'statement') return [];
  const own = sql.split('; ').filter((part) => !part.startsWith('PRAGMA'));
  return own.map((part) => /^\w+/.exec(part)![0]);
}
