import { createDatabase, type TestDatabase } from '../../support/databases';
import { TestApplication, type TestApplicationOptions, type PlatformName } from '../../support/test-application';

const ORIGIN = 'https://app.example';

describe.each<PlatformName>(['express', 'fastify'])('proxies and CORS on %s', (platform) => {
  let database: TestDatabase;
  let app: TestApplication;

  const start = async (options: Omit<TestApplicationOptions, 'database' | 'platform'>): Promise<void> => {
    database = await createDatabase('sqlite');
    app = await TestApplication.start({ database, platform, ...options });
  };
  afterEach(async () => {
    await app.close();
    await database.drop();
  });

  /** Returns the address that the library stores for a login with the given header. */
  const addressOf = async (forwardedFor: string): Promise<unknown> => {
    const { body } = await app.http
      .post('/auth/login')
      .set('X-Forwarded-For', forwardedFor)
      .set('Forwarded', 'for=192.0.2.99')
      .set('X-Real-IP', '192.0.2.98')
      .send({ username: 'alice', password: 'correct horse battery staple' })
      .expect(200);
    const sessions = await app.get('/auth/sessions', body.access_token).expect(200);
    return (sessions.body as { is_current: boolean; ip_address: string }[]).find((one) => one.is_current)?.ip_address;
  };

  it('forwarding headers are ignored unless the application trusts the proxy', async () => {
    await start({});
    expect(await addressOf('192.0.2.1')).toBe('127.0.0.1');
  });

  it('the address of a client is the one that the platform resolves behind one proxy', async () => {
    await start({ trustProxy: '127.0.0.1' });
    expect(await addressOf('192.0.2.1')).toBe('192.0.2.1');
    expect(await addressOf('192.0.2.66, 192.0.2.1')).toBe('192.0.2.1');
    expect(app.logs.filter((line) => line.includes('any client can forge'))).toEqual([]);
  });

  it('an application that trusts every proxy logs a warning at startup', async () => {
    await start({ trustProxy: true });
    expect(app.logs.filter((line) => line.includes('any client can forge its IP address'))).toHaveLength(1);
  });

  it('a preflight request needs no token even if a global guard protects every route', async () => {
    const cors = { origin: ORIGIN, methods: ['GET', 'POST', 'DELETE'] };
    await start({ auth: { globalGuard: true }, configure: (app) => app.enableCors(cors) });
    for (const [method, path] of [
      ['POST', '/auth/login/'],
      ['POST', '/auth/token/refresh'],
      ['POST', '/auth/logout'],
      ['DELETE', '/auth/sessions/5f0c6f0e-8a3e-4d6c-9a55-0d5a4f5a7b11'],
      ['GET', '/me'],
    ] as const) {
      const { status, headers } = await app.http
        .options(path)
        .set({ Origin: ORIGIN, 'Access-Control-Request-Method': method })
        .set('Access-Control-Request-Headers', 'authorization,content-type');
      expect([path, status]).toEqual([path, 204]);
      expect(headers['access-control-allow-origin']).toBe(ORIGIN);
      expect(headers['access-control-allow-methods']).toContain(method);
    }
  });

  it('a page on another origin can read error responses and their headers', async () => {
    const cors = { origin: ORIGIN, exposedHeaders: ['WWW-Authenticate', 'Retry-After'] };
    await start({ configure: (app) => app.enableCors(cors) });
    const refused = [
      [401, await app.http.get('/auth/sessions').set('Origin', ORIGIN)],
      [401, await app.http.get('/me').set('Origin', ORIGIN)],
      [400, await app.http.post('/auth/login').set('Origin', ORIGIN).send({})],
      [400, await app.http.post('/auth/login').set('Origin', ORIGIN).type('json').send('{')],
      [
        413,
        await app.http
          .post('/auth/login')
          .set('Origin', ORIGIN)
          .send({ username: 'x'.repeat(200_000) }),
      ],
      [404, await app.delete('/auth/sessions/x', (await app.login()).access_token).set('Origin', ORIGIN)],
    ] as const;
    for (const [expected, { status, headers }] of refused) {
      expect([status, headers['access-control-allow-origin']]).toEqual([expected, ORIGIN]);
      expect(headers['access-control-expose-headers']).toMatch(/^WWW-Authenticate, ?Retry-After$/);
      expect(headers['cache-control']).toBe('no-store');
    }
  });
});
