import { setTimeout as sleep } from 'node:timers/promises';
import { AuthUser } from 'nestjs-session-auth';
import { Database } from '../../libs/auth/src/store/database/database';
import { createDatabase, describeEachPooled, type TestDatabase } from '../support/databases';
import { Flap } from '../support/flap';
import { Host, PASSWORD, type LoginAnswer } from '../support/host';
import { Tap } from '../support/tap';

const POOL_SIZE = 10;
const CLIENTS = 24;

describeEachPooled('a pool that leads to a read-only server on %s', (name) => {
  let database: TestDatabase;
  let host: Host;
  let flap: Flap;

  beforeEach(async () => {
    database = await createDatabase(name);
    host = await Host.start({ database });
    flap = new Flap(host.dataSource);
  });
  afterEach(async () => {
    await host.close();
    await database.drop();
  });

  async function logins(count: number): Promise<LoginAnswer[]> {
    const sessions: LoginAnswer[] = [];
    while (sessions.length < count) sessions.push(await host.login());
    return sessions;
  }

  /** Uses every connection of the pool at once, so that each leads to the server of the moment. */
  async function useWholePool(): Promise<void> {
    const runners = Array.from({ length: POOL_SIZE }, () => host.dataSource.createQueryRunner());
    for (const runner of runners) await runner.connect();
    for (const runner of runners) await runner.release();
  }

  async function flapShortly(): Promise<void> {
    flap.begin();
    await useWholePool();
    flap.end();
  }

  it('is replaced after a short flap, and no request gets a 503', async () => {
    const sessions = await logins(CLIENTS);
    await flapShortly();
    const opened = flap.opened;
    const answers = await Promise.all(sessions.map((session) => host.refresh(session.refresh_token)));
    expect(answers.map(({ status }) => status)).toEqual(Array<number>(CLIENTS).fill(200));
    expect(flap.opened).toBeLessThanOrEqual(opened + POOL_SIZE);
    expect(host.sent('token_reuse_detected')).toEqual([]);
  });

  it('serves what waited for the end of the flap within a second, over few connections', async () => {
    const sessions = await logins(CLIENTS);
    flap.begin();
    await useWholePool();
    const opened = flap.opened;
    const waiting = sessions.map((session) => host.refresh(session.refresh_token).then());
    await sleep(1_500);
    // Every request found out itself, over a connection for its read and one for its write. Then one at a time tried again.
    expect(flap.opened - opened).toBeLessThan(2 * CLIENTS + 20);
    flap.end();
    const endedAt = performance.now();
    const answers = await Promise.all(waiting);
    expect(answers.map(({ status }) => status)).toEqual(Array<number>(CLIENTS).fill(200));
    expect(performance.now() - endedAt).toBeLessThan(1_000);
  });

  it('waits for a proxy too that refuses connections until it has found the new primary', async () => {
    const [session] = await logins(1);
    flap.begin();
    const waiting = host.post('/auth/logout', session!.access_token).then();
    await sleep(300);
    flap.refuse();
    await sleep(700);
    flap.end();
    expect((await waiting).status).toBe(200);
  });

  it('that stays read-only costs a 503 at the deadline, which the log explains', async () => {
    const [session] = await logins(1);
    Object.assign(host.app.get(Database), { answerWithinMs: 400 });
    flap.begin();
    const { status, body, headers } = await host.post('/auth/logout', session!.access_token);
    expect([status, body]).toEqual([503, { detail: 'The database does not answer.' }]);
    expect(headers['retry-after']).toBe('5');
    expect(host.logs.join('\n')).toMatch(/The database failed: (25006|1792)\. The server is read-only/);
    await host.get('/me', session!.access_token).expect(200);
    flap.end();
    await host.post('/auth/logout', session!.access_token).expect(200);
  });

  it('is replaced as a whole when one write finds out, so that no read is stale', async () => {
    const [session] = await logins(1);
    await flapShortly();
    const opened = flap.opened;
    await host.post('/auth/logout', session!.access_token).expect(200);
    await useWholePool();
    expect(flap.opened).toBeGreaterThanOrEqual(opened + POOL_SIZE);
  });

  it('is replaced once more after the DataSource was closed and opened again', async () => {
    const [session] = await logins(1);
    await flapShortly();
    await host.post('/auth/logout/all', session!.access_token, { keep_current: true }).expect(200);
    await host.dataSource.destroy();
    await host.dataSource.initialize();
    await host.get('/me', session!.access_token).expect(200);
    await flapShortly();
    await host.post('/auth/logout', session!.access_token).expect(200);
    await host.get('/me', session!.access_token).expect(401);
  });

  it('is replaced by what TypeORM does for the library too', async () => {
    await flapShortly();
    await host.auth.createUser({ username: 'carol', password: PASSWORD });
    expect(await host.dataSource.getRepository(AuthUser).countBy({ username: 'carol' })).toBe(1);
    await host.dataSource.getRepository(AuthUser).delete({ username: 'carol' });
  });

  it("is replaced after a transaction of the application's, which fails", async () => {
    const [session] = await logins(1);
    await flapShortly();
    const { id } = await host.dataSource.getRepository(AuthUser).findOneByOrFail({ username: 'alice' });
    const forget = (): Promise<unknown> =>
      host.dataSource.transaction((manager) => host.auth.inTransaction(manager).forgetUser(id));
    await expect(forget()).rejects.toMatchObject({ code: 'database_unavailable' });
    await host.get('/me', session!.access_token).expect(200);
    await forget();
    await host.get('/me', session!.access_token).expect(401);
  });

  const refusals: Record<typeof name, readonly { code?: string; errno?: number; message: string }[]> = {
    postgres: [
      { code: '25006', message: 'cannot execute UPDATE in a read-only transaction' },
      { code: '57P03', message: 'the database system is starting up' },
    ],
    mariadb: [
      { errno: 1290, message: 'The MariaDB server is running with the --read-only option' },
      { errno: 1836, message: 'Running in read-only mode' },
      { errno: 1036, message: "Table 'auth_sessions' is read only" },
      { errno: 1047, message: 'WSREP has not yet prepared node for application use' },
      { errno: 3100, message: "Error on observer while running replication hook 'before_commit'." },
      { errno: 3032, message: 'The server is currently in offline mode' },
    ],
  };

  it.each([...refusals[name]])('%j: an operation is run again, at its COMMIT too', async (refusal) => {
    const [session] = await logins(1);
    const tap = new Tap(host);
    for (const refused of ['UPDATE', 'COMMIT']) {
      let times = 5;
      tap.hook = {
        before: ({ sql }) => {
          if (sql.startsWith(refused) && times-- > 0) throw Object.assign(new Error(refusal.message), refusal);
        },
      };
      await host.post('/auth/logout/all', session!.access_token, { keep_current: true }).expect(200);
      tap.hook = {};
    }
  });
});
