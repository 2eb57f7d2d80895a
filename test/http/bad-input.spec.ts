import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException, ValidationPipe } from '@nestjs/common';
import type { INestApplication } from '@nestjs/common';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeHttp, INVALID_CREDENTIALS, sendRaw } from '../support/environment';
import { PASSWORD } from '../support/test-application';

const STRING = ['Not a valid string.'];
const DETAIL = { detail: expect.any(String) as string };

const PATHS = ['login', 'token/refresh', 'logout/all', 'password/change'];

/** JSON values that are not strings, as values of each field that must be a string. */
const NON_STRINGS = ['1', '0', '-1.5', '1e400', 'true', 'false', '[]', '["alice"]', '{}', '{"a":"b"}', '[[]]'].flatMap(
  (json): Case[] => [
    ['login', `{"username":${json},"password":"x"}`, { username: STRING }],
    ['login', `{"username":"x","password":${json}}`, { password: STRING }],
    ['token/refresh', `{"refresh_token":${json}}`, { refresh_token: STRING }],
    ['password/change', `{"current_password":"x","new_password":${json}}`, { new_password: STRING }],
    ['password/change', `{"current_password":${json},"new_password":"x"}`, { current_password: STRING }],
  ],
);

const NON_BOOLEANS = ['"true"', '"false"', '""', '"1"', '0', '1', '[]', '[true]', '{}'].map((json): Case => [
  'logout/all',
  `{"keep_current":${json}}`,
  { keep_current: ['Must be a valid boolean.'] },
]);

type Case = readonly [path: string, json: string, body: object];

const REFUSED = readFileSync(join(__dirname, 'refused-bodies.txt'), 'utf8')
  .trim()
  .split('\n')
  .map((line): Case => {
    const [, path, json, body] = /^(\S+) (.*) -> (.*)$/.exec(line)!;
    return [path!, json!, JSON.parse(body!) as object];
  });

const MALFORMED = [
  ...['{', '}', '{"username"', '{"username":}', '{"username":"alice",}', "{'username':'alice'}", '{"username":""}}'],
  ...['{"username":"alice"}{"password":"x"}', '{"username":"ali\nce"}', '{"username":"\\x"}', '{"username":"\\ud8"}'],
  ...['undefined', 'NaN', 'username=alice&password=x', '<login/>', '\0', ' ', '\n', '[1,'],
  // JSON, but not an object.
  ...['[]', '[{"username":"alice","password":"x"}]', '"alice"', '1', '0', 'true', 'false', 'null'],
];

const OTHER_TYPES = [
  ...['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'application/xml'],
  ...['application/octet-stream', 'application/javascript', 'text/json', 'json'],
  ...['application/json; charset=iso-8859-1', 'application/json; charset=nonsense'],
];

@Catch(HttpException)
class TeapotFilter implements ExceptionFilter<HttpException> {
  catch(_: HttpException, host: ArgumentsHost): void {
    host.switchToHttp().getResponse<{ status(code: number): { send(body: object): void } }>().status(418).send({});
  }
}

/** Sets a pipe and a filter that would change every request and every error. */
function configure(app: INestApplication): void {
  const forbidding = { whitelist: true, forbidNonWhitelisted: true, forbidUnknownValues: true };
  const converting = { transform: true, transformOptions: { enableImplicitConversion: true } };
  app.useGlobalPipes(new ValidationPipe({ ...forbidding, ...converting }));
  app.useGlobalFilters(new TeapotFilter());
}

describeHttp('malformed input in an application with a pipe and a filter', { configure }, ({ app, platform }) => {
  let token: string;
  beforeEach(async () => void (token = (await app.login()).access_token));

  const post = async (path: string, body: string | Buffer, ...headers: string[]): Promise<[number, unknown]> => {
    const bytes = Buffer.from(body as string).toString('latin1');
    const own = [`Authorization: Bearer ${token}`, `Content-Length: ${bytes.length}`];
    const answer = await sendRaw(app, [`POST /auth/${path}/ HTTP/1.1`, ...own, ...headers], bytes);
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    return [answer.status, JSON.parse(answer.body)];
  };
  const postJson = (path: string, body: string | Buffer) => post(path, body, 'Content-Type: application/json');

  it('the response to each malformed field has the status 400 and reports the errors', async () => {
    for (const [path, json, body] of [...REFUSED, ...NON_STRINGS, ...NON_BOOLEANS]) {
      expect([path, json, ...(await postJson(path, json))]).toEqual([path, json, 400, body]);
    }
  });

  it.each(MALFORMED)('the body %j is refused, because it is not a JSON object', async (body) => {
    for (const path of PATHS) expect([path, await postJson(path, body)]).toEqual([path, [400, DETAIL]]);
  });

  it.each(OTHER_TYPES)('a body of type %s is refused because it is not JSON in UTF-8', async (type) => {
    const body = JSON.stringify({ username: 'alice', password: PASSWORD, refresh_token: 'x', keep_current: true });
    for (const path of PATHS) {
      for (const sent of type.includes('form') ? [body, 'username=alice&keep_current=true', '&'] : [body]) {
        expect([path, await post(path, sent, `Content-Type: ${type}`)]).toEqual([path, [415, DETAIL]]);
      }
    }
  });

  it("a body without a content type is refused, and one that exceeds the application's limit", async () => {
    const large = JSON.stringify({ username: 'x'.repeat(150_000) });
    for (const path of PATHS) {
      expect([path, await post(path, '{}')]).toEqual([path, [415, DETAIL]]);
      expect([path, await postJson(path, large)]).toEqual([path, [413, DETAIL]]);
    }
  });

  it('the content type of JSON is read without regard to case, and with UTF-8 as its charset', async () => {
    const body = JSON.stringify({ username: 'alice', password: PASSWORD });
    for (const type of ['Application/JSON', 'application/json; charset=utf-8', 'application/json;charset="UTF-8"']) {
      expect([type, (await post('login', body, `Content-Type: ${type}`))[0]]).toEqual([type, 200]);
    }
  });

  it('a body with an unknown or incorrect content encoding is refused', async () => {
    const json = 'Content-Type: application/json';
    // Fastify does not decompress a body, and parses the bytes that it receives.
    const isExpress = platform === 'express';
    const sent = isExpress ? '{}' : '\x1f\x8b';
    expect(await post('login', sent, json, 'Content-Encoding: nonsense')).toEqual([isExpress ? 415 : 400, DETAIL]);
    expect(await post('login', sent, json, 'Content-Encoding: gzip')).toEqual([400, DETAIL]);
  });

  it('deeply nested JSON does not cause an internal error', async () => {
    const deep = '[' + '['.repeat(40_000) + ']'.repeat(40_000) + ']';
    expect(await postJson('login', `{"username":${deep},"password":"x"}`)).toEqual([400, { username: STRING }]);
    const objects = '{"a":'.repeat(15_000) + '1' + '}'.repeat(15_000);
    const nested = `{"username":"x","password":"x","c":${objects}}`;
    expect(await postJson('login', nested)).toEqual([400, INVALID_CREDENTIALS]);
  });

  it('unknown fields and fields of the prototype do not affect a login', async () => {
    const known = `"username":"alice","password":"${PASSWORD}"`;
    for (const more of ['"__proto__":{"username":"bob"}', '"constructor":1', '"hasOwnProperty":1', '"x":{"y":[]}']) {
      expect((await postJson('login', `{${more},${known}}`))[0]).toBe(200);
    }
    expect(({} as Record<string, unknown>)['username']).toBeUndefined();
  });
});
