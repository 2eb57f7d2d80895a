import { ValidationPipe, type INestApplication } from '@nestjs/common';
import fc from 'fast-check';
import { PASSWORD } from '../support/test-application';
import {
  INVALID_CREDENTIALS,
  INVALID_REFRESH,
  restorePassword,
  sendRaw,
  describeHttp,
  type TestEnvironment,
} from '../support/environment';

const REQUIRED = ['This field is required.'];
const NULL = ['This field may not be null.'];
const BLANK = ['This field may not be blank.'];
const STRING = ['Not a valid string.'];
const BOOLEAN = ['Must be a valid boolean.'];
const DETAIL = { detail: expect.any(String) as string };
const CODES = /^(credentials_missing|access_token_invalid)$/;
const UNAUTHENTICATED = { ...DETAIL, code: expect.stringMatching(CODES) as string };

const LOGIN = '/auth/login/';
const REFRESH = '/auth/token/refresh/';
const LOGOUT_ALL = '/auth/logout/all/';
const CHANGE = '/auth/password/change/';

/** JSON values that are not strings. */
const NO_STRINGS = ['1', '0', '-1.5', '1e400', 'true', 'false', '[]', '["alice"]', '{}', '{"a":"b"}', '[[]]'];

type Case = readonly [path: string, json: string, status: number, body: object];

const FIELDS: readonly Case[] = [
  [LOGIN, '{}', 400, { username: REQUIRED, password: REQUIRED }],
  [LOGIN, '{"username":"alice"}', 400, { password: REQUIRED }],
  [LOGIN, '{"password":"x"}', 400, { username: REQUIRED }],
  [LOGIN, '{"Username":"alice","PASSWORD":"x"}', 400, { username: REQUIRED, password: REQUIRED }],
  [LOGIN, '{"username":null,"password":null}', 400, { username: NULL, password: NULL }],
  [LOGIN, '{"username":"","password":""}', 400, { username: BLANK, password: BLANK }],
  [LOGIN, '{"username":"","password":null}', 400, { username: BLANK, password: NULL }],
  [LOGIN, '{"username":" ","password":" "}', 400, INVALID_CREDENTIALS],
  [LOGIN, '{"username":"\\t","password":"\\n"}', 400, INVALID_CREDENTIALS],
  ...NO_STRINGS.map((json): Case => [LOGIN, `{"username":${json},"password":"x"}`, 400, { username: STRING }]),
  ...NO_STRINGS.map((json): Case => [LOGIN, `{"username":"x","password":${json}}`, 400, { password: STRING }]),
  [LOGIN, '{"__proto__":{"username":"alice","password":"x"}}', 400, { username: REQUIRED, password: REQUIRED }],
  [LOGIN, '{"constructor":{"prototype":{"username":"alice"}}}', 400, { username: REQUIRED, password: REQUIRED }],
  [LOGIN, '{"toString":1,"valueOf":null,"hasOwnProperty":1}', 400, { username: REQUIRED, password: REQUIRED }],
  [LOGIN, '{"username":{"__proto__":"alice"},"password":{"length":1}}', 400, { username: STRING, password: STRING }],
  [LOGIN, '{"username":{"$ne":null},"password":{"$gt":""}}', 400, { username: STRING, password: STRING }],
  [REFRESH, '{}', 400, { refresh_token: REQUIRED }],
  [REFRESH, '{"refreshToken":"x"}', 400, { refresh_token: REQUIRED }],
  [REFRESH, '{"refresh_token":null}', 400, { refresh_token: NULL }],
  [REFRESH, '{"refresh_token":""}', 400, { refresh_token: BLANK }],
  ...NO_STRINGS.map((json): Case => [REFRESH, `{"refresh_token":${json}}`, 400, { refresh_token: STRING }]),
  [REFRESH, '{"refresh_token":" "}', 400, INVALID_REFRESH],
  [LOGOUT_ALL, '{"keep_current":null}', 400, { keep_current: NULL }],
  ...['"true"', '"false"', '""', '"1"', '0', '1', '[]', '[true]', '{}'].map((json): Case => [
    LOGOUT_ALL,
    `{"keep_current":${json}}`,
    400,
    { keep_current: BOOLEAN },
  ]),
  [CHANGE, '{}', 400, { current_password: REQUIRED, new_password: REQUIRED }],
  [CHANGE, '{"current_password":null,"new_password":""}', 400, { current_password: NULL, new_password: BLANK }],
  ...NO_STRINGS.map((json): Case => [
    CHANGE,
    `{"current_password":${json},"new_password":${json}}`,
    400,
    { current_password: STRING, new_password: STRING },
  ]),
  [
    CHANGE,
    '{"current_password":"a\\u0000","new_password":"\\ud800"}',
    400,
    { current_password: STRING, new_password: STRING },
  ],
];

const MALFORMED = [
  '{',
  '}',
  '{"username"',
  '{"username":}',
  '{"username":"alice",}',
  "{'username':'alice'}",
  '{"username":"alice"}}',
  '{"username":"alice"}{"password":"x"}',
  '{"username":"ali\nce"}',
  '{"username":"\\x"}',
  '{"username":"\\ud8"}',
  'undefined',
  'NaN',
  'username=alice&password=x',
  '<login/>',
  '\0',
  ' ',
  '\n',
  '[1,',
];

const NO_OBJECTS = ['[]', '[{"username":"alice","password":"x"}]', '"alice"', '1', '0', 'true', 'false', 'null'];

const OTHER_TYPES = [
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/xml',
  'application/octet-stream',
  'application/javascript',
  'text/json',
  'json',
  'application/json; charset=iso-8859-1',
  'application/json; charset=nonsense',
];

/** Functions that configure an application with various pipes, or with none. */
const CONFIGURATIONS: Readonly<Record<string, (app: INestApplication) => void>> = {
  'an application without pipes': () => undefined,
  'an application whose pipe converts types': (app) =>
    app.useGlobalPipes(new ValidationPipe({ transform: true, transformOptions: { enableImplicitConversion: true } })),
  'an application whose pipe forbids unknown fields': (app) =>
    app.useGlobalPipes(
      new ValidationPipe({ whitelist: true, forbidNonWhitelisted: true, forbidUnknownValues: true, transform: true }),
    ),
};

for (const [title, configure] of Object.entries(CONFIGURATIONS)) {
  describeHttp(`malformed input to ${title}`, { configure }, (env: TestEnvironment) => {
    let token: string;
    beforeEach(async () => {
      token = (await env.app.login()).access_token;
    });

    const post = async (path: string, body: string, ...headers: string[]): Promise<[number, unknown]> => {
      const answer = await sendRaw(
        env.app,
        [
          `POST ${path} HTTP/1.1`,
          `Authorization: Bearer ${token}`,
          `Content-Length: ${Buffer.byteLength(body)}`,
          ...headers,
        ],
        Buffer.from(body).toString('latin1'),
      );
      expect(answer.headers['cache-control']).toBe('no-store');
      expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
      return [answer.status, JSON.parse(answer.body)];
    };
    const postJson = (path: string, body: string) => post(path, body, 'Content-Type: application/json');

    it.each(FIELDS)(
      'the response of %s to the body %s has the status %i and reports the errors',
      async (path, json, status, body) => {
        expect(await postJson(path, json)).toEqual([status, body]);
      },
    );

    it.each(MALFORMED)('the body %j is refused as malformed', async (body) => {
      for (const path of [LOGIN, REFRESH, LOGOUT_ALL, CHANGE]) {
        expect([path, await postJson(path, body)]).toEqual([path, [400, DETAIL]]);
      }
    });

    it.each(NO_OBJECTS)('the body %s is refused because it is not a JSON object', async (body) => {
      for (const path of [LOGIN, REFRESH, LOGOUT_ALL, CHANGE]) {
        expect([path, await postJson(path, body)]).toEqual([path, [400, DETAIL]]);
      }
    });

    it.each(OTHER_TYPES)('a body of type %s is refused because it is not JSON in UTF-8', async (type) => {
      const body = JSON.stringify({ username: 'alice', password: PASSWORD, refresh_token: 'x', keep_current: true });
      for (const path of [LOGIN, REFRESH, LOGOUT_ALL, CHANGE]) {
        expect([path, await post(path, body, `Content-Type: ${type}`)]).toEqual([path, [415, DETAIL]]);
      }
    });

    it('a body without a content type is refused', async () => {
      for (const path of [LOGIN, REFRESH, LOGOUT_ALL, CHANGE]) expect(await post(path, '{}')).toEqual([415, DETAIL]);
    });

    it('a form is refused, whatever it contains', async () => {
      const form = 'Content-Type: application/x-www-form-urlencoded';
      expect(await post(LOGIN, 'username=alice&password=correct+horse+battery+staple', form)).toEqual([415, DETAIL]);
      expect(await post(LOGOUT_ALL, 'keep_current=true', form)).toEqual([415, DETAIL]);
      expect(await post(LOGOUT_ALL, '&', form)).toEqual([415, DETAIL]);
    });

    it.each([
      'application/json',
      'Application/JSON',
      'application/json; charset=utf-8',
      'application/json;charset="UTF-8"',
    ])('a body of type %s is read as JSON', async (type) => {
      const body = JSON.stringify({ username: 'alice', password: PASSWORD });
      expect((await post(LOGIN, body, `Content-Type: ${type}`))[0]).toBe(200);
    });

    it('a body with an unknown or incorrect content encoding is refused', async () => {
      const json = 'Content-Type: application/json';
      // Fastify does not decompress a body, and parses the bytes that it receives.
      const isExpress = env.platform === 'express';
      const sent = isExpress ? '{}' : '\x1f\x8b';
      expect(await post(LOGIN, sent, json, 'Content-Encoding: nonsense')).toEqual([isExpress ? 415 : 400, DETAIL]);
      expect(await post(LOGIN, sent, json, 'Content-Encoding: gzip')).toEqual([400, DETAIL]);
    });

    it.each([LOGIN, REFRESH, LOGOUT_ALL, CHANGE])(
      "a body that is sent to %s and exceeds the application's limit is refused with 413",
      async (path) => {
        const large = JSON.stringify({ username: 'x'.repeat(150_000) });
        expect(await postJson(path, large)).toEqual([413, DETAIL]);
      },
    );

    it('text that is not UTF-8 is refused with 400', async () => {
      const body = '{"username":"\xff\xfe","password":"\xc3\x28"}';
      const lines = [`POST ${LOGIN} HTTP/1.1`, 'Content-Type: application/json', `Content-Length: ${body.length}`];
      expect((await sendRaw(env.app, lines, body)).status).toBe(400);
    });

    it('deeply nested JSON does not cause an internal error', async () => {
      const deep = '[' + '['.repeat(40_000) + ']'.repeat(40_000) + ']';
      expect(await postJson(LOGIN, `{"username":${deep},"password":"x"}`)).toEqual([400, { username: STRING }]);
      const objects = '{"a":'.repeat(15_000) + '1' + '}'.repeat(15_000);
      expect(await postJson(LOGIN, `{"username":"x","password":"x","c":${objects}}`)).toEqual([
        400,
        INVALID_CREDENTIALS,
      ]);
    });

    it('unknown fields and fields of the prototype do not affect a login', async () => {
      const known = `"username":"alice","password":"${PASSWORD}"`;
      for (const more of ['"__proto__":{"username":"bob"}', '"constructor":1', '"hasOwnProperty":1', '"x":{"y":[]}']) {
        expect((await postJson(LOGIN, `{${more},${known}}`))[0]).toBe(200);
      }
      expect(({} as Record<string, unknown>)['username']).toBeUndefined();
    });

    it('`keep_current` accepts true and false', async () => {
      expect(await postJson(LOGOUT_ALL, '{"keep_current":true}')).toEqual([200, { detail: 'Revoked 0 session(s).' }]);
      expect(await postJson(LOGOUT_ALL, '{"keep_current":false}')).toEqual([200, { detail: 'Revoked 1 session(s).' }]);
    });
  });
}

const LEAKS =
  /select |insert |update |delete from|auth_[a-z]+s\b|sqlite|postgres|mariadb|\bat .*\.[jt]s:|stack|QueryFailed/i;

describeHttp('any malformed request', {}, (env: TestEnvironment) => {
  afterEach(() => restorePassword(env.app));

  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 40 }),
    fc.constantFrom('alice', 'bob', '', PASSWORD, '\0', '\ud800', '\u{10ffff}', "' OR 1=1 --", 'nsar_', 'nsaa_'),
    fc.string({ minLength: 250, maxLength: 300 }),
  );
  const value = fc.oneof({ weight: 3, arbitrary: text }, fc.jsonValue());
  const field = fc.constantFrom(
    'username',
    'password',
    'refresh_token',
    'keep_current',
    'current_password',
    'new_password',
    '__proto__',
    'constructor',
  );
  const body = fc.oneof(
    { weight: 5, arbitrary: fc.array(fc.tuple(field, value), { maxLength: 4 }).map(asJson) },
    { weight: 2, arbitrary: fc.json() },
    { weight: 1, arbitrary: fc.string({ unit: 'binary' }) },
  );
  const target = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(`POST ${LOGIN}`, `POST ${REFRESH}`, `POST ${LOGOUT_ALL}`) },
    { weight: 2, arbitrary: fc.constantFrom(`POST ${CHANGE}`, 'POST /auth/logout', 'GET /auth/sessions', 'GET /me') },
    { weight: 2, arbitrary: visible().map((id) => `DELETE /auth/sessions/x${id.replaceAll(/[#?/]/g, '')}`) },
    { weight: 2, arbitrary: visible().map((query) => `GET /auth/history?limit=${query}`) },
    { weight: 1, arbitrary: visible().map((query) => `GET /auth/history?${query}`) },
  );
  const type = fc.oneof(
    { weight: 6, arbitrary: fc.constant('application/json') },
    { weight: 1, arbitrary: fc.constantFrom('text/plain', 'application/x-www-form-urlencoded', 'x', 'a/b; c="', '') },
  );
  const authorization = fc.oneof(
    { weight: 3, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: visible().map((token) => `Bearer ${token}`) },
    { weight: 1, arbitrary: visible() },
  );

  it('the response to a malformed request has a documented status and shape, and contains no internal details', async () => {
    const { app } = env;
    const [user] = await app.dataSource.query(`SELECT id FROM auth_users WHERE username = 'alice'`);
    await fc.assert(
      fc.asyncProperty(target, body, type, authorization, async (route, sent, contentType, header) => {
        const live = `Bearer ${(await app.auth.openSession(user.id)).accessToken}`;
        const bytes = Buffer.from(sent).toString('latin1');
        const answer = await sendRaw(
          app,
          [
            `${route} HTTP/1.1`,
            `Authorization: ${header ?? live}`,
            `Content-Type: ${contentType}`,
            `Content-Length: ${bytes.length}`,
          ],
          bytes,
        );
        expect([200, 400, 401, 404, 413, 415, 429]).toContain(answer.status);
        // The platform refuses a path that cannot be decoded.
        const own = route.includes('/auth/') && (route.includes('?') || isDecodable(route));
        if (own) expect(answer.headers['cache-control']).toBe('no-store');
        if (answer.status !== 200) expect(answer.body).not.toMatch(LEAKS);
        if (answer.status === 200 || !own) return;
        const parsed = JSON.parse(answer.body);
        const fields = Object.entries(parsed).filter(([name]) => name !== 'detail' && name !== 'code');
        for (const [, messages] of fields) expect(messages).toEqual([expect.any(String)]);
        if (fields.length === 0) expect(parsed).toEqual(answer.status === 401 ? UNAUTHENTICATED : DETAIL);
      }),
      { numRuns: 300, seed: 20260115 },
    );
    expect(app.logs.filter((line) => line.includes('Unexpected'))).toEqual([]);
  });
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

/** Generates text of characters that a request line may contain. */
function visible(): fc.Arbitrary<string> {
  const unit = fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code));
  return fc.string({ unit, maxLength: 20 });
}
