import { applicationStarter } from '../../support/start-for-test';
import { PASSWORD, type PlatformName, type TestApplication } from '../../support/test-application';

const ORIGIN = 'https://app.example';

describe.each<PlatformName>(['express', 'fastify'])('proxies and CORS on %s', (platform) => {
  const start = applicationStarter({ platform });
  const login = (app: TestApplication, forwardedFor: string, password = PASSWORD) =>
    app.http.post('/auth/login').set('X-Forwarded-For', forwardedFor).send({ username: 'alice', password });

  /** Returns the address that the library stores for a login with the given header. */
  const addressOf = async (app: TestApplication, forwardedFor: string): Promise<unknown> => {
    const others = { Forwarded: 'for=192.0.2.99', 'X-Real-IP': '192.0.2.98' };
    const { body } = await login(app, forwardedFor).set(others).expect(200);
    const sessions = await app.get('/auth/sessions', body.access_token).expect(200);
    return (sessions.body as { is_current: boolean; ip_address: string }[]).find((one) => one.is_current)?.ip_address;
  };

  it('forwarding headers are ignored unless the application trusts the proxy', async () => {
    expect(await addressOf(await start(), '192.0.2.1')).toBe('127.0.0.1');
    const app = await start({ trustProxy: '127.0.0.1' });
    expect(await addressOf(app, '192.0.2.1')).toBe('192.0.2.1');
    expect(await addressOf(app, '192.0.2.66, 192.0.2.1')).toBe('192.0.2.1');
    expect(app.logs.filter((line) => /any client can forge|X-Forwarded-For/.test(line))).toEqual([]);
  });

  it('an application that trusts every proxy logs a warning at startup', async () => {
    const { logs } = await start({ trustProxy: true });
    expect(logs.filter((line) => line.includes('any client can forge its IP address'))).toHaveLength(1);
  });

  it('X-Forwarded-For causes one warning if no proxy is trusted', async () => {
    const setting = platform === 'express' ? 'trust proxy' : 'trustProxy';
    for (const controllers of [true, false]) {
      const app = await start({ auth: { controllers } });
      const warnings = (): string[] => app.logs.filter((line) => line.includes('X-Forwarded-For'));
      await app.http.get('/open').expect(200);
      expect(warnings()).toEqual([]);
      for (const times of [1, 2]) await app.http.get('/open').set('X-Forwarded-For', `192.0.2.${times}`).expect(200);
      expect(warnings()).toEqual([expect.stringContaining(`'${setting}' is off`)]);
    }
  });

  it('an invalid address is not stored, and all login attempts with invalid addresses are counted together', async () => {
    const app = await start({ trustProxy: 'loopback' });
    const forged = ["192.0.2.1' OR 1=1 --", '999.999.999.999', 'unknown', '<script>', 'x'.repeat(4_000)];
    for (const value of [...forged, ...forged]) await login(app, value, 'wrong').expect(400);
    await login(app, 'another', 'wrong').expect(429);
    expect(app.sent('login_failed').map(({ ipAddress }) => ipAddress)).toEqual(Array<null>(10).fill(null));
    const tables = app.dataSource.entityMetadatas.map(({ tableName }) => tableName);
    const rows = await Promise.all(tables.map((table) => app.dataSource.query(`SELECT * FROM ${table}`)));
    const kept = JSON.stringify([rows, app.signals, app.logs]);
    for (const value of forged) expect(kept).not.toContain(value);
  });

  it('a preflight request needs no token even if a global guard protects every route', async () => {
    const cors = { origin: ORIGIN, methods: ['GET', 'POST', 'DELETE'] };
    const app = await start({ auth: { globalGuard: true }, configure: (app) => app.enableCors(cors) });
    for (const [method, path] of [
      ['POST', '/auth/login/'],
      ['POST', '/auth/logout'],
      ['DELETE', '/auth/sessions/5f0c6f0e-8a3e-4d6c-9a55-0d5a4f5a7b11'],
      ['GET', '/me'],
    ] as const) {
      const asked = { 'Access-Control-Request-Method': method, 'Access-Control-Request-Headers': 'authorization' };
      const { status, headers } = await app.http.options(path).set({ Origin: ORIGIN, ...asked });
      expect([path, status, headers['access-control-allow-origin']]).toEqual([path, 204, ORIGIN]);
      expect(headers['access-control-allow-methods']).toContain(method);
    }
  });

  it('a page on another origin can read error responses and their headers', async () => {
    const cors = { origin: ORIGIN, exposedHeaders: ['WWW-Authenticate', 'Retry-After'] };
    const { http } = await start({ configure: (app) => app.enableCors(cors) });
    const refused = [
      [401, http.get('/auth/sessions')],
      [401, http.get('/me')],
      [400, http.post('/auth/login').send({})],
      [400, http.post('/auth/login').type('json').send('{')],
      [413, http.post('/auth/login').send({ username: 'x'.repeat(200_000) })],
    ] as const;
    for (const [expected, request] of refused) {
      const { status, headers } = await request.set('Origin', ORIGIN);
      expect([status, headers['access-control-allow-origin']]).toEqual([expected, ORIGIN]);
      expect(headers['access-control-expose-headers']).toMatch(/^WWW-Authenticate, ?Retry-After$/);
      expect(headers['cache-control']).toBe('no-store');
    }
  });
});
