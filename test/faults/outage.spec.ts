import type { DataSourceOptions } from 'typeorm';
import { Database } from '../../libs/auth/src/store/sql/database';
import { createDatabase, describeEachPooled, type TestDatabase } from '../support/databases';
import { Host, PASSWORD } from '../support/host';
import { Tap } from '../support/tap';
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
        expect(headers['retry-after']).toBe('5');
      }
      await proxy.heal();
      // The pool may need its connect timeout to find out that a connection it is making leads nowhere.
      let answer = await host.get('/me', session.access_token);
      for (let tries = 0; answer.status === 503 && tries < 10; tries++)
        answer = await host.get('/me', session.access_token);
      expect(answer.status).toBe(200);
      const answers = await Promise.all(Array.from({ length: 10 }, () => host.get('/me', session.access_token)));
      expect(answers.map(({ status }) => status)).toEqual(Array<number>(10).fill(200));
      // Nobody was wronged by requests that were not answered.
      await host.refresh(session.refresh_token).expect(200);
      expect(host.sent('token_reuse_detected')).toEqual([]);
    },
  );

  it('leaves no trace where connections in the pool were ended while nobody looked', async () => {
    const session = await host.login();
    await proxy.refuse();
    await proxy.heal();
    await host.get('/me', session.access_token).expect(200);
    await host.refresh(session.refresh_token).expect(200);
  });
});

describeEachPooled('a refresh that is done and whose answer is lost on %s', (name) => {
  const lose = (host: Host, meanwhile: () => Promise<unknown>): void => {
    const tap = new Tap(host);
    tap.hook = {
      after: async ({ sql }) => {
        if (sql !== 'COMMIT' && !sql.startsWith('WITH won')) return;
        tap.hook = {};
        await meanwhile();
        throw Object.assign(new Error('Connection terminated'), { code: 'ECONNRESET' });
      },
    };
  };

  it('is no theft where the password was changed before it was looked at again', async () => {
    const database = await createDatabase(name);
    const host = await Host.start({ database });
    const session = await host.login();
    const auth = host.auth;
    const principal = (await auth.authenticate(session.access_token))!;
    const change = { currentPassword: PASSWORD, newPassword: 'a password that is new' };
    lose(host, () => auth.changePassword(principal, change));
    await host.refresh(session.refresh_token).expect(400);
    expect(host.sent('token_reuse_detected')).toEqual([]);
    expect(host.sent('user_logged_out')).toEqual([]);
    await host.close();
    await database.drop();
  });
});
