import { DataSource, type DataSourceOptions } from 'typeorm';
import { Database } from '../../libs/auth/src/store/database/database';
import { createDatabase, describeEachPooled, type TestDatabase } from '../support/databases';
import { Host, PASSWORD } from '../support/host';
import { TcpProxy } from '../support/tcp-proxy';

const UNAVAILABLE = [503, { detail: 'The database does not answer.' }];

describeEachPooled('an outage of %s', (name) => {
  let database: TestDatabase;
  let proxy: TcpProxy;
  let host: Host;

  beforeAll(async () => {
    database = await createDatabase(name);
    const through = await TcpProxy.start((database.options as { url: string }).url);
    proxy = through.proxy;
    // A small pool, so that two connections that hang would be all of it.
    const bounds =
      name === 'postgres'
        ? { connectTimeoutMS: 300, extra: { max: 2 } }
        : { connectTimeout: 300, extra: { connectionLimit: 2 } };
    const options = { ...database.options, url: through.url, ...bounds } as DataSourceOptions;
    host = await Host.start({ database: { ...database, options } });
    Object.assign(host.app.get(Database), { answerWithinMs: 250 });
  });
  afterAll(async () => {
    await host.close();
    await proxy.stop();
    await database.drop();
  });

  const breaks = { 'refuses connections': () => proxy.refuse(), 'does not answer any more': () => proxy.silence() };

  it.each(Object.entries(breaks))(
    'that %s: 503 within bounds, and served again without a restart',
    async (_, breakIt) => {
      const session = await host.login();
      await host.get('/me', session.access_token).expect(200);
      await breakIt();
      const requests = [
        ...Array.from({ length: 6 }, () => host.get('/me', session.access_token)),
        host.refresh(session.refresh_token),
        host.http.post('/auth/login').send({ username: 'alice', password: PASSWORD }),
        host.post('/auth/logout', session.access_token),
      ];
      for (const { status, body, headers } of await Promise.all(requests)) {
        expect([status, body]).toEqual(UNAVAILABLE);
        expect(headers['retry-after']).toMatch(/^[15]$/);
      }
      await proxy.heal();
      // The pool may need its connect timeout to find out that a connection it is making leads nowhere.
      let answer = await host.get('/me', session.access_token);
      for (let tries = 0; answer.status === 503 && tries < 10; tries++)
        answer = await host.get('/me', session.access_token);
      expect(answer.status).toBe(200);
      const answers = await Promise.all(Array.from({ length: 10 }, () => host.get('/me', session.access_token)));
      expect(answers.map(({ status }) => status)).toEqual(Array<number>(10).fill(200));
      // A refresh that got no answer raises no alarm.
      await host.refresh(session.refresh_token).expect(200);
      expect(host.sent('token_reuse_detected')).toEqual([]);
    },
  );

  it('that ends idle connections of the pool goes unnoticed', async () => {
    const session = await host.login();
    await proxy.refuse();
    await proxy.heal();
    await host.get('/me', session.access_token).expect(200);
    await host.refresh(session.refresh_token).expect(200);
  });
});

/** What another transaction has locked, and the statement that locks it. */
const LOCKED = {
  'the session': 'SELECT * FROM auth_sessions FOR UPDATE',
  'the lock of the user': 'SELECT * FROM auth_user_locks FOR UPDATE',
  'the log': { postgres: 'LOCK TABLE auth_events IN EXCLUSIVE MODE', mariadb: 'LOCK TABLES auth_events WRITE' },
} as const;

describeEachPooled('a lock that another transaction keeps on %s', (name) => {
  let database: TestDatabase;
  let host: Host;
  let other: DataSource;

  beforeAll(async () => {
    database = await createDatabase(name);
    host = await Host.start({ database });
    other = await new DataSource({ ...database.options, entities: [], synchronize: false }).initialize();
  });
  afterAll(async () => {
    await other.destroy();
    await host.close();
    await database.drop();
  });

  async function whileLocked<T>(locks: readonly (keyof typeof LOCKED)[], work: () => Promise<T>): Promise<T> {
    const runner = other.createQueryRunner();
    await runner.startTransaction();
    for (const what of locks) {
      const sql = LOCKED[what];
      await runner.query(typeof sql === 'string' ? sql : sql[name]);
    }
    try {
      return await work();
    } finally {
      if (name === 'mariadb') await runner.query('UNLOCK TABLES');
      await runner.rollbackTransaction();
      await runner.release();
    }
  }

  it.each<{ token: 'live' | 'used'; locks: (keyof typeof LOCKED)[] }>([
    { token: 'live', locks: ['the session'] },
    { token: 'live', locks: ['the log'] },
    { token: 'used', locks: ['the session'] },
    { token: 'used', locks: ['the lock of the user'] },
    // On MariaDB LOCK TABLES ends the transaction that holds the other lock.
    ...(name === 'postgres'
      ? [{ token: 'used' as const, locks: ['the lock of the user' as const, 'the log' as const] }]
      : []),
  ])('delays the 503 of a refresh by 5 seconds as a whole: $token token, $locks', async ({ token, locks }) => {
    const session = await host.login();
    const { body } = await host.refresh(session.refresh_token).expect(200);
    const presented = token === 'live' ? body.refresh_token : session.refresh_token;
    host.signals.length = 0;
    const [seconds, answer] = await whileLocked(locks, async () => {
      const startedAt = performance.now();
      const response = await host.refresh(presented);
      return [(performance.now() - startedAt) / 1_000, response] as const;
    });
    expect([answer.status, answer.body]).toEqual(UNAVAILABLE);
    expect(seconds).toBeGreaterThan(4);
    expect(seconds).toBeLessThan(6.5);
    // Nothing was changed, then or later.
    expect(host.sent('token_reuse_detected')).toEqual([]);
    await host.get('/me', body.access_token).expect(200);
    await host.refresh(body.refresh_token).expect(200);
  });
});
