import { setTimeout as sleep } from 'node:timers/promises';
import { AuthUser } from 'nestjs-session-auth';
import { describeEachPooled, DIALECTS } from '../support/databases';
import { UNAVAILABLE } from '../support/environment';
import { startForTest } from '../support/start-for-test';
import { SwitchingProxy } from '../support/switching-proxy';
import { Tap, withDeadline } from '../support/tap';
import { PASSWORD, type LoginAnswer, type TestApplication } from '../support/test-application';

/** The default of the option `connections`. */
const POOL_SIZE = 5;
const CLIENTS = 24;

/** Errors with which servers refuse writes. Their descriptions are in `test/database/failure.spec.ts`. */
const REFUSALS = {
  postgres: [{ code: '25006' }, { code: '57P03' }],
  mysql: [1290, 1836, 1036, 1047, 3100, 3032].map((errno) => ({ errno, message: 'WSREP has not yet prepared node' })),
};

describeEachPooled('a pool that is routed to a read-only server on %s', (name) => {
  let app: TestApplication;
  let proxy: SwitchingProxy;
  beforeEach(async () => {
    // All logins may be in flight before the first of them succeeds.
    app = await startForTest(name, { auth: { failedLogins: { throttleFrom: false } } });
    proxy = new SwitchingProxy(app);
  });

  const logins = (): Promise<LoginAnswer[]> => Promise.all(Array.from({ length: CLIENTS }, () => app.login()));
  const logout = (session: LoginAnswer) => app.post('/auth/logout', session.access_token);
  const expectAllServed = (answers: readonly { status: number }[]): void =>
    expect(answers.map(({ status }) => status)).toEqual(Array<number>(CLIENTS).fill(200));

  /** Makes the server read-only while every connection of the pool is used, so that each is routed to it. */
  async function switchBriefly(use: () => Promise<unknown> = () => proxy.use(POOL_SIZE)): Promise<void> {
    proxy.begin();
    await use();
    proxy.end();
  }
  const switchApplicationBriefly = () => switchBriefly(() => app.dataSource.query('SELECT 1'));

  it('the pool is replaced after the server was read-only for a short time, and no request fails with 503', async () => {
    const sessions = await logins();
    await switchBriefly();
    const opened = proxy.opened;
    expectAllServed(await Promise.all(sessions.map((session) => app.refresh(session.refresh_token))));
    expect(proxy.opened).toBeLessThanOrEqual(opened + POOL_SIZE);
    expect(app.sent('token_reuse_detected')).toEqual([]);
  });

  it('waiting requests are served within a second after the server is writable again, over few connections', async () => {
    const sessions = await logins();
    proxy.begin();
    await proxy.use(POOL_SIZE);
    const opened = proxy.opened;
    const waiting = sessions.map((session) => app.refresh(session.refresh_token).then());
    await sleep(1_500);
    // Every request detected the read-only server on one connection for its read and one for its write. Afterwards
    // only one request at a time retried.
    expect(proxy.opened - opened).toBeLessThan(2 * CLIENTS + 20);
    proxy.end();
    const endedAt = performance.now();
    expectAllServed(await Promise.all(waiting));
    expect(performance.now() - endedAt).toBeLessThan(1_000);
  });

  it('requests wait while a proxy refuses connections, until the proxy has found the new primary', async () => {
    const session = await app.login();
    proxy.begin();
    const waiting = logout(session).then();
    await sleep(300);
    proxy.refuse();
    await sleep(700);
    proxy.end();
    expect((await waiting).status).toBe(200);
  });

  it('writes to a server that stays read-only fail with 503 at the deadline, and the cause is logged once', async () => {
    const session = await app.login();
    proxy.begin();
    for (let i = 0; i < 2; i++) {
      const { status, body, headers } = await withDeadline(app, 400, async () => logout(session));
      expect([status, body, headers['retry-after']]).toEqual([503, UNAVAILABLE, '5']);
    }
    const logged = app.logs.filter((line) => line.includes('The database failed'));
    expect(logged).toEqual([expect.stringMatching(/The database failed: (25006|1792)\. The server is read-only/)]);
    await app.get('/me', session.access_token).expect(200);
    proxy.end();
    await logout(session).expect(200);
  });

  it('the whole pool is replaced when one write finds a read-only server, so that no read is stale', async () => {
    const session = await app.login();
    await switchBriefly();
    const opened = proxy.opened;
    await logout(session).expect(200);
    await proxy.use(POOL_SIZE);
    expect(proxy.opened).toBeGreaterThanOrEqual(opened + POOL_SIZE);
  });

  it('a connection of the application is closed if the creation of a user finds a read-only server', async () => {
    await switchApplicationBriefly();
    await app.auth.createUser({ username: 'carol', password: PASSWORD });
    expect(await app.dataSource.getRepository(AuthUser).countBy({ username: 'carol' })).toBe(1);
  });

  it('the library checks its connections after a transaction of the application found a read-only server', async () => {
    const session = await app.login();
    await switchBriefly();
    const id = await app.userId();
    await switchApplicationBriefly();
    const forgotten = app.dataSource.transaction((manager) => app.auth.inTransaction(manager).forgetUser(id));
    await expect(forgotten).rejects.toMatchObject({ code: 'database_unavailable' });
    const opened = proxy.opened;
    expect(await app.auth.authenticate(session.access_token)).not.toBeNull();
    expect(proxy.opened).toBeGreaterThan(opened);
  });

  it('an operation is retried if a statement or the COMMIT fails because the server refuses writes', async () => {
    const tap = new Tap(app);
    const session = await app.login();
    for (const refusal of REFUSALS[DIALECTS[name]]) {
      for (const at of ['UPDATE', 'COMMIT']) {
        let times = 5;
        tap.hook = {
          before: ({ sql }) => {
            if (sql.startsWith(at) && times-- > 0) throw Object.assign(new Error(), refusal);
          },
        };
        const { status } = await app.post('/auth/logout/all', session.access_token, { keep_current: true });
        expect([status, at, refusal]).toEqual([200, at, refusal]);
      }
    }
  });
});
