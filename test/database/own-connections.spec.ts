import { Controller, Get, UseGuards } from '@nestjs/common';
import { BearerAuthGuard } from 'nestjs-session-auth';
import { createRequire } from 'node:module';
import { DataSource, type DataSourceOptions, type QueryRunner } from 'typeorm';
import { Database } from '../../libs/auth/src/database/database';
import { createDatabase, describeEachPooled, describeOn, type TestDatabase, DIALECTS } from '../support/databases';
import { connectionsOf } from '../support/tap';
import { TestApplication, PASSWORD, type TestApplicationOptions } from '../support/test-application';

/** A guarded route that does not load an entity. */
@Controller()
class PingController {
  @Get('ping')
  @UseGuards(BearerAuthGuard)
  ping(): object {
    return { pong: true };
  }
}

const LIMIT = { postgres: { extra: { max: 2 } }, mysql: { extra: { connectionLimit: 2 } } } as const;

describeEachPooled("the library's own connections on %s", (name) => {
  let database: TestDatabase;
  const apps: TestApplication[] = [];

  beforeEach(async () => {
    database = await createDatabase(name);
  });
  afterEach(async () => {
    for (const app of apps.splice(0)) await app.close();
    await database.drop();
  });

  async function start(
    options: Partial<DataSourceOptions> = LIMIT[DIALECTS[name] === 'postgres' ? 'postgres' : 'mysql'],
    rest: Partial<TestApplicationOptions> = {},
  ): Promise<TestApplication> {
    const app = await TestApplication.start({
      ...rest,
      controllers: [PingController],
      database: { ...database, options: { ...database.options, ...options } as DataSourceOptions },
    });
    apps.push(app);
    return app;
  }

  /** Runs work while all connections of the application are in use. */
  async function whileExhausted(app: TestApplication, work: (runners: QueryRunner[]) => Promise<void>): Promise<void> {
    const runners = [app.dataSource.createQueryRunner(), app.dataSource.createQueryRunner()];
    for (const runner of runners) await runner.connect();
    await work(runners);
    for (const runner of runners) await runner.release();
  }

  /** Runs statements on each connection of the application. */
  async function onEach(app: TestApplication, ...statements: string[]): Promise<void> {
    await whileExhausted(app, async (runners) => {
      for (const runner of runners) for (const sql of statements) await runner.query(sql);
    });
  }

  it('guarded requests, logins and refreshes succeed while all connections of the application are in use', async () => {
    const app = await start();
    await whileExhausted(app, async () => {
      const session = await app.login();
      const { body } = await app.refresh(session.refresh_token).expect(200);
      await app.get('/ping', body.access_token).expect(200);
      await app.post('/auth/logout', body.access_token).expect(200);
      await app.get('/ping', body.access_token).expect(401);
    });
  });

  it('guarded requests succeed while other work uses all other connections of the library', async () => {
    const app = await start(undefined, { auth: { connections: 2 } });
    const session = await app.login();
    const locker = app.dataSource.createQueryRunner();
    await locker.startTransaction();
    await locker.query('SELECT * FROM auth_user_locks FOR UPDATE');
    const logins = [1, 2, 3].map(() => app.login());
    await new Promise((resolve) => setTimeout(resolve, 300));
    await app.get('/ping', session.access_token).expect(200);
    await locker.rollbackTransaction();
    await locker.release();
    await Promise.all(logins);
  });

  it('a transaction that the application left open does not let an ended session pass', async () => {
    const app = await start();
    const session = await app.login();
    await whileExhausted(app, async (runners) => {
      for (const runner of runners) {
        await runner.query(
          DIALECTS[name] === 'postgres' ? 'BEGIN ISOLATION LEVEL REPEATABLE READ' : 'START TRANSACTION',
        );
        await runner.query('SELECT * FROM auth_sessions');
      }
    });
    await app.post('/auth/logout', session.access_token).expect(200);
    for (let i = 0; i < 10; i++) await app.get('/ping', session.access_token).expect(401);
  });

  it('the work of the library is not part of a transaction that the application left open', async () => {
    const app = await start();
    await onEach(app, DIALECTS[name] === 'postgres' ? 'BEGIN' : 'START TRANSACTION');
    const session = await app.login();
    await onEach(app, 'ROLLBACK');
    await app.get('/ping', session.access_token).expect(200);
  });

  it('settings that the application left on its connections change nothing', async () => {
    const app = await start();
    const leaks =
      DIALECTS[name] === 'postgres'
        ? ['CREATE ROLE nsa_nobody', 'SET ROLE nsa_nobody', 'SET search_path TO nowhere', 'SET TIME ZONE -7']
        : ["SET SESSION sql_mode = 'NO_BACKSLASH_ESCAPES,ANSI_QUOTES'", 'USE information_schema'];
    const [first, ...others] = leaks;
    if (DIALECTS[name] === 'postgres') await app.dataSource.query(first!);
    await onEach(app, ...(DIALECTS[name] === 'postgres' ? others : leaks));
    const session = await app.login();
    const { body } = await app.refresh(session.refresh_token).expect(200);
    await app.get('/ping', body.access_token).expect(200);
    const evil = `x\\' OR 1=1 -- `;
    await app.http.post('/auth/login').send({ username: evil, password: PASSWORD }).expect(400);
    if (DIALECTS[name] === 'postgres') await onEach(app, 'RESET ROLE');
    if (DIALECTS[name] === 'postgres') await app.dataSource.query('DROP ROLE nsa_nobody');
  });

  it('type parsers and casts of the application change nothing', async () => {
    const odd = (): string => 'odd';
    const { types } = createRequire(__filename)('pg') as {
      types: {
        getTypeParser(oid: number): (text: string) => unknown;
        setTypeParser(oid: number, parse: (text: string) => unknown): void;
      };
    };
    const changed = [16, 20, 23, 25, 1043, 1700];
    const parsers = changed.map((oid) => types.getTypeParser(oid));
    const casts = { extra: { connectionLimit: 2, typeCast: odd, rowsAsArray: true, namedPlaceholders: true } };
    const app = await start(DIALECTS[name] === 'postgres' ? LIMIT.postgres : LIMIT.mysql);
    const second = DIALECTS[name] === 'postgres' ? app : await startOn(casts);
    if (DIALECTS[name] === 'postgres') for (const oid of changed) types.setTypeParser(oid, odd);
    try {
      const session = await second.auth.login({ username: 'alice', password: PASSWORD });
      const pair = await second.auth.refresh(session.refreshToken);
      const principal = await second.auth.authenticate(pair.accessToken);
      expect(principal).not.toBeNull();
      expect(await second.auth.logoutAll(principal!)).toBe(1);
      expect(await second.auth.authenticate(pair.accessToken)).toBeNull();
    } finally {
      changed.forEach((oid, index) => types.setTypeParser(oid, parsers[index]!));
    }
  });

  /** Starts an application on existing tables, without `synchronize`, which needs results of the default type. */
  async function startOn(options: object): Promise<TestApplication> {
    const app = await TestApplication.start({ database, users: [], controllers: [PingController] });
    apps.push(app);
    // The pool of the DataSource and that of the library are opened with these options.
    const { dataSource } = app;
    await connectionsOf(app).close();
    Object.assign(dataSource.options, options);
    return app;
  }

  it('calls inside a transaction of the application also ignore its settings and casts', async () => {
    const app = await start();
    const session = await app.login();
    const { id } = (await app.get('/me', session.access_token)).body as { id: string };
    await app.dataSource.transaction(async (manager) => {
      if (DIALECTS[name] === 'mysql') await manager.query("SET SESSION sql_mode = 'NO_BACKSLASH_ESCAPES'");
      await app.auth.inTransaction(manager).disableUser(id);
      if (DIALECTS[name] === 'mysql') {
        const [{ mode }] = await manager.query('SELECT @@sql_mode AS mode');
        expect(mode).toBe('NO_BACKSLASH_ESCAPES');
      }
    });
    await app.get('/ping', session.access_token).expect(401);
  });

  it('opens connections when they are needed, up to the option connections, and ends them with the application', async () => {
    const observer = await new DataSource(database.options).initialize();
    const count = async (): Promise<number> => {
      const [{ n }] = await observer.query(
        DIALECTS[name] === 'postgres'
          ? 'SELECT COUNT(*) AS n FROM pg_stat_activity WHERE datname = current_database()'
          : 'SELECT COUNT(*) AS n FROM information_schema.processlist WHERE db = DATABASE()',
      );
      return Number(n);
    };
    const alone = await count();
    const app = await TestApplication.start({ database, auth: { connections: 3 } });
    const before = await count();
    const sessions = await Promise.all(
      Array.from({ length: 9 }, () => app.auth.login({ username: 'alice', password: PASSWORD })),
    );
    expect(await count()).toBeLessThanOrEqual(before + 3);
    await Promise.all(sessions.map(({ refreshToken }) => app.auth.refresh(refreshToken)));
    expect(await count()).toBeLessThanOrEqual(before + 3);
    await app.close();
    while ((await count()) > alone) await new Promise(setImmediate);
    await observer.destroy();
  });

  it('responds with 503 after the application closed its DataSource, and the application can be closed', async () => {
    const app = await TestApplication.start({ database });
    const session = await app.login();
    await app.dataSource.destroy();
    await app.get('/me', session.access_token).expect(503);
    await app.dataSource.initialize();
    await app.get('/me', session.access_token).expect(200);
    await app.close();
  });

  it('reports its statements without values to the logger of the DataSource', async () => {
    const logged: [string, unknown][] = [];
    const logger = {
      logQuery: (sql: string, parameters?: unknown[]) => void logged.push([sql, parameters]),
      ...Object.fromEntries(
        ['logQueryError', 'logQuerySlow', 'logSchemaBuild', 'logMigration', 'log'].map((method) => [
          method,
          () => undefined,
        ]),
      ),
    };
    const app = await start({ logger, logging: true } as never);
    logged.length = 0;
    const session = await app.auth.login({ username: 'alice', password: PASSWORD });
    await app.auth.authenticate(session.accessToken);
    const own = logged.filter(([sql]) => /^(SELECT|INSERT).*auth_sessions/s.test(sql));
    expect(own.length).toBeGreaterThan(1);
    expect(own.map(([, parameters]) => parameters)).toEqual(own.map(() => undefined));
    expect(logged.map(([sql]) => sql)).toContain('COMMIT');
  });

  it('names its tables with their schema or database', async () => {
    const app = await start();
    const sql: string[] = [];
    const connections = connectionsOf(app);
    const send = connections.send.bind(connections);
    connections.send = (connection, query, limitMs) => {
      sql.push(query.sql);
      return send(connection, query, limitMs);
    };
    const session = await app.login();
    await app.refresh(session.refresh_token).expect(200);
    const tables = sql.flatMap(
      (text) => text.match(/\S*auth_(sessions|events|users|login_failures|user_locks)\b/g) ?? [],
    );
    expect(tables.length).toBeGreaterThan(5);
    const schema =
      DIALECTS[name] === 'postgres' ? 'public' : new URL((database.options as { url: string }).url).pathname.slice(1);
    expect(tables.filter((table) => !table.includes(schema))).toEqual([]);
  });
});

describeOn('postgres')('a database with only one session', () => {
  it('the library shares the connections of the DataSource and warns at startup', async () => {
    const database = await createDatabase('postgres');
    const app = await TestApplication.start({
      database,
      configure: (nest) => {
        // All connections report the same session, as those of an embedded database.
        const driver = nest.get(DataSource).driver as unknown as Record<
          'createPool' | 'obtainMasterConnection',
          (...args: unknown[]) => Promise<unknown>
        >;
        const [create, obtain] = [driver.createPool.bind(driver), driver.obtainMasterConnection.bind(driver)];
        const mark = (connection: object): object => Object.assign(connection, { processID: 1 });
        driver.createPool = async (...args) =>
          ((await create(...args)) as { on(event: string, listener: typeof mark): unknown }).on('acquire', mark);
        driver.obtainMasterConnection = async () => {
          const [connection, release] = (await obtain()) as [object, unknown];
          return [mark(connection), release];
        };
      },
    });
    expect(app.logs.filter((line) => line.includes('shares the connections of the DataSource'))).toHaveLength(1);
    const session = await app.login();
    await app.get('/me', session.access_token).expect(200);
    await app.refresh(session.refresh_token).expect(200);
    expect(connectionsOf(app).isShared).toBe(true);
    await app.close();
    await database.drop();
  });

  it('PostgreSQL is used without settings if a pooler refuses them', async () => {
    const database = await createDatabase('postgres');
    const app = await TestApplication.start({
      database,
      users: [],
      configure: (nest) => {
        const driver = nest.get(DataSource).driver as unknown as { createPool(...args: unknown[]): unknown };
        const create = driver.createPool.bind(driver);
        driver.createPool = (options, credentials) => {
          const { extra } = options as { extra: { options?: string } };
          if (!extra.options) return create(options, credentials);
          const message = 'unsupported startup parameter: options';
          return Promise.reject(Object.assign(new Error(message), { code: '08P01' }));
        };
      },
    });
    await app.auth.createUser({ username: 'carol', password: PASSWORD });
    await app.login('carol');
    expect(await app.nest.get(Database).read({ sql: 'SHOW statement_timeout', params: [] })).toEqual([
      { statement_timeout: '0' },
    ]);
    await app.close();
    await database.drop();
  });
});
