import { AuthClient, ClientError, memoryTokens, type AuthClientOptions } from 'nestjs-session-auth-client';
import { BASE, Fixture, type OpenedTab } from './fixture';

const TTL = 900_000;

async function signedIn(options: AuthClientOptions = {}): Promise<{ fixture: Fixture; one: OpenedTab }> {
  const fixture = new Fixture(0, {}, 'memory', options);
  const [one] = await fixture.openTabs(1);
  fixture.server.requests.length = 0;
  return { fixture, one: one! };
}

const settled = async (promise: Promise<unknown>): Promise<unknown> => promise.catch((error: unknown) => error);

describe('the origins that receive the access token', () => {
  it.each([
    'https://elsewhere.example.com/me',
    'http://app.example.com/me',
    'https://app.example.com:8443/me',
    'https://app.example.com.evil.example/me',
    '//elsewhere.example.com/me',
    'https://app.example.com@elsewhere.example.com/me',
    'data:text/plain,hello',
  ])('a request to %s receives no access token and is not sent', async (address) => {
    const { fixture, one } = await signedIn();
    expect(await settled(one.client.fetch(address))).toMatchObject({ code: 'foreign_origin' });
    expect(fixture.server.requests).toEqual([]);
  });

  it('a Request object for another origin receives no access token', async () => {
    const { fixture, one } = await signedIn();
    const request = new Request('https://elsewhere.example.com/me');
    expect(await settled(one.client.fetch(request))).toBeInstanceOf(ClientError);
    expect(fixture.server.requests).toEqual([]);
  });

  it('requests to the origins of baseUrl and of the option `origins` carry the access token and no other Authorization', async () => {
    const { fixture, one } = await signedIn({
      baseUrl: `${BASE}/api`,
      authPath: '../auth',
      origins: ['https://files.example.com/x'],
    });
    const headers = { authorization: 'Basic Zm9v' };
    for (const address of ['me', '/other', new URL('https://files.example.com/a'), new Request(`${BASE}/b`)]) {
      await fixture.time.until(one.client.fetch(address, { headers }));
    }
    expect(fixture.server.requests.map(({ path }) => path)).toEqual(['/api/me', '/other', '/a', '/b']);
    expect(new Set(fixture.server.requests.map(({ token }) => token))).toEqual(new Set(['access-2']));
  });

  it('a call rejects with signed_out while nobody is signed in', async () => {
    const fixture = new Fixture(0, {}, 'memory');
    const { client } = fixture.open();
    expect(await settled(client.fetch('/me'))).toMatchObject({ code: 'signed_out', status: null });
    expect(await settled(client.sessions())).toMatchObject({ code: 'signed_out' });
    expect(await client.isSignedIn()).toBe(false);
    expect(fixture.server.requests).toEqual([]);
  });
});

describe('requests whose token was refused', () => {
  const bodies: readonly (readonly [string, () => RequestInit['body']])[] = [
    ['text', () => 'hello'],
    ['a form', () => new URLSearchParams({ word: 'hello' })],
    ['bytes', () => new TextEncoder().encode('hello')],
    ['a blob', () => new Blob(['hello'])],
  ];

  it.each(bodies)('a refused request is repeated once with its body: %s', async (_, body) => {
    const { fixture, one } = await signedIn();
    await fixture.time.run(TTL);
    const answer = await fixture.time.until(one.client.fetch('/me', { method: 'POST', body: body() ?? null }));
    expect(await answer.json()).toMatchObject({ method: 'POST', body: expect.stringContaining('hello') });
    expect(fixture.server.requests.map(({ path }) => path)).toEqual(['/me', '/auth/token/refresh/', '/me']);
  });

  it('a refused request that was passed as a Request is repeated once', async () => {
    const { fixture, one } = await signedIn();
    await fixture.time.run(TTL);
    const request = new Request(`${BASE}/me`, { method: 'POST', body: 'hello' });
    const answer = await fixture.time.until(one.client.fetch(request));
    expect(await answer.json()).toMatchObject({ body: 'hello' });
  });

  const stream = (): RequestInit => ({ method: 'POST', body: new Blob(['hello']).stream(), duplex: 'half' });

  it('a refused request with a stream as its body returns its 401, and the next request succeeds', async () => {
    const { fixture, one } = await signedIn();
    await fixture.time.run(TTL);
    expect((await fixture.time.until(one.client.fetch('/me', stream()))).status).toBe(401);
    expect((await fixture.time.until(one.client.fetch('/me', stream()))).status).toBe(200);
    expect(fixture.server.requests.map(({ path }) => path)).toEqual(['/me', '/auth/token/refresh/', '/me']);
  });

  it('a request with a stream as its body is not sent with a token that is about to expire', async () => {
    const { fixture, one } = await signedIn({ accessTokenTtlSeconds: 900 });
    await fixture.time.run(TTL - 50_000);
    expect((await fixture.time.until(one.client.fetch('/me'))).status).toBe(200);
    expect((await fixture.time.until(one.client.fetch('/me', stream()))).status).toBe(200);
    expect(fixture.server.requests.map(({ path }) => path)).toEqual(['/me', '/auth/token/refresh/', '/me']);
  });

  it('a refused request is repeated only once', async () => {
    const storage = memoryTokens();
    const { fixture, one } = await signedIn({ storage });
    let asked = 0;
    const always = (): Promise<Response> =>
      Promise.resolve(
        Response.json({ detail: 'Invalid or expired access token.', code: 'access_token_invalid' }, { status: 401 }),
      );
    const client = new AuthClient({
      baseUrl: BASE,
      storage,
      environment: {
        ...one.tab.environment,
        fetch: (input) => {
          const isRefresh = new URL((input as Request).url).pathname.endsWith('/refresh/');
          return isRefresh ? fixture.server.fetch(input) : (asked++, always());
        },
      },
    });
    expect((await fixture.time.until(client.fetch('/me'))).status).toBe(401);
    expect(asked).toBe(2);
  });

  it('a request is not repeated if the application responds with 401 for another reason', async () => {
    const storage = memoryTokens();
    const { fixture, one } = await signedIn({ storage });
    const other = Response.json({ message: 'Wrong PIN' }, { status: 401 });
    const client = new AuthClient({
      baseUrl: BASE,
      storage,
      environment: { ...one.tab.environment, fetch: () => Promise.resolve(other) },
    });
    const answer = await fixture.time.until(client.fetch('/me'));
    expect(await answer.json()).toEqual({ message: 'Wrong PIN' });
    expect(one.emitted).toEqual([]);
  });

  it('after a refresh before the expiry fails, the client pauses before the next attempt', async () => {
    const { fixture, one } = await signedIn({ accessTokenTtlSeconds: 900 });
    fixture.server.delivery = () => ({ status: 429 });
    await fixture.time.run(TTL - 20_000);
    for (let i = 0; i < 5; i++) expect(await fixture.requestInAll([one])).toEqual([200]);
    fixture.server.delivery = () => ({});
    await fixture.time.run(1_000);
    expect(await fixture.requestInAll([one])).toEqual([200]);
    expect(fixture.server.refreshes).toBe(1);
  });
});

describe('requests while the user changes', () => {
  it('a request of one user is not repeated for another user who has signed in in the meantime', async () => {
    const fixture = new Fixture(0);
    const [one, other] = await fixture.openTabs(2);
    await fixture.time.run(TTL);
    const entering = other!.client.login('bob', 'secret');
    await fixture.time.run(1);
    expect(await fixture.requestInAll([one!])).toEqual([401]);
    await fixture.time.until(entering);
    expect(await fixture.requestInAll([one!, other!])).toEqual([200, 200]);
  });

  it('a request that ends its session keeps the session of another user who has signed in in the meantime', async () => {
    const fixture = new Fixture(0);
    const [one, other] = await fixture.openTabs(2);
    const leaving = one!.client.logout();
    const entering = other!.client.login('bob', 'secret');
    await fixture.time.until(Promise.all([leaving, entering]));
    expect(await fixture.requestInAll([other!])).toEqual([200]);
  });

  it('with cookies, a sign-out does not end the session of another user who has signed in in the meantime', async () => {
    const fixture = new Fixture(0, {}, 'cookie');
    const [one, other] = await fixture.openTabs(2);
    const entering = other!.client.login('bob', 'secret');
    const leaving = settled(one!.client.logout());
    await fixture.time.until(entering);
    expect(await fixture.time.until(leaving)).toMatchObject({ code: 'signed_out' });
    expect(await fixture.requestInAll([one!, other!])).toEqual([200, 200]);
  });

  it('a late refresh does not replace the tokens of a newer login, even if the lock fails', async () => {
    const fixture = new Fixture(0, {}, 'local', { lock: { run: (work) => work() } });
    const [one, other] = await fixture.openTabs(2);
    await fixture.time.run(TTL);
    fixture.server.delivery = () => ({ responseDelay: 3_000 });
    const asking = fixture.request(one!);
    await fixture.time.run(1_000);
    const { sessionId } = await fixture.time.until(other!.client.login('bob', 'secret'));
    await fixture.time.until(asking);
    const answer = await fixture.time.until(other!.client.fetch('/me'));
    expect(await answer.json()).toMatchObject({ session_id: sessionId });
  });
});

describe('storages that fail', () => {
  it('a call rejects with the error of the storage, and no refresh token is sent', async () => {
    const storage = memoryTokens();
    const { fixture, one } = await signedIn({ storage });
    await fixture.time.run(TTL);
    const full = new Error('The disk is full.');
    storage.write = () => Promise.reject(full);
    expect(await fixture.time.until(settled(one.client.fetch('/me')))).toBe(full);
    expect(await fixture.time.until(settled(one.client.sessions()))).toBe(full);
    expect(fixture.server.refreshes).toBe(0);
  });
});

describe('the options of a client', () => {
  it.each([
    [{ refreshReuseGraceSeconds: 61 }, 'refreshReuseGraceSeconds is 61. Use 0 to 60 seconds.'],
    [{ accessTokenTtlSeconds: Number.NaN }, 'accessTokenTtlSeconds is NaN. Use 1 to 3600 seconds.'],
    [{ refreshTimeoutSeconds: 0 }, 'refreshTimeoutSeconds is 0. Use 1 to 60 seconds.'],
  ])('the options %j are refused', (options, message) => {
    expect(() => new AuthClient({ baseUrl: BASE, ...options })).toThrow(message);
  });

  it('baseUrl is required outside a page', () => {
    expect(() => new AuthClient()).toThrow('`baseUrl` is required');
  });
});

describe('a listener', () => {
  it('a listener is called until it is removed', async () => {
    const { fixture, one } = await signedIn();
    const heard: string[] = [];
    const stop = one.client.on('refreshed', ({ sessionId }) => heard.push(sessionId));
    await fixture.time.run(TTL);
    await fixture.requestInAll([one]);
    stop();
    await fixture.time.run(TTL);
    await fixture.requestInAll([one]);
    expect(heard).toEqual(['session-1']);
    expect(one.emitted).toEqual(['refreshed', 'refreshed']);
  });
});
