import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { Database } from '../../libs/auth/src/database/database';
import { createDatabase, describeEachPooled, describeOn, DIALECTS, type TestDatabase } from '../support/databases';
import { WITHOUT_SOCKETS } from '../support/pg-without-sockets';
import { TestApplication, PASSWORD } from '../support/test-application';
import { Tap } from '../support/tap';
import { TcpProxy } from '../support/tcp-proxy';

const UNAVAILABLE = [503, { detail: 'The database is unavailable.' }];

describeEachPooled('an outage of %s', (name) => {
  let database: TestDatabase;
  let proxy: TcpProxy;
  let app: TestApplication;

  beforeAll(async () => {
    database = await createDatabase(name);
    const through = await TcpProxy.start((database.options as { url: string }).url);
    proxy = through.proxy;
    // A small pool, which two hanging connections exhaust.
    const bounds =
      DIALECTS[name] === 'postgres'
        ? { connectTimeoutMS: 1500, extra: { max: 2 } }
        : { connectTimeout: 1500, extra: { connectionLimit: 2 } };
    const options = { ...database.options, url: through.url, ...bounds } as DataSourceOptions;
    app = await TestApplication.start({ database: { ...database, options } });
  });
  afterAll(async () => {
    await app.close();
    await proxy.stop();
    await database.drop();
  });

  const breaks = { 'refuses connections': () => proxy.refuse(), 'does not answer any more': () => proxy.silence() };

  it.each(Object.entries(breaks))(
    'requests during an outage that %s fail with 503 in time, and later requests succeed without a restart',
    async (_, breakIt) => {
      const session = await app.login();
      await app.get('/me', session.access_token).expect(200);
      Object.assign(app.nest.get(Database), { answerWithinMs: 250 });
      await breakIt();
      const requests = [
        ...Array.from({ length: 6 }, () => app.get('/me', session.access_token)),
        app.refresh(session.refresh_token),
        app.http.post('/auth/login').send({ username: 'alice', password: PASSWORD }),
        app.post('/auth/logout', session.access_token),
      ];
      for (const { status, body, headers } of await Promise.all(requests)) {
        expect([status, body]).toEqual(UNAVAILABLE);
        expect(headers['retry-after']).toMatch(/^[15]$/);
      }
      await proxy.heal();
      // The pool may need its connect timeout to detect that a new connection hangs.
      let answer = await app.get('/me', session.access_token);
      for (let tries = 0; answer.status === 503 && tries < 20; tries++)
        answer = await app.get('/me', session.access_token);
      expect(answer.status).toBe(200);
      Object.assign(app.nest.get(Database), { answerWithinMs: 5_000 });
      const answers = await Promise.all(Array.from({ length: 10 }, () => app.get('/me', session.access_token)));
      expect(answers.map(({ status }) => status)).toEqual(Array<number>(10).fill(200));
      // Repeating a refresh that received no response is not reported as reuse.
      await app.refresh(session.refresh_token).expect(200);
      expect(app.sent('token_reuse_detected')).toEqual([]);
    },
  );

  it('an outage that ends idle connections of the pool causes no error', async () => {
    const session = await app.login();
    await proxy.refuse();
    await proxy.heal();
    await app.get('/me', session.access_token).expect(200);
    await app.refresh(session.refresh_token).expect(200);
  });
});

describeOn('postgres')('connections of %s whose sockets the driver hides, as pg-native does', (name) => {
  let database: TestDatabase;
  let proxy: TcpProxy;
  let app: TestApplication;

  beforeAll(async () => {
    database = await createDatabase(name);
    const through = await TcpProxy.start((database.options as { url: string }).url);
    proxy = through.proxy;
    const options = {
      ...database.options,
      url: through.url,
      driver: WITHOUT_SOCKETS,
      connectTimeoutMS: 1500,
    } as DataSourceOptions;
    app = await TestApplication.start({ database: { ...database, options } });
  });
  afterAll(async () => {
    await app.close();
    await proxy.stop();
    await database.drop();
  });

  async function recover(): Promise<void> {
    await proxy.heal();
    // Connections that were being opened end at the connect timeout.
    await sleep(2_000);
    Object.assign(app.nest.get(Database), { answerWithinMs: 2_000 });
  }

  it('connections that became silent are replaced at the deadline', async () => {
    const session = await app.login();
    const work = (): Promise<{ status: number }>[] => [
      app.get('/me', session.access_token),
      ...[1, 2, 3, 4, 5].map(() => app.http.post('/auth/login').send({ username: 'alice', password: PASSWORD })),
    ];
    await Promise.all(work());
    Object.assign(app.nest.get(Database), { answerWithinMs: 250 });
    proxy.silence();
    for (const { status } of await Promise.all(work())) expect(status).toBe(503);
    await recover();
    // Each connection that was idle in the meantime can cost one deadline.
    let statuses: number[] = [];
    for (let tries = 0; tries < 6 && !(statuses[0] === 200 && new Set(statuses).size === 1); tries++)
      statuses = (await Promise.all(work())).map(({ status }) => status);
    expect(statuses).toEqual(Array<number>(6).fill(200));
  });

  it('an entity whose statement received no response gives its connection back at the deadline', async () => {
    Object.assign(app.nest.get(Database), { answerWithinMs: 250 });
    const work = (): Promise<unknown> =>
      app.nest.get(Database).withManager(null, (manager) => manager.query('SELECT 1 AS one'));
    const all = (): Promise<unknown[]> =>
      Promise.all(Array.from({ length: 12 }, () => work().catch(({ code }: { code: string }) => code)));
    await all();
    proxy.silence();
    expect(new Set(await all())).toEqual(new Set(['database_unavailable']));
    await recover();
    for (const rows of await all()) expect(rows).toEqual([{ one: 1 }]);
  });
});

describeEachPooled('a login during a failure of %s', (name) => {
  it('the response does not wait until the count of the attempt is taken back', async () => {
    const database = await createDatabase(name);
    const app = await TestApplication.start({ database });
    Object.assign(app.nest.get(Database), { answerWithinMs: 60_000 });
    const tap = new Tap(app);
    let recover!: () => void;
    const recovered = new Promise<void>((resolve) => (recover = resolve));
    let beginTakingBack!: () => void;
    const isTakingBack = new Promise<void>((resolve) => (beginTakingBack = resolve));
    tap.hook = {
      before: ({ sql }) => {
        if (sql.startsWith('INSERT INTO') && sql.includes('auth_sessions')) throw new Error('out of order');
        if (!sql.startsWith('UPDATE') || !sql.includes('auth_login_failures')) return;
        beginTakingBack();
        return recovered;
      },
    };
    const { status, body } = await app.http.post('/auth/login').send({ username: 'alice', password: PASSWORD });
    expect([status, body]).toEqual(UNAVAILABLE);
    await isTakingBack;
    tap.hook = {};
    recover();
    await app.login();
    await app.close();
    await database.drop();
  });
});

/** A lock of another transaction, and the statement that takes it. */
const LOCKED = {
  'the session': 'SELECT * FROM auth_sessions FOR UPDATE',
  'the lock of the user': 'SELECT * FROM auth_user_locks FOR UPDATE',
  'the log': { postgres: 'LOCK TABLE auth_events IN EXCLUSIVE MODE', mysql: 'LOCK TABLES auth_events WRITE' },
} as const;

describeEachPooled('a lock of another transaction on %s', (name) => {
  let database: TestDatabase;
  let app: TestApplication;
  let other: DataSource;

  beforeAll(async () => {
    database = await createDatabase(name);
    app = await TestApplication.start({ database });
    other = await new DataSource({ ...database.options, entities: [], synchronize: false }).initialize();
  });
  afterAll(async () => {
    await other.destroy();
    await app.close();
    await database.drop();
  });

  async function whileLocked<T>(locks: readonly (keyof typeof LOCKED)[], work: () => Promise<T>): Promise<T> {
    const runner = other.createQueryRunner();
    await runner.startTransaction();
    for (const what of locks) {
      const sql = LOCKED[what];
      await runner.query(typeof sql === 'string' ? sql : sql[DIALECTS[name]]);
    }
    try {
      return await work();
    } finally {
      if (DIALECTS[name] === 'mysql') await runner.query('UNLOCK TABLES');
      await runner.rollbackTransaction();
      await runner.release();
    }
  }

  it.each<{ token: 'live' | 'used'; locks: (keyof typeof LOCKED)[] }>([
    { token: 'live', locks: ['the session'] },
    { token: 'live', locks: ['the log'] },
    { token: 'used', locks: ['the session'] },
    { token: 'used', locks: ['the lock of the user'] },
    // MariaDB cannot hold two locks in this test, because LOCK TABLES ends the transaction that holds the first lock.
    ...(DIALECTS[name] === 'postgres'
      ? [{ token: 'used' as const, locks: ['the lock of the user' as const, 'the log' as const] }]
      : []),
  ])(
    'a refresh with a $token token fails with 503 after 5 seconds in total if another transaction has locked $locks',
    async ({ token, locks }) => {
      const session = await app.login();
      const { body } = await app.refresh(session.refresh_token).expect(200);
      const presented = token === 'live' ? body.refresh_token : session.refresh_token;
      app.signals.length = 0;
      const [seconds, answer] = await whileLocked(locks, async () => {
        const startedAt = performance.now();
        const response = await app.refresh(presented);
        return [(performance.now() - startedAt) / 1_000, response] as const;
      });
      expect([answer.status, answer.body]).toEqual(UNAVAILABLE);
      expect(seconds).toBeGreaterThan(4);
      expect(seconds).toBeLessThan(6.5);
      // The refresh did not change anything, neither before nor after the response.
      expect(app.sent('token_reuse_detected')).toEqual([]);
      await app.get('/me', body.access_token).expect(200);
      await app.refresh(body.refresh_token).expect(200);
    },
  );
});
