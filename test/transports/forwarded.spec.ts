import { createDatabase, type TestDatabase } from '../support/databases';
import { Host, type HostOptions, type PlatformName } from '../support/host';

describe.each(['express', 'fastify'] as PlatformName[])('the header X-Forwarded-For on %s', (platform) => {
  let database: TestDatabase;
  let host: Host;
  const start = async (options: Partial<HostOptions> = {}): Promise<void> => {
    database = await createDatabase('sqlite');
    host = await Host.start({ database, platform, users: [], ...options });
  };
  afterEach(async () => {
    await host.close();
    await database.drop();
  });
  const warnings = (): string[] => host.logs.filter((line) => line.includes('X-Forwarded-For'));
  const forwarded = async (path = '/open'): Promise<unknown> =>
    host.http.get(path).set('X-Forwarded-For', '192.0.2.1').expect(200);

  it('causes one warning if no proxy is trusted', async () => {
    await start();
    await host.http.get('/open').expect(200);
    expect(warnings()).toEqual([]);
    await forwarded();
    await forwarded();
    const setting = platform === 'express' ? 'trust proxy' : 'trustProxy';
    expect(warnings()).toEqual([expect.stringContaining(`'${setting}' is off`)]);
  });

  it('is warned about without controllers of the library too', async () => {
    await start({ auth: { controllers: false } });
    await forwarded();
    expect(warnings()).toHaveLength(1);
  });

  it('is not warned about where proxies are trusted', async () => {
    await start({ trustProxy: 'loopback' });
    await forwarded();
    expect(warnings()).toEqual([]);
  });

  it('may give an address with a port, which is stored without it', async () => {
    await start({ trustProxy: 'loopback', users: ['alice'] });
    const addresses: unknown[] = [];
    for (const address of ['192.0.2.1:1234', '[2001:db8::1]:443', '[2001:db8::2]']) {
      await host.http
        .post('/auth/login')
        .set('X-Forwarded-For', address)
        .send({ username: 'alice', password: 'wrong' })
        .expect(400);
      addresses.push(host.sent('login_failed').at(-1)!.ipAddress);
    }
    expect(addresses).toEqual(['192.0.2.1', '2001:db8::1', '2001:db8::2']);
  });

  it('without a valid address is not stored, and all attempts with one are counted together', async () => {
    await start({ trustProxy: 'loopback', users: ['alice'] });
    const login = (forwardedFor: string) =>
      host.http.post('/auth/login').set('X-Forwarded-For', forwardedFor).send({ username: 'alice', password: 'wrong' });
    const forged = ["192.0.2.1' OR 1=1 --", '999.999.999.999', 'unknown', '<script>', 'x'.repeat(4_000)];
    for (const value of [...forged, ...forged]) await login(value).expect(400);
    await login('another').expect(429);
    expect(host.sent('login_failed').map(({ ipAddress }) => ipAddress)).toEqual(Array<null>(10).fill(null));
    const tables = host.dataSource.entityMetadatas.map(({ tableName }) => tableName);
    const rows = await Promise.all(tables.map((table) => host.dataSource.query(`SELECT * FROM ${table}`)));
    const kept = JSON.stringify([rows, host.signals, host.logs]);
    for (const value of forged) expect(kept).not.toContain(value);
  });
});
