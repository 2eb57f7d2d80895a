import { Database } from '../../libs/auth/src/database/database';
import type { Connections } from '../../libs/auth/src/database/connections';
import type { Query } from '../../libs/auth/src/database/transaction';
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

/** Passes every statement of the library, except the settings of a new connection, through a hook. */
export class Tap {
  hook: Hook = {};

  constructor(private readonly app: TestApplication) {
    if (this.isSqlite) this.tapSqlite();
    else this.tapPool();
  }

  /** Lets every statement fail until the hook is replaced. */
  fail(error: Error = connectionLost()): void {
    this.hook = {
      before: ({ kind }) => {
        if (kind === 'statement') throw error;
      },
    };
  }

  get isSqlite(): boolean {
    return this.app.dataSource.options.type === 'better-sqlite3';
  }

  private tapPool(): void {
    const { dataSource } = this.app;
    this.tapConnections();
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

  /** Taps each statement that the library itself sends, including BEGIN and COMMIT. */
  private tapConnections(): void {
    const connections = connectionsOf(this.app);
    const send = connections.send.bind(connections);
    const { schema, database } = this.app.dataSource.driver;
    const qualifier = new RegExp(`(["\`])(?:${schema ?? database}|${database})\\1\\.(?=["\`])`, 'g');
    connections.send = async (connection, query, limitMs) => {
      // Hooks see the names of tables without their schema or database.
      const shown = query.sql.replace(qualifier, '');
      const call: Call = { kind: 'statement', sql: shown, params: [...(query.params ?? [])] };
      await this.hook.before?.(call);
      const sql = call.sql === shown ? query.sql : call.sql;
      const result = await send(connection, { ...query, sql, params: call.params }, limitMs);
      await this.hook.after?.(call);
      return result;
    };
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
    // Like the settings of connections to servers, those of SQLite are not passed through the hook.
    connection.exec = (sql) => (sql.startsWith('PRAGMA') ? exec(sql) : this.tapSync(sql, [], (call) => exec(call.sql)));
    connection.prepare = (sql) => {
      const { reader } = prepare(sql);
      const tapped =
        (method: 'all' | 'run') =>
        (...params: unknown[]): unknown =>
          this.tapSync(sql, params, (call) => prepare(call.sql)[method](...call.params));
      return { reader, all: tapped('all'), run: tapped('run') };
    };
    // Statements that are already prepared would bypass the hook.
    (database as unknown as { state: { prepared: Map<string, unknown> } }).state.prepared.clear();
  }

  private tapSync(sql: string, params: unknown[], run: (call: Call) => unknown): unknown {
    const call: Call = { kind: 'statement', sql, params };
    mustNotWait(this.hook.before?.(call));
    const result = run(call);
    mustNotWait(this.hook.after?.(call));
    return result;
  }
}

/** Returns the library's own connections. */
export function connectionsOf(app: Pick<TestApplication, 'nest'>): Connections {
  return app.nest.get<{ connections: Connections }>(Database).connections;
}

/** Runs work while the library waits for the database for at most the given time. */
export async function withDeadline<T>(
  app: TestApplication,
  answerWithinMs: number,
  work: () => Promise<T>,
): Promise<T> {
  const database = app.nest.get<{ answerWithinMs: number }>(Database);
  const usual = database.answerWithinMs;
  database.answerWithinMs = answerWithinMs;
  return work().finally(() => (database.answerWithinMs = usual));
}

/** Returns the error of a driver whose connection was lost. */
export const connectionLost = (): Error => Object.assign(new Error('Connection terminated'), { code: 'ECONNRESET' });

/** Returns a promise and the function that resolves it. */
export function pending(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve!: () => void;
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve };
}

function mustNotWait(result: void | Promise<void>): void {
  if (result instanceof Promise) throw new Error('On SQLite nothing can wait inside a unit of work.');
}
