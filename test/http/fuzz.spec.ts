import * as fc from 'fast-check';
import { request as send, type IncomingMessage } from 'node:http';
import { Agent } from 'node:http';
import { createDatabase, DATABASES, type TestDatabase } from '../support/databases';
import { TestApplication } from '../support/test-application';

/** The cases per test on SQLite. Other databases run a tenth. The environment variable FUZZ_RUNS changes the number. */
const RUNS = Number(process.env['FUZZ_RUNS'] ?? 1_000);

interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

const POST_ROUTES = [
  'login/',
  'login',
  'token/refresh/',
  'logout/',
  'logout/all',
  'password/change/',
  'reauthenticate',
];
const ROUTES = [...POST_ROUTES, 'sessions/', 'sessions/x', 'history/?limit=1', 'history?limit=x'];

/** The statuses that the contract documents for these routes. */
const DOCUMENTED = new Set([200, 400, 401, 403, 404, 413, 415, 429]);

const json: fc.Arbitrary<unknown> = fc.oneof(
  fc.jsonValue(),
  fc.dictionary(
    fc.constantFrom(
      'username',
      'password',
      'refresh_token',
      'keep_current',
      'current_password',
      'new_password',
      '__proto__',
      'constructor',
    ),
    fc.oneof(fc.string({ unit: 'binary' }), fc.jsonValue(), fc.constantFrom('\0', '\ud800', 'a'.repeat(5000), '')),
  ),
);
const body = fc.oneof(
  json.map((value) => JSON.stringify(value) ?? ''),
  fc.string({ unit: 'binary' }),
  fc.constantFrom('', '{', '[]', 'null', '{"username":"alice","username":1}', '\ufeff{}', '{"__proto__":{"x":1}}'),
);
const contentType = fc.constantFrom(
  'application/json',
  'application/json; charset=utf-8',
  'application/JSON',
  'text/plain',
  '',
);
/** The header values that Node's HTTP client accepts: visible Latin-1 characters, spaces and tabs. */
const headerText = fc
  .array(fc.oneof(fc.integer({ min: 32, max: 126 }), fc.integer({ min: 160, max: 255 }), fc.constant(9)), {
    maxLength: 300,
  })
  .map((codes) => String.fromCharCode(...codes));
const authorization = fc.oneof(
  headerText,
  headerText.map((text) => `Bearer ${text}`),
  fc.constantFrom(
    'Bearer',
    'bearer nsaa_',
    'Basic YWxpY2U6c2VjcmV0',
    `Bearer nsaa_${'a'.repeat(49)}`,
    `Bearer nsar_${'a'.repeat(49)}`,
  ),
);

describe.each(DATABASES)('generated input on %s', (name) => {
  const numRuns = name === 'sqlite' ? RUNS : Math.ceil(RUNS / 10);
  const agent = new Agent({ keepAlive: true, maxSockets: 4 });
  let database: TestDatabase;
  let app: TestApplication;
  let token: string;

  beforeAll(async () => {
    database = await createDatabase(name);
    const auth = { recentLogin: { endpoint: true }, failedLogins: { throttleFrom: false as const } };
    app = await TestApplication.start({ database, auth });
    token = (await app.login()).access_token;
  });
  afterAll(async () => {
    agent.destroy();
    await app.close();
    await database.drop();
  });

  function ask(method: string, path: string, headers: Record<string, string>, text = ''): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const bytes = Buffer.from(text);
      const length = bytes.length > 0 ? { 'Content-Length': String(bytes.length) } : {};
      const sent = send(`${app.url}/auth/${path}`, { method, agent, headers: { ...headers, ...length } }, (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.on('end', () =>
          resolve({ status: answer.statusCode!, headers: answer.headers, body: Buffer.concat(chunks).toString() }),
        );
      });
      sent.on('error', reject);
      sent.end(bytes);
    });
  }

  function expectDocumented({ status, headers, body: text }: Answer): void {
    expect(DOCUMENTED.has(status)).toBe(true);
    expect(headers['cache-control']).toBe('no-store');
    const parsed = JSON.parse(text) as object;
    expect(Object.keys(parsed)).not.toContain('statusCode');
    expect(text).not.toMatch(/SELECT|INSERT|auth_sessions|node_modules|at [A-Z]\w+\./);
    if (status === 401) expect(headers['www-authenticate']).toMatch(/^Bearer realm="api"/);
  }

  const check = (property: fc.IAsyncProperty<never>): Promise<void> => fc.assert(property, { numRuns });

  it(
    'a request with any body receives a documented response',
    () =>
      check(
        fc.asyncProperty(fc.constantFrom(...POST_ROUTES), body, contentType, async (route, text, type) => {
          // A successful change would invalidate the token that the other cases use.
          if (/"(current_password|keep_current)"|logout/.test(text + route)) return;
          const headers = { Authorization: `Bearer ${token}`, ...(type ? { 'Content-Type': type } : {}) };
          expectDocumented(await ask('POST', route, headers, text));
        }) as never,
      ),
    120_000,
  );

  it(
    'a request with any text in place of a token is refused with a documented response',
    () =>
      check(
        fc.asyncProperty(fc.constantFrom(...ROUTES), authorization, async (route, value) => {
          const isPost = POST_ROUTES.includes(route);
          const answer = await ask(isPost ? 'POST' : 'GET', route, { Authorization: value });
          // The library has no GET route for a single session.
          if (route === 'sessions/x') expect(answer.status).toBe(404);
          else expectDocumented(answer);
          expect(answer.status).not.toBe(200);
        }) as never,
      ),
    120_000,
  );

  it(
    'no User-Agent or forwarding header changes the status of a response',
    () =>
      check(
        fc.asyncProperty(headerText, headerText, async (userAgent, forwarded) => {
          const headers = { 'User-Agent': userAgent, 'X-Forwarded-For': forwarded, Forwarded: forwarded };
          const credentials = JSON.stringify({ username: 'alice', password: 'wrong' });
          const answer = await ask('POST', 'login/', { ...headers, 'Content-Type': 'application/json' }, credentials);
          expect(answer.status).toBe(400);
          expectDocumented(answer);
          const sessions = await ask('GET', 'sessions/', { ...headers, Authorization: `Bearer ${token}` });
          expect(sessions.status).toBe(200);
        }) as never,
      ),
    120_000,
  );

  it('generated input invalidates neither the session nor the password of the user, and pollutes no prototype', async () => {
    await app.get('/me', token).expect(200);
    await app.login();
    const [row] = await app.dataSource.query(
      'SELECT MAX(LENGTH(user_agent)) AS n, COUNT(*) AS events FROM auth_events',
    );
    expect(Number(row.n)).toBeLessThanOrEqual(1_000);
    expect(({} as { x?: unknown }).x).toBeUndefined();
  });
});
