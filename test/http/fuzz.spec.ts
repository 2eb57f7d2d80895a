import * as fc from 'fast-check';
import { AuthUser } from 'nestjs-session-auth';
import { describeEverywhere, restorePassword, sendRaw } from '../support/environment';
import { PASSWORD } from '../support/test-application';

/** The cases per test on SQLite. Other databases run a tenth. CI runs more, and FUZZ_RUNS changes the number. */
const RUNS = Number(process.env['FUZZ_RUNS'] ?? (process.env['CI'] ? 500 : 100));

const POSTS = ['login', 'token/refresh/', 'logout', 'logout/all/', 'password/change', 'reauthenticate/'].map(
  (path) => `POST /auth/${path}`,
);
const GETS = ['GET /auth/sessions', 'GET /auth/history/?limit=1', 'GET /auth/history?limit=x'];

const LEAKS =
  /select |insert |update |delete from|auth_[a-z]+s\b|sqlite|postgres|mariadb|node_modules|\bat .*\.[jt]s:|stack|QueryFailed/i;

/** Generates text of characters that a request line may contain. */
const visible = fc.string({
  unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
  maxLength: 20,
});
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom('alice', '', PASSWORD, '\0', '\ud800', '\u{10ffff}', "' OR 1=1 --", 'nsar_', 'a'.repeat(5000)),
  fc.string({ minLength: 250, maxLength: 300 }),
);
const field = fc.constantFrom(
  ...['username', 'password', 'refresh_token', 'keep_current', 'current_password', 'new_password'],
  ...['__proto__', 'constructor'],
);
const body = fc.oneof(
  { weight: 5, arbitrary: fc.array(fc.tuple(field, fc.oneof(text, fc.jsonValue())), { maxLength: 4 }).map(asJson) },
  { weight: 2, arbitrary: fc.json() },
  { weight: 1, arbitrary: fc.string({ unit: 'binary' }) },
  { weight: 1, arbitrary: fc.constantFrom('', '{', '[]', 'null', '\ufeff{}', '{"__proto__":{"x":1}}') },
);
const target = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...POSTS) },
  { weight: 1, arbitrary: fc.constantFrom('GET /auth/sessions', 'GET /me') },
  { weight: 1, arbitrary: visible.map((id) => `DELETE /auth/sessions/x${id.replaceAll(/[#?/]/g, '')}`) },
  { weight: 1, arbitrary: visible.map((query) => `GET /auth/history?limit=${query}`) },
  { weight: 1, arbitrary: visible.map((query) => `GET /auth/history?${query}`) },
);
const type = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('application/json', 'application/JSON; charset=utf-8') },
  { weight: 1, arbitrary: fc.constantFrom('text/plain', 'application/x-www-form-urlencoded', 'x', 'a/b; c="', '') },
);
/** Generates what a header may contain: visible Latin-1 characters, spaces and tabs. */
const headerText = fc
  .array(fc.oneof(fc.integer({ min: 32, max: 126 }), fc.integer({ min: 160, max: 255 }), fc.constant(9)), {
    maxLength: 300,
  })
  .map((codes) => String.fromCharCode(...codes));
const authorization = fc.oneof(
  headerText,
  headerText.map((token) => `Bearer ${token}`),
  fc.constantFrom('Bearer', 'bearer nsaa_', 'Basic YWxpY2U6c2VjcmV0', `Bearer nsar_${'a'.repeat(49)}`),
);

const WRONG = JSON.stringify({ username: 'bob', password: 'wrong' });
const options = { auth: { endpoints: { reauthenticate: true }, failedLogins: { throttleFrom: false as const } } };

describeEverywhere('generated input', options, ({ app, database }) => {
  const check = <T>(property: fc.IAsyncProperty<T>): Promise<void> =>
    fc.assert(property, { numRuns: database.name === 'sqlite' ? RUNS : Math.ceil(RUNS / 10) });

  /** Sends a request, and checks its response. Returns the status. */
  async function send(route: string, authorized: string, sent = '', ...headers: string[]): Promise<number> {
    const bytes = Buffer.from(sent).toString('latin1');
    const length = bytes === '' ? [] : [`Content-Length: ${bytes.length}`];
    const lines = [`${route} HTTP/1.1`, `Authorization: ${authorized}`, ...length, ...headers];
    const answer = await sendRaw(app, lines, bytes);
    expect([200, 400, 401, 403, 404, 413, 415]).toContain(answer.status);
    if (answer.status !== 200) expect(answer.body).not.toMatch(LEAKS);
    // The platform refuses a path that cannot be decoded.
    if (!route.includes('/auth/') || !(route.includes('?') || isDecodable(route))) return answer.status;
    expect(answer.headers['cache-control']).toBe('no-store');
    const parsed = JSON.parse(answer.body) as object;
    if (answer.status === 200) return 200;
    if (answer.status === 401) expect(answer.headers['www-authenticate']).toMatch(/^Bearer realm="api"/);
    const fields = Object.entries(parsed).filter(([name]) => name !== 'detail' && name !== 'code');
    for (const [, messages] of fields) expect(messages).toEqual([expect.any(String)]);
    const names = answer.status === 401 ? ['detail', 'code'] : ['detail'];
    if (fields.length === 0) expect(Object.keys(parsed)).toEqual(names);
    return answer.status;
  }

  it('a request with any body, User-Agent and forwarding header receives a documented response', async () => {
    const { id } = await app.dataSource.getRepository(AuthUser).findOneByOrFail({ username: 'alice' });
    const { access_token: token } = await app.login('bob');
    await check(
      fc.asyncProperty(target, body, type, headerText, async (route, sent, contentType, any) => {
        const { accessToken } = await app.auth.openSession({ id });
        const headers = [`User-Agent: ${any}`, `X-Forwarded-For: ${any}`, `Forwarded: ${any}`];
        expect(await send('POST /auth/login', '', WRONG, 'Content-Type: application/json', ...headers)).toBe(400);
        await send(route, `Bearer ${accessToken}`, sent, `Content-Type: ${contentType}`, ...headers);
      }),
    );
    expect(app.logs.filter((line) => line.includes('Unexpected'))).toEqual([]);
    expect(({} as { x?: unknown }).x).toBeUndefined();
    await app.get('/me', token).expect(200);
    await app.login('bob');
    await restorePassword(app);
  }, 300_000);

  it('a request with any text in place of a token is refused with a documented response', async () => {
    await check(
      fc.asyncProperty(fc.constantFrom(...POSTS, ...GETS), authorization, async (route, value) => {
        expect(await send(route, value)).not.toBe(200);
      }),
    );
  }, 300_000);
});

/** Returns an object with the given fields as JSON. An object literal cannot repeat a field or set `__proto__`. */
function asJson(fields: readonly (readonly [string, unknown])[]): string {
  return `{${fields.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(',')}}`;
}

function isDecodable(path: string): boolean {
  try {
    return Boolean(decodeURIComponent(path));
  } catch {
    return false;
  }
}
