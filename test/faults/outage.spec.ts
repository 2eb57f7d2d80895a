import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSourceOptions } from 'typeorm';
import { Database } from '../../libs/auth/src/database/database';
import { createDatabase, describeEachPooled, describeOn, DIALECTS, type TestDatabase } from '../support/databases';
import { describeOnEachServer, UNAVAILABLE } from '../support/environment';
import { WITHOUT_SOCKETS } from '../support/pg-without-sockets';
import { pending, withDeadline } from '../support/tap';
import { TestApplication, PASSWORD } from '../support/test-application';
import { TcpProxy } from '../support/tcp-proxy';

const CREDENTIALS = { username: 'alice', password: PASSWORD };

interface Proxied {
  readonly app: TestApplication;
  readonly proxy: TcpProxy;
}

/** Returns an application that reaches its database through a proxy, for all tests of a suite. */
function startProxied(name: 'postgres' | 'postgres18' | 'mariadb' | 'mysql9', settings: object): Proxied {
  const proxied = {} as { app: TestApplication; proxy: TcpProxy };
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createDatabase(name);
    const { proxy, url } = await TcpProxy.start((database.options as { url: string }).url);
    const options = { ...database.options, url, ...settings } as DataSourceOptions;
    Object.assign(proxied, { proxy, app: await TestApplication.start({ database: { ...database, options } }) });
  });
  afterAll(async () => {
    await proxied.app.close();
    await proxied.proxy.refuse();
    await database.drop();
  });
  return proxied;
}

describeEachPooled('an outage of %s', (name) => {
  // A small pool, which two hanging connections exhaust.
  const proxied = startProxied(
    name,
    DIALECTS[name] === 'postgres'
      ? { connectTimeoutMS: 1500, extra: { max: 2 } }
      : { connectTimeout: 1500, extra: { connectionLimit: 2 } },
  );

  it.each(['refuses connections', 'does not answer any more'])(
    'requests during an outage that %s fail with 503 in time, and later requests succeed without a restart',
    async (outage) => {
      const { app, proxy } = proxied;
      const session = await app.login();
      const get = async () => app.get('/me', session.access_token);
      expect((await get()).status).toBe(200);
      await withDeadline(app, 250, async () => {
        if (outage === 'refuses connections') await proxy.refuse();
        else proxy.silence();
        const requests = [
          ...Array.from({ length: 6 }, get),
          app.refresh(session.refresh_token),
          app.http.post('/auth/login').send(CREDENTIALS),
          app.post('/auth/logout', session.access_token),
        ];
        for (const { status, body, headers } of await Promise.all(requests)) {
          expect([status, body]).toEqual([503, UNAVAILABLE]);
          expect(headers['retry-after']).toMatch(/^[15]$/);
        }
        await proxy.heal();
        // The pool may need its connect timeout to detect that a new connection hangs.
        let answer = await get();
        for (let tries = 0; answer.status === 503 && tries < 20; tries++) answer = await get();
        expect(answer.status).toBe(200);
      });
      const answers = await Promise.all(Array.from({ length: 10 }, get));
      expect(answers.map(({ status }) => status)).toEqual(Array<number>(10).fill(200));
      // Repeating a refresh that received no response is not reported as reuse.
      await app.refresh(session.refresh_token).expect(200);
      expect(app.sent('token_reuse_detected')).toEqual([]);
    },
  );
});

describeOn('postgres')('connections of %s whose sockets the driver hides, as pg-native does', (name) => {
  const proxied = startProxied(name, { driver: WITHOUT_SOCKETS, connectTimeoutMS: 500 });

  /** Runs work while connections are silent, and again when they answer. */
  async function silenced<T>(work: () => Promise<T>): Promise<T> {
    const { app, proxy } = proxied;
    const result = await withDeadline(app, 250, async () => {
      proxy.silence();
      return work();
    });
    await proxy.heal();
    // Connections that were being opened end at the connect timeout.
    await sleep(700);
    return result;
  }

  it('connections that became silent are replaced at the deadline', async () => {
    const { app } = proxied;
    const session = await app.login();
    const work = async (): Promise<number[]> => {
      const requests = [
        app.get('/me', session.access_token),
        ...[1, 2, 3, 4, 5].map(() => app.http.post('/auth/login').send(CREDENTIALS)),
      ];
      return (await Promise.all(requests)).map(({ status }) => status);
    };
    await work();
    expect(await silenced(work)).toEqual(Array<number>(6).fill(503));
    // Each connection that was idle in the meantime can cost one deadline.
    let statuses: number[] = [];
    await withDeadline(app, 2_000, async () => {
      for (let tries = 0; tries < 6 && statuses.join() !== Array<number>(6).fill(200).join(); tries++) {
        statuses = await work();
      }
    });
    expect(statuses).toEqual(Array<number>(6).fill(200));
  });

  it('an entity whose statement received no response gives its connection back at the deadline', async () => {
    const database = proxied.app.nest.get(Database);
    const work = (): Promise<unknown> => database.withManager(null, (manager) => manager.query('SELECT 1 AS one'));
    const all = (): Promise<unknown[]> =>
      Promise.all(Array.from({ length: 12 }, () => work().catch(({ code }: { code: string }) => code)));
    await all();
    expect(new Set(await silenced(all))).toEqual(new Set(['database_unavailable']));
    for (const rows of await all()) expect(rows).toEqual([{ one: 1 }]);
  });
});

/** A lock of another transaction, and the statement that takes it. */
const LOCKED = {
  'the session': 'SELECT * FROM auth_sessions FOR UPDATE',
  'the lock of the user': 'SELECT * FROM auth_user_locks FOR UPDATE',
  'the log': { postgres: 'LOCK TABLE auth_events IN EXCLUSIVE MODE', mysql: 'LOCK TABLES auth_events WRITE' },
} as const;

type Lock = keyof typeof LOCKED;
type Locked = readonly [operation: 'login' | 'refresh' | 'reuse', locks: string, deadlineMs: number];

const BOTH_LOCKS: Locked = ['reuse', 'the lock of the user and the log', 400];

describeOnEachServer('a failure of the database', { auth: { sessionPolicy: 'single' } }, ({ app, name, tap }) => {
  const isPostgres = DIALECTS[name] === 'postgres';

  it('the response does not wait until the count of a login attempt is taken back', async () => {
    const recovered = pending();
    const takingBack = pending();
    tap.hook = {
      before: ({ sql }) => {
        if (sql.startsWith('INSERT INTO') && sql.includes('auth_sessions')) throw new Error('out of order');
        if (!sql.startsWith('UPDATE') || !sql.includes('auth_login_failures')) return;
        takingBack.resolve();
        return recovered.promise;
      },
    };
    const login = async () => app.http.post('/auth/login').send(CREDENTIALS);
    const { status, body } = await withDeadline(app, 60_000, login);
    expect([status, body]).toEqual([503, UNAVAILABLE]);
    await takingBack.promise;
    tap.hook = {};
    recovered.resolve();
    await app.login();
  });

  async function whileLocked<T>(locks: readonly Lock[], work: () => Promise<T>): Promise<T> {
    const runner = app.dataSource.createQueryRunner();
    await runner.startTransaction();
    for (const what of locks) {
      const sql = LOCKED[what];
      await runner.query(typeof sql === 'string' ? sql : sql[isPostgres ? 'postgres' : 'mysql']);
    }
    try {
      return await work();
    } finally {
      if (!isPostgres) await runner.query('UNLOCK TABLES');
      await runner.rollbackTransaction();
      await runner.release();
    }
  }

  /** Waits until no other connection runs a statement. */
  async function waitForOtherStatements(): Promise<void> {
    const busy = isPostgres
      ? `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND state = 'active'`
      : `SELECT 1 FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID() AND command = 'Query'`;
    while ((await app.dataSource.query<unknown[]>(busy)).length > 0) await new Promise(setImmediate);
  }

  /** The first row waits for the default of five seconds. */
  it.each<Locked>([
    ['refresh', 'the session', 5_000],
    ['refresh', 'the log', 400],
    ['reuse', 'the session', 400],
    ['reuse', 'the lock of the user', 400],
    // MariaDB cannot hold two locks in this test, because LOCK TABLES ends the transaction that holds the first lock.
    ...(isPostgres ? [BOTH_LOCKS] : []),
    ['login', 'the session', 400],
    ['login', 'the lock of the user', 400],
    ['login', 'the log', 400],
  ])(
    'a %s fails with 503 if another transaction has locked %s, after %d ms in total, and changes nothing afterwards',
    async (operation, locked, deadlineMs) => {
      const session = await app.login();
      const { body: live } = await app.refresh(session.refresh_token).expect(200);
      app.signals.length = 0;
      const rows = (): Promise<unknown[]> =>
        Promise.all(
          ['auth_sessions', 'auth_events'].map((table) => app.dataSource.query(`SELECT * FROM ${table} ORDER BY 1`)),
        );
      const before = await rows();
      const run = async () => {
        if (operation === 'login') return app.http.post('/auth/login').send(CREDENTIALS);
        return app.refresh(operation === 'refresh' ? live.refresh_token : session.refresh_token);
      };
      const startedAt = performance.now();
      const answer = await whileLocked(locked.split(' and ') as Lock[], () => withDeadline(app, deadlineMs, run));
      const elapsedMs = performance.now() - startedAt;
      expect([answer.status, answer.body]).toEqual([503, UNAVAILABLE]);
      expect(elapsedMs).toBeGreaterThan(0.8 * deadlineMs);
      expect(elapsedMs).toBeLessThan(deadlineMs + 1_500);
      await waitForOtherStatements();
      expect(await rows()).toEqual(before);
      expect(app.sent('token_reuse_detected')).toEqual([]);
      await app.get('/me', live.access_token).expect(200);
      await app.refresh(live.refresh_token).expect(200);
    },
  );
});
