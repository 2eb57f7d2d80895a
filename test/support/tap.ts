import { Database } from '../../libs/auth/src/store/sql/database';
import type { Deadline } from '../../libs/auth/src/store/sql/deadline';
import type { Query } from '../../libs/auth/src/store/sql/unit';
import type { Host } from './host';

/** What is asked of the database: a statement, BEGIN and COMMIT included, or on SQLite a whole unit. */
export interface Call {
  readonly kind: 'statement' | 'unit';
  sql: string;
  params: unknown[];
}

/**
 * What a test does to the calls of one instance. `before` and `after` may throw, which the library sees as the database's
 * failure, and `before` may change the statement. They may wait, but not for a statement on SQLite, where a unit runs without
 * giving up control: there they can wait around whole units.
 */
export interface Hook {
  before?(call: Call): void | Promise<void>;
  after?(call: Call): void | Promise<void>;
}

interface SqliteConnection {
  prepare(sql: string): { reader: boolean; all(...params: unknown[]): unknown; run(...params: unknown[]): unknown };
  exec(sql: string): unknown;
}

/** What is used of `Database`: its own bounds are around `runPrepared`. */
type Prepared = Record<'lookUp' | 'runPrepared', (query: Query, deadline?: Deadline) => Promise<unknown>>;

/** Stands between the library and its DataSource, from now on until the host is closed. */
export class Tap {
  hook: Hook = {};

  constructor(private readonly host: Host) {
    this.tapPrepared();
    if (host.dataSource.options.type === 'better-sqlite3') this.tapSqlite();
    else this.tapPool();
  }

  private tapPool(): void {
    const { dataSource } = this.host;
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

  /** What is prepared, which goes another way: within its deadline a statement, on SQLite a unit. */
  private tapPrepared(): void {
    const database = this.host.app.get<Prepared>(Database);
    const isSqlite = this.host.dataSource.options.type === 'better-sqlite3';
    const method = isSqlite ? 'lookUp' : 'runPrepared';
    const run = database[method].bind(database);
    database[method] = async (query, deadline) => {
      const call: Call = { kind: isSqlite ? 'unit' : 'statement', sql: query.sql, params: [...query.params] };
      await this.hook.before?.(call);
      const result = await run({ ...query, sql: call.sql, params: call.params }, deadline);
      await this.hook.after?.(call);
      return result;
    };
  }

  private tapSqlite(): void {
    const database = this.host.app.get(Database);
    for (const name of ['atomic', 'single'] as const) {
      const run = database[name].bind(database) as (...args: unknown[]) => Promise<unknown>;
      database[name] = (async (...args: unknown[]) => {
        const call: Call = { kind: 'unit', sql: '', params: [] };
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
  if (result instanceof Promise) throw new Error('On SQLite nothing can wait inside a unit.');
}
