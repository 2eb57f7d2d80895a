import { AuthClient, memoryTokens, type AuthClientOptions } from 'nestjs-session-auth-client';
import { BASE, Fixture, signedIn, withExpiredToken, TTL } from './fixture';

const REPEATED = ['/me', '/auth/token/refresh', '/me'];

/** Signs in with tokens in memory, and forgets the request of the login. */
const start = async (options: AuthClientOptions = {}): ReturnType<typeof signedIn> => {
  const signed = await signedIn({ kind: 'memory', options });
  signed.server.requests.length = 0;
  return signed;
};

describe('the origins that receive credentials', () => {
  it.each([
    'https://elsewhere.example.com/me',
    'http://app.example.com/me',
    'https://app.example.com:8443/me',
    'https://app.example.com.evil.example/me',
    '//elsewhere.example.com/me',
    'https://app.example.com@elsewhere.example.com/me',
    'data:text/plain,hello',
  ])('a request to %s receives no access token and is not sent', async (address) => {
    const { fixture, server, one } = await start();
    for (const input of [address, new Request('https://elsewhere.example.com/me')]) {
      expect(await fixture.rejection(one.client.fetch(input))).toMatchObject({ code: 'foreign_origin' });
    }
    expect(server.requests).toEqual([]);
  });

  it('requests to the origins of baseUrl and of the option `origins` carry the access token and no other Authorization', async () => {
    const origins = ['https://files.example.com/x'];
    const { fixture, server, one } = await start({ baseUrl: `${BASE}/api`, authPath: '../auth', origins });
    const headers = { authorization: 'Basic Zm9v' };
    for (const address of ['me', '/other', new URL('https://files.example.com/a'), new Request(`${BASE}/b`)]) {
      await fixture.time.until(one.client.fetch(address, { headers }));
    }
    expect(server.requests.map(({ path, token }) => `${path} ${token}`)).toEqual(
      ['/api/me', '/other', '/a', '/b'].map((path) => `${path} access-2`),
    );
  });

  it('no path leads to an origin other than that of baseUrl', async () => {
    const urls: string[] = [];
    const fetch = (input: string | Request): Promise<Response> => {
      urls.push((input as Request).url);
      return Promise.resolve(new Response('{}', { status: 404 }));
    };
    for (const authPath of ['https://evil.example/auth', '//evil.example/auth', '/auth/', '../auth']) {
      const client = new AuthClient({ baseUrl: `${BASE}/api/`, authPath, environment: { fetch } });
      await expect(client.login('alice', 'secret')).rejects.toThrow();
    }
    expect(new Set(urls.map((url) => new URL(url).origin))).toEqual(new Set([BASE]));
    const logins = urls.filter((url) => url.endsWith('/login'));
    expect(logins.slice(2)).toEqual([`${BASE}/api/auth/login`, `${BASE}/auth/login`]);
  });

  it('requests with passwords and tokens do not follow redirects', async () => {
    const { fixture, server, one } = await withExpiredToken();
    await fixture.time.until(one.client.changePassword('secret', 'another secret'));
    expect(server.paths).toEqual([
      '/auth/login',
      '/auth/password/change',
      '/auth/token/refresh',
      '/auth/password/change',
    ]);
    expect(new Set(server.requests.map(({ redirect }) => redirect))).toEqual(new Set(['manual']));
  });
});

describe('requests whose token was refused', () => {
  it.each<[string, () => [string | Request, RequestInit?]]>([
    ['text', () => ['/me', { method: 'POST', body: 'hello' }]],
    ['a form', () => ['/me', { method: 'POST', body: new URLSearchParams({ word: 'hello' }) }]],
    ['bytes', () => ['/me', { method: 'POST', body: new TextEncoder().encode('hello') }]],
    ['a blob', () => ['/me', { method: 'POST', body: new Blob(['hello']) }]],
    ['of a Request', () => [new Request(`${BASE}/me`, { method: 'POST', body: 'hello' })]],
  ])('a refused request is repeated once with its body: %s', async (_, request) => {
    const { fixture, server, one } = await start();
    await fixture.time.run(TTL);
    const answer = await fixture.time.until(one.client.fetch(...request()));
    expect(await answer.json()).toMatchObject({ method: 'POST', body: expect.stringContaining('hello') });
    expect(server.paths).toEqual(REPEATED);
  });

  it('a request with a stream as its body is not repeated, and not sent with a token that is about to expire', async () => {
    const stream = (): RequestInit => ({ method: 'POST', body: new Blob(['hello']).stream(), duplex: 'half' });
    const { fixture, server, one } = await start({ accessTokenTtlSeconds: 900 });
    server.expireAccessTokens();
    expect((await fixture.time.until(one.client.fetch('/me', stream()))).status).toBe(401);
    expect((await fixture.time.until(one.client.fetch('/me', stream()))).status).toBe(200);
    expect(server.paths).toEqual(REPEATED);
    await fixture.time.run(TTL - 50_000);
    expect(await fixture.requestInAll([one])).toEqual([200]);
    expect((await fixture.time.until(one.client.fetch('/me', stream()))).status).toBe(200);
    expect(server.paths.slice(3)).toEqual(REPEATED);
  });

  it.each([
    ['twice after a refusal by the guard', { code: 'access_token_invalid' }, 2],
    ['once after a 401 of the application', { message: 'Wrong PIN' }, 1],
  ])('a request that is always refused is sent %s, and the caller gets the 401', async (_, body, times) => {
    const fixture = new Fixture({ kind: 'memory' });
    const refuse = jest.fn(() => Response.json(body, { status: 401 }));
    const one = fixture.openWith('/me', refuse);
    await fixture.login(one);
    const answer = await fixture.time.until(one.client.fetch('/me'));
    expect([answer.status, await answer.json(), refuse.mock.calls.length]).toEqual([401, body, times]);
  });

  it('after a refresh before the expiry fails, the client pauses before the next attempt', async () => {
    const { fixture, server, one } = await start({ accessTokenTtlSeconds: 900 });
    let attempts = 0;
    server.delivery = () => (attempts++, { status: 429 });
    await fixture.time.run(TTL - 20_000);
    for (let i = 0; i < 5; i++) expect(await fixture.requestInAll([one])).toEqual([200]);
    expect(attempts).toBe(1);
    server.delivery = () => ({});
    await fixture.time.run(1_000);
    expect(await fixture.requestInAll([one])).toEqual([200]);
    expect(server.refreshes).toBe(1);
  });
});

describe('requests that the caller aborts', () => {
  const left = new Error('The user has left.');

  it('an aborted request rejects immediately, and the refresh that it waits for continues', async () => {
    for (const options of [{}, { accessTokenTtlSeconds: 900 }]) {
      const { fixture, server, one } = await start(options);
      await fixture.time.run(TTL);
      server.delivery = () => ({ responseDelay: 5_000 });
      const aborted = new AbortController();
      const asking = fixture.rejection(one.client.fetch('/me', { signal: aborted.signal }));
      await fixture.time.run(1_000);
      const abortedAt = fixture.time.now();
      aborted.abort(left);
      expect(await asking).toBe(left);
      expect(fixture.time.now() - abortedAt).toBeLessThan(100);
      await fixture.time.run(10_000);
      expect(server.refreshes).toBe(1);
      expect(await fixture.requestInAll([one])).toEqual([200]);
    }
  });

  it('a request that is aborted before or while the client reads its tokens is not sent', async () => {
    const { fixture, server, one } = await start({ accessTokenTtlSeconds: 900 });
    const request = new Request(`${BASE}/me`, { signal: AbortSignal.abort() });
    expect(await fixture.rejection(one.client.fetch(request))).toMatchObject({ name: 'AbortError' });
    const aborted = new AbortController();
    const asking = one.client.fetch('/me', { signal: aborted.signal });
    aborted.abort(left);
    expect(await fixture.rejection(asking)).toBe(left);
    expect(server.requests).toEqual([]);
  });
});

describe('requests while the user changes', () => {
  it('a request of one user is not repeated for another user who has signed in in the meantime', async () => {
    const { fixture, tabs } = await withExpiredToken({ tabs: 2 });
    tabs[0]!.client.on('sessionChanged', () => undefined);
    const entering = tabs[1]!.client.login('bob', 'secret');
    await fixture.time.run(1);
    expect(await fixture.requestInAll([tabs[0]!])).toEqual([401]);
    await fixture.time.until(entering);
    expect(await fixture.requestInAll(tabs)).toEqual([200, 200]);
  });

  it.each(['local', 'cookie'] as const)(
    'a sign-out keeps the session of another user who has signed in in the meantime, with %s storage',
    async (kind) => {
      const { fixture, tabs } = await signedIn({ kind, tabs: 2 });
      const entering = tabs[1]!.client.login('bob', 'secret');
      const leaving = tabs[0]!.client.logout().catch((error: unknown) => error);
      await fixture.time.until(entering);
      // With cookies, the server cannot know whose session the request is to end.
      const refused = kind === 'cookie' ? { code: 'session_changed' } : undefined;
      expect(await fixture.time.until(leaving)).toEqual(refused && expect.objectContaining(refused));
      expect(await fixture.userOf(tabs[1]!)).toBe('bob');
    },
  );

  it.each([
    ['with cookies', { kind: 'cookie' } as const],
    ['even if the lock fails', { options: { lock: { run: <T>(work: () => Promise<T>) => work() } } }],
  ])('a late refresh does not replace the tokens of a newer login, %s', async (_, setup) => {
    const { fixture, server, tabs } = await withExpiredToken({ ...setup, tabs: 2 });
    server.delivery = () => ({ responseDelay: 3_000 });
    const asking = fixture.request(tabs[0]!);
    await fixture.time.run(1_000);
    await fixture.login(tabs[1]!, 'bob');
    await fixture.time.until(asking);
    expect(await fixture.userOf(tabs[1]!)).toBe('bob');
  });
});

describe('a client that cannot work', () => {
  it('a call rejects with the error of the storage, and no refresh token is sent', async () => {
    const storage = memoryTokens();
    const { fixture, server, one } = await start({ storage });
    await fixture.time.run(TTL);
    const full = new Error('The disk is full.');
    storage.write = () => Promise.reject(full);
    expect(await fixture.rejection(one.client.fetch('/me'))).toBe(full);
    expect(await fixture.rejection(one.client.sessions())).toBe(full);
    expect(server.refreshes).toBe(0);
  });

  it.each([
    [{ refreshReuseGraceSeconds: 61 }, 'refreshReuseGraceSeconds is 61. Use 0 to 60 seconds.'],
    [{ accessTokenTtlSeconds: Number.NaN }, 'accessTokenTtlSeconds is NaN. Use 1 to 3155760000 seconds.'],
    [{ refreshTimeoutSeconds: 0 }, 'refreshTimeoutSeconds is 0. Use 1 to 60 seconds.'],
    [{ transport: 'cookie', storage: memoryTokens() } as const, 'With cookies, remove `storage`.'],
    [{ baseUrl: 'app.example.com' }, 'Invalid URL'],
  ])('the options %j are refused', (options: AuthClientOptions, message) => {
    expect(() => new AuthClient({ baseUrl: BASE, ...options })).toThrow(message);
  });

  it('with `anonymous: send`, requests are sent without a token before a login and after the end of the session', async () => {
    const fixture = new Fixture({ kind: 'memory', options: { anonymous: 'send', accessTokenTtlSeconds: 900 } });
    const { server } = fixture;
    const one = fixture.open();
    const tokenOf = (path: string): string | null | undefined =>
      server.requests.find((sent) => sent.path === path)?.token;
    expect((await fixture.time.until(one.client.fetch('/before'))).status).toBe(401);
    await fixture.login(one);
    expect((await fixture.time.until(one.client.fetch('/during'))).status).toBe(200);
    server.endAll();
    await fixture.time.run(TTL);
    expect((await fixture.time.until(one.client.fetch('/after'))).status).toBe(401);
    expect(['/before', '/during', '/after'].map(tokenOf)).toEqual([null, 'access-2', null]);
    expect(one.emitted).toEqual(['signedOutElsewhere']);
    expect(await fixture.rejection(one.client.accessToken())).toMatchObject({ code: 'signed_out' });
    const foreign = one.client.fetch('https://elsewhere.example.com/');
    expect(await fixture.rejection(foreign)).toMatchObject({ code: 'foreign_origin' });
  });
});

const URL_OF_LOGIN = `${BASE}/auth/login`;
it.each<[string, string, number, Record<string, string>, string]>([
  ['redirects', '', 308, { Location: '/auth/login/' }, `${URL_OF_LOGIN} redirects to /auth/login/. Check \`baseUrl\``],
  ['redirects, in a browser', '', 0, {}, `${URL_OF_LOGIN} redirects to another URL.`],
  ['does not exist', '{}', 404, {}, `Status 404 of ${URL_OF_LOGIN}. Check \`baseUrl\` and \`authPath\`.`],
  ['is a page', '<html>', 200, {}, `The response of ${URL_OF_LOGIN} is not JSON. Check \`baseUrl\``],
])('the error of a login names the URL of the endpoint if it %s', async (_, body, status, headers, detail) => {
  const fixture = new Fixture();
  const { client } = fixture.openWith('/login', () => {
    // Only a browser can create a response with the status 0.
    const response = new Response(body || null, { status: status || 204, headers });
    const own = { url: { value: URL_OF_LOGIN }, status: { value: status }, ok: { value: status === 200 } };
    return Object.defineProperties(response, own);
  });
  const error = await fixture.rejection(client.login('alice', 'secret'));
  expect((error as Error).message).toContain(detail);
});

it('a refused response that other code has cloned, as MSW does, does not delay the repeated request', async () => {
  const fixture = new Fixture({ kind: 'memory' });
  const one = fixture.openIn({
    fetch: async (...request) => {
      const response = await fixture.server.fetch(...request);
      response.clone();
      return response;
    },
  });
  await fixture.login(one);
  fixture.server.expireAccessTokens();
  expect(await fixture.requestInAll([one])).toEqual([200]);
});
