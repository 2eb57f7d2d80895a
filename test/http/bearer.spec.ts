import { AuthUser } from 'nestjs-session-auth';
import { DAY, MINUTE } from '../support/driven-clock';
import { describeHttp, sendRaw, type RawAnswer } from '../support/environment';
import { PASSWORD } from '../support/test-application';

const MISSING = '{"detail":"Authentication credentials were not provided.","code":"credentials_missing"}';
const INVALID = '{"detail":"Invalid or expired access token.","code":"access_token_invalid"}';

const ROUTES = [
  ...['POST /auth/logout/', 'POST /auth/logout/all/', 'POST /auth/password/change/', 'GET /auth/sessions/'],
  ...['DELETE /auth/sessions/5f0c6f0e-8a3e-4d6c-9a55-0d5a4f5a7b11/', 'GET /auth/history/', 'GET /me'],
];

const GUARDED = ['GET /me', 'GET /auth/sessions/'];

/** Headers without a token, or with another scheme. */
const NOT_PROVIDED = [
  ...['Bearer', 'bearer', 'BEARER', 'Bearer ', 'Bearer    ', 'Bearer\t', '', ' '],
  ...['Basic YWxpY2U6cGFzc3dvcmQ=', 'Token abc', 'Digest username="alice"', 'abc'],
  ...['Bearerabc', 'Bearer-abc', 'XBearer abc', '"Bearer abc"'],
];

/** Headers in which the value after `Bearer` is not a valid access token. */
const NO_TOKEN = [
  ...['Bearer x', 'bearer x', 'BEARER x', 'Bearer null', 'Bearer undefined', 'Bearer Bearer', 'Bearer two parts'],
  ...['Bearer a,b', 'Bearer =', 'Bearer "quoted"', "Bearer ' OR '1'='1", 'Bearer %00', 'Bearer \\', 'Bearer {}'],
  ...['Bearer ..', 'Bearer \u00e9\u00ff', 'Bearer \u00a0', 'Bearer nsaa_', `Bearer nsaa_${'A'.repeat(49)}`],
  ...[`Bearer nsar_${'A'.repeat(49)}`, `Bearer nsaa_${'A'.repeat(43)}000000`, `Bearer NSAA_${'A'.repeat(49)}`],
  ...[`Bearer ${'a'.repeat(43)}`, `Bearer ${'a'.repeat(8_000)}`, 'Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJhbGljZSJ9.'],
];

describeHttp('bearer tokens', {}, ({ app }) => {
  const ask = (route: string, ...authorization: string[]): Promise<RawAnswer> =>
    sendRaw(app, [`${route} HTTP/1.1`, ...authorization.map((value) => `Authorization: ${value}`)]);
  const askMe = (token: string): Promise<RawAnswer> => ask('GET /me', `Bearer ${token}`);
  const invalid = (route = 'GET /me'): Promise<RawAnswer> => ask(route, 'Bearer unknown');

  it.each(ROUTES)(
    '%s refuses a request without valid credentials, and distinguishes only between missing and invalid credentials',
    async (route) => {
      for (const [answer, body, challenge] of [
        [await ask(route), MISSING, 'Bearer realm="api"'],
        [await invalid(route), INVALID, 'Bearer realm="api", error="invalid_token"'],
      ] as const) {
        const headers = { 'www-authenticate': challenge, 'cache-control': 'no-store' };
        expect(answer).toMatchObject({ status: 401, body, headers });
      }
    },
  );

  it.each(NOT_PROVIDED)('the Authorization header %j counts as missing credentials', async (value) => {
    for (const route of GUARDED) expect((await ask(route, value)).bytes).toBe((await ask(route)).bytes);
  });

  it.each(NO_TOKEN)(
    'a request with the Authorization header %j receives the response for an invalid token',
    async (value) => {
      for (const route of GUARDED) expect((await ask(route, value)).bytes).toBe((await invalid(route)).bytes);
    },
  );

  it('a valid access token that was changed in any way is refused, and the scheme name is case-insensitive', async () => {
    const { access_token: token } = await app.login();
    const expected = (await invalid()).bytes;
    for (const other of [
      ...[token.slice(0, -1), `${token}a`, token.toUpperCase(), token.toLowerCase(), token.slice(1), token.slice(5)],
      ...[`${token} ${token}`, `${token},`, `"${token}"`, `${token}=`, `\u00a0${token}`, `${token}\u00a0`],
    ]) {
      expect([other, (await askMe(other)).bytes]).toEqual([other, expected]);
    }
    for (const scheme of ['Bearer', 'bearer', 'BEARER', 'bEaReR']) {
      expect([scheme, (await ask('GET /me', `${scheme} ${token}`)).status]).toEqual([scheme, 200]);
    }
  });

  it('refresh tokens and replaced, revoked, logged-out and expired access tokens are refused with the same response', async () => {
    const expected = (await invalid()).bytes;
    const replaced = await app.login();
    const live = await app.refreshed(replaced);
    const revoked = await app.login();
    await app.delete(`/auth/sessions/${revoked.session_id}`, live.access_token).expect(200);
    const loggedOut = await app.login();
    await app.post('/auth/logout', loggedOut.access_token).expect(200);
    const accessTokens = [replaced, revoked, loggedOut].map(({ access_token }) => access_token);
    for (const token of [live.refresh_token, replaced.refresh_token, ...accessTokens]) {
      expect((await askMe(token)).bytes).toBe(expected);
    }
    app.clock.advance(15 * MINUTE - 1);
    expect((await askMe(live.access_token)).status).toBe(200);
    app.clock.advance(1);
    expect((await askMe(live.access_token)).bytes).toBe(expected);
    app.clock.advance(31 * DAY);
    expect((await askMe(live.access_token)).bytes).toBe(expected);
  });

  it('the access token of a deleted user is refused like an invalid token', async () => {
    await app.auth.createUser({ username: 'carol', password: PASSWORD });
    const { access_token: token } = await app.login('carol');
    await app.dataSource.getRepository(AuthUser).delete({ username: 'carol' });
    expect((await askMe(token)).bytes).toBe((await invalid()).bytes);
    expect(app.sent('user_logged_out').map(({ reason }) => reason)).toEqual(['user_deleted']);
  });

  it.each(ROUTES)('%s refuses a repeated Authorization header, whatever it contains', async (route) => {
    const bearer = `Bearer ${(await app.login()).access_token}`;
    // In the last one, the second header has another spelling of the name.
    const otherSpelling = ['a\r\nAUTHORIZATION: Bearer b'];
    for (const headers of [
      [bearer, bearer],
      [bearer, ''],
      ['', bearer],
      ['Basic abc', bearer],
      ['', ''],
      otherSpelling,
    ]) {
      const answer = await ask(route, ...headers);
      expect([headers, answer.status, JSON.parse(answer.body)]).toEqual([headers, 400, { detail: expect.any(String) }]);
      expect(answer.headers['cache-control']).toBe('no-store');
    }
    expect((await ask('GET /me', bearer)).status).toBe(200);
  });

  it('an access token in the query, a form, a JSON body or a cookie is ignored', async () => {
    const { access_token: token } = await app.login();
    const missing = (await ask('GET /auth/sessions/')).bytes;
    expect((await ask(`GET /auth/sessions/?access_token=${token}&token=${token}`)).bytes).toBe(missing);
    for (const cookie of [`access_token=${token}`, `token=${token}`, `Authorization=Bearer ${token}`]) {
      expect((await sendRaw(app, ['GET /auth/sessions/ HTTP/1.1', `Cookie: ${cookie}`])).bytes).toBe(missing);
    }
    const form = await app.http.post('/auth/logout/').type('form').send({ access_token: token });
    expect([form.status, form.text]).toEqual([401, MISSING]);
    const json = await app.http.post('/auth/logout/').send({ access_token: token, authorization: `Bearer ${token}` });
    expect([json.status, json.text]).toEqual([401, MISSING]);
    await app.get('/me', token).expect(200);
  });
});
