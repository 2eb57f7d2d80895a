import { createDatabase, type TestDatabase } from '../../support/databases';
import { TestApplication, type TestApplicationOptions, type PlatformName } from '../../support/test-application';

describe.each(['express', 'fastify'] as PlatformName[])('the header X-Forwarded-For on %s', (platform) => {
  let database: TestDatabase;
  let app: TestApplication;
  const start = async (options: Partial<TestApplicationOptions> = {}): Promise<void> => {
    database = await createDatabase('sqlite');
    app = await TestApplication.start({ database, platform, users: [], ...options });
  };
  afterEach(async () => {
    await app.close();
    await database.drop();
  });
  const warnings = (): string[] => app.logs.filter((line) => line.includes('X-Forwarded-For'));
  const forwarded = async (path = '/open'): Promise<unknown> =>
    app.http.get(path).set('X-Forwarded-For', '192.0.2.1').expect(200);

  it('the header causes one warning if no proxy is trusted', async () => {
    await start();
    await app.http.get('/open').expect(200);
    expect(warnings()).toEqual([]);
    await forwarded();
    await forwarded();
    const setting = platform === 'express' ? 'trust proxy' : 'trustProxy';
    expect(warnings()).toEqual([expect.stringContaining(`'${setting}' is off`)]);
  });

  it("the header causes the warning even without the library's controllers", async () => {
    await start({ auth: { controllers: false } });
    await forwarded();
    expect(warnings()).toHaveLength(1);
  });

  it('the header causes no warning if proxies are trusted', async () => {
    await start({ trustProxy: 'loopback' });
    await forwarded();
    expect(warnings()).toEqual([]);
  });

  it('an address with a port is stored without the port', async () => {
    await start({ trustProxy: 'loopback', users: ['alice'] });
    const addresses: unknown[] = [];
    for (const address of ['192.0.2.1:1234', '[2001:db8::1]:443', '[2001:db8::2]']) {
      await app.http
        .post('/auth/login')
        .set('X-Forwarded-For', address)
        .send({ username: 'alice', password: 'wrong' })
        .expect(400);
      addresses.push(app.sent('login_failed').at(-1)!.ipAddress);
    }
    expect(addresses).toEqual(['192.0.2.1', '2001:db8::1', '2001:db8::2']);
    const rows: { ip_address: string }[] = await app.dataSource.query('SELECT ip_address FROM auth_events ORDER BY id');
    expect(rows.map((row) => row.ip_address)).toEqual(addresses);
  });

  it('an invalid address is not stored, and all login attempts with invalid addresses are counted together', async () => {
    await start({ trustProxy: 'loopback', users: ['alice'] });
    const login = (forwardedFor: string) =>
      app.http.post('/auth/login').set('X-Forwarded-For', forwardedFor).send({ username: 'alice', password: 'wrong' });
    const forged = ["192.0.2.1' OR 1=1 --", '999.999.999.999', 'unknown', '<script>', 'x'.repeat(4_000)];
    for (const value of [...forged, ...forged]) await login(value).expect(400);
    await login('another').expect(429);
    expect(app.sent('login_failed').map(({ ipAddress }) => ipAddress)).toEqual(Array<null>(10).fill(null));
    const tables = app.dataSource.entityMetadatas.map(({ tableName }) => tableName);
    const rows = await Promise.all(tables.map((table) => app.dataSource.query(`SELECT * FROM ${table}`)));
    const kept = JSON.stringify([rows, app.signals, app.logs]);
    for (const value of forged) expect(kept).not.toContain(value);
  });
});
