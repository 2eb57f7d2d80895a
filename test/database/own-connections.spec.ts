import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource, type DataSourceOptions, type QueryRunner } from 'typeorm';
import { Database } from '../../libs/auth/src/database/database';
import { describeEachPooled, describeOn, DIALECTS } from '../support/databases';
import { controllerOf, GUARD } from '../support/handlers';
import { databaseForTest, startForTest } from '../support/start-for-test';
import { connectionsOf } from '../support/tap';
import { CREDENTIALS, PASSWORD, TestApplication, type TestApplicationOptions } from '../support/test-application';

/** A guarded route that does not load an entity. */
const PingController = controllerOf('', [GUARD], { ping: [] });

describeEachPooled("the library's own connections on %s", (name) => {
  const isPostgres = DIALECTS[name] === 'postgres';
  const begin = isPostgres ? 'BEGIN ISOLATION LEVEL REPEATABLE READ' : 'START TRANSACTION';
  /** Starts an application whose DataSource has two connections. */
  async function start(rest: Partial<TestApplicationOptions> = {}, settings: object = {}): Promise<TestApplication> {
    const database = await databaseForTest(name);
    const limit = { extra: isPostgres ? { max: 2 } : { connectionLimit: 2 } };
    const options = { ...database.options, ...limit, ...settings } as DataSourceOptions;
    return startForTest({ ...database, options }, { ...rest, controllers: [PingController] });
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
    const app = await start({ auth: { connections: 2 } });
    const session = await app.login();
    const locker = app.dataSource.createQueryRunner();
    await locker.startTransaction();
    await locker.query('SELECT * FROM auth_user_locks FOR UPDATE');
    const logins = [1, 2, 3].map(() => app.login());
    await sleep(300);
    await app.get('/ping', session.access_token).expect(200);
    await locker.rollbackTransaction();
    await locker.release();
    await Promise.all(logins);
  });

  it('transactions that the application left open neither hide an ended session nor include the work of the library', async () => {
    const app = await start();
    const session = await app.login();
    await onEach(app, begin, 'SELECT * FROM auth_sessions');
    await app.post('/auth/logout', session.access_token).expect(200);
    for (let i = 0; i < 10; i++) await app.get('/ping', session.access_token).expect(401);
    const next = await app.login();
    await onEach(app, 'ROLLBACK');
    await app.get('/ping', next.access_token).expect(200);
  });

  it('settings that the application left on its connections change nothing', async () => {
    const app = await start();
    if (isPostgres) await app.dataSource.query('CREATE ROLE nsa_nobody');
    await onEach(
      app,
      ...(isPostgres
        ? ['SET ROLE nsa_nobody', 'SET search_path TO nowhere', 'SET TIME ZONE -7']
        : ["SET SESSION sql_mode = 'NO_BACKSLASH_ESCAPES,ANSI_QUOTES'", 'USE information_schema']),
    );
    const session = await app.login();
    const { body } = await app.refresh(session.refresh_token).expect(200);
    await app.get('/ping', body.access_token).expect(200);
    const evil = `x\\' OR 1=1 -- `;
    await app.http.post('/auth/login').send({ username: evil, password: PASSWORD }).expect(400);
    if (!isPostgres) return;
    await onEach(app, 'RESET ROLE');
    await app.dataSource.query('DROP ROLE nsa_nobody');
  });

  it('type parsers and casts of the application change nothing', async () => {
    const odd = (): string => 'odd';
    type Parse = (text: string) => unknown;
    type Types = { getTypeParser(oid: number): Parse; setTypeParser(oid: number, parse: Parse): void };
    const { types } = createRequire(__filename)('pg') as { types: Types };
    const changed = [16, 20, 23, 25, 1043, 1700];
    const parsers = changed.map((oid) => types.getTypeParser(oid));
    const app = await start();
    if (isPostgres) for (const oid of changed) types.setTypeParser(oid, odd);
    else {
      // The library opens its next connections with these options.
      await connectionsOf(app).close();
      const extra = { connectionLimit: 2, typeCast: odd, rowsAsArray: true, namedPlaceholders: true };
      Object.assign(app.dataSource.options, { extra });
    }
    try {
      const session = await app.auth.login(CREDENTIALS);
      const pair = await app.auth.refresh(session.refreshToken);
      const principal = await app.auth.authenticate(pair.accessToken);
      expect(principal).not.toBeNull();
      expect(await app.auth.logoutAll(principal!)).toBe(1);
      expect(await app.auth.authenticate(pair.accessToken)).toBeNull();
    } finally {
      changed.forEach((oid, index) => types.setTypeParser(oid, parsers[index]!));
    }
  });

  it('opens connections when they are needed, up to the option connections, and ends them with the application', async () => {
    const database = await databaseForTest(name);
    const observer = await new DataSource(database.options).initialize();
    const count = async (): Promise<number> => {
      const [{ n }] = await observer.query(
        isPostgres
          ? 'SELECT COUNT(*) AS n FROM pg_stat_activity WHERE datname = current_database()'
          : 'SELECT COUNT(*) AS n FROM information_schema.processlist WHERE db = DATABASE()',
      );
      return Number(n);
    };
    const alone = await count();
    const app = await TestApplication.start({ database, auth: { connections: 3 } });
    const before = await count();
    const sessions = await Promise.all(Array.from({ length: 9 }, () => app.auth.login(CREDENTIALS)));
    expect(await count()).toBeLessThanOrEqual(before + 3);
    await Promise.all(sessions.map(({ refreshToken }) => app.auth.refresh(refreshToken)));
    expect(await count()).toBeLessThanOrEqual(before + 3);
    await app.close();
    while ((await count()) > alone) await new Promise(setImmediate);
    await observer.destroy();
  });

  it('reports its statements, with the schema or database of its tables and without values, to the logger of the DataSource', async () => {
    const logged: [sql: string, parameters: unknown][] = [];
    const methods = ['logQueryError', 'logQuerySlow', 'logSchemaBuild', 'logMigration', 'log'];
    const logger = {
      ...Object.fromEntries(methods.map((method) => [method, () => undefined])),
      logQuery: (sql: string, parameters?: unknown[]) => void logged.push([sql, parameters]),
    };
    const app = await start({}, { logger, logging: true });
    logged.length = 0;
    const session = await app.auth.login(CREDENTIALS);
    const pair = await app.auth.refresh(session.refreshToken);
    await app.auth.authenticate(pair.accessToken);
    const tables = /\S*auth_(sessions|events|login_failures|user_locks)\b/g;
    const own = logged.filter(([sql]) => sql.search(tables) >= 0);
    expect(own.length).toBeGreaterThan(5);
    expect(own.map(([, parameters]) => parameters)).toEqual(own.map(() => undefined));
    expect(logged.map(([sql]) => sql)).toContain('COMMIT');
    const schema = isPostgres ? 'public' : String(app.dataSource.driver.database);
    const named = own.flatMap(([sql]) => sql.match(tables) ?? []);
    expect(named.filter((table) => !table.includes(schema))).toEqual([]);
  });
});

/** The methods of the driver that the tests replace. */
type Driver = Record<'createPool' | 'obtainMasterConnection', (...args: unknown[]) => Promise<unknown>>;

describeOn('postgres')('poolers and embedded databases in place of %s', (name) => {
  /** Starts an application whose driver was changed before the library connects. */
  const startWith = (change: (driver: Driver) => void): Promise<TestApplication> =>
    startForTest(name, { configure: (nest) => change(nest.get(DataSource).driver as unknown as Driver) });

  it('the library shares the connections of the DataSource of a database with only one session, and warns at startup', async () => {
    const app = await startWith((driver) => {
      // All connections report the same session, as those of an embedded database.
      const [create, obtain] = [driver.createPool.bind(driver), driver.obtainMasterConnection.bind(driver)];
      const mark = (connection: object): object => Object.assign(connection, { processID: 1 });
      driver.createPool = async (...args) =>
        ((await create(...args)) as { on(event: string, listener: typeof mark): unknown }).on('acquire', mark);
      driver.obtainMasterConnection = async () => {
        const [connection, release] = (await obtain()) as [object, unknown];
        return [mark(connection), release];
      };
    });
    expect(app.logs.filter((line) => line.includes('shares the connections of the DataSource'))).toHaveLength(1);
    const session = await app.login();
    await app.get('/me', session.access_token).expect(200);
    await app.refresh(session.refresh_token).expect(200);
    expect(connectionsOf(app).isShared).toBe(true);
  });

  it('PostgreSQL is used without settings if a pooler refuses them', async () => {
    const app = await startWith((driver) => {
      const create = driver.createPool.bind(driver);
      driver.createPool = (options, credentials) => {
        const { extra } = options as { extra: { options?: string } };
        if (!extra.options) return create(options, credentials);
        const message = 'unsupported startup parameter: options';
        return Promise.reject(Object.assign(new Error(message), { code: '08P01' }));
      };
    });
    await app.login();
    const timeout = await app.nest.get(Database).read({ sql: 'SHOW statement_timeout', params: [] });
    expect(timeout).toEqual([{ statement_timeout: '0' }]);
  });
});
