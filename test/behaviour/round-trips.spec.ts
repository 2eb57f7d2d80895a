import { createDatabase, DATABASES, type TestDatabase } from '../support/databases';
import { Host, PASSWORD } from '../support/host';
import { Tap } from '../support/tap';

/** What the database is asked for while something is done, one after another. */
async function roundTrips(host: Host, tap: Tap, work: () => Promise<unknown>): Promise<number> {
  await new Promise(setImmediate);
  let count = 0;
  const kind = host.dataSource.options.type === 'better-sqlite3' ? 'unit' : 'statement';
  tap.hook = { before: (call) => void (call.kind === kind && count++) };
  await work();
  tap.hook = {};
  return count;
}

describe.each(DATABASES)('the round trips to %s', (name) => {
  let database: TestDatabase;
  let host: Host;
  let tap: Tap;

  beforeAll(async () => {
    database = await createDatabase(name);
    host = await Host.start({ database });
    tap = new Tap(host);
  });
  afterAll(async () => {
    await host.close();
    await database.drop();
  });

  it('of a guarded request are one', async () => {
    const { access_token: token } = await host.login();
    expect(await roundTrips(host, tap, () => host.auth.authenticate(token))).toBe(1);
  });

  it('of a refresh are few', async () => {
    const { refresh_token: token } = await host.login();
    const most = { postgres: 1, mariadb: 7, sqlite: 1 }[name];
    expect(await roundTrips(host, tap, () => host.auth.refresh(token))).toBeLessThanOrEqual(most);
  });

  it('of a login are few, besides the hash', async () => {
    await host.login();
    const most = { postgres: 4, mariadb: 19, sqlite: 4 }[name];
    expect(await roundTrips(host, tap, () => host.login())).toBeLessThanOrEqual(most);
  });

  it('of the very first login of a user are as many', async () => {
    await host.auth.createUser({ username: 'carol', password: PASSWORD });
    const most = { postgres: 4, mariadb: 19, sqlite: 4 }[name];
    expect(await roundTrips(host, tap, () => host.login('carol'))).toBeLessThanOrEqual(most);
  });

  it.each([{ sessionPolicy: 'single' }, { sessionPolicy: 'max_count', maxSessions: 2 }] as const)(
    'of a login that ends another session are few too: %j',
    async (auth) => {
      const limited = await Host.start({ database, auth, users: [] });
      try {
        const most = { postgres: 4, mariadb: 21, sqlite: 4 }[name];
        await limited.login();
        await limited.login();
        expect(await roundTrips(limited, new Tap(limited), () => limited.login())).toBeLessThanOrEqual(most);
        expect(limited.sent('user_logged_out').length).toBeGreaterThan(0);
      } finally {
        await limited.close();
      }
    },
  );

  it('of the end of all sessions are as many for a hundred of them as for one', async () => {
    const end = async (sessions: number): Promise<number> => {
      const { access_token: token } = await host.login();
      for (let i = 1; i < sessions; i++) await host.login();
      const principal = (await host.auth.authenticate(token))!;
      return roundTrips(host, tap, () => host.auth.logoutAll(principal));
    };
    const forOne = await end(1);
    // The current one ends for another reason than the others, which is a statement more.
    expect(await end(100)).toBeLessThanOrEqual(forOne + 1);
  });

  it('of a reuse are as many for a hundred sessions as for one', async () => {
    const punish = async (sessions: number): Promise<number> => {
      const { refresh_token: token } = await host.login();
      for (let i = 1; i < sessions; i++) await host.login();
      await host.auth.refresh(token);
      const replay = host.auth.refresh.bind(host.auth, token);
      return roundTrips(host, tap, () => replay().catch(() => undefined));
    };
    expect(await punish(100)).toBe(await punish(1));
  });
});
