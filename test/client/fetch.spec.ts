import { AuthClient, ClientError, memoryTokens, type AuthClientOptions } from 'nestjs-session-auth/client';
import { BASE, Stage, type Opened } from './stage';

const TTL = 900_000;

async function signedIn(options: AuthClientOptions = {}): Promise<{ stage: Stage; one: Opened }> {
  const stage = new Stage(0, {}, 'memory', options);
  const [one] = await stage.openTabs(1);
  stage.server.requests.length = 0;
  return { stage, one: one! };
}

const settled = async (promise: Promise<unknown>): Promise<unknown> => promise.catch((error: unknown) => error);

describe('where the token goes', () => {
  it.each([
    'https://elsewhere.example.com/me',
    'http://app.example.com/me',
    'https://app.example.com:8443/me',
    'https://app.example.com.evil.example/me',
    '//elsewhere.example.com/me',
    'https://app.example.com@elsewhere.example.com/me',
    'data:text/plain,hello',
  ])('never to %s, which is sent nothing at all', async (address) => {
    const { stage, one } = await signedIn();
    expect(await settled(one.client.fetch(address))).toMatchObject({ code: 'foreign_origin' });
    expect(stage.server.requests).toEqual([]);
  });

  it('never to a Request for another origin either', async () => {
    const { stage, one } = await signedIn();
    const request = new Request('https://elsewhere.example.com/me');
    expect(await settled(one.client.fetch(request))).toBeInstanceOf(ClientError);
    expect(stage.server.requests).toEqual([]);
  });

  it('to the origin of baseUrl, to those that were named, and in place of another Authorization', async () => {
    const { stage, one } = await signedIn({
      baseUrl: `${BASE}/api`,
      authPath: '../auth',
      origins: ['https://files.example.com/x'],
    });
    const headers = { authorization: 'Basic Zm9v' };
    for (const address of ['me', '/other', new URL('https://files.example.com/a'), new Request(`${BASE}/b`)]) {
      await stage.time.until(one.client.fetch(address, { headers }));
    }
    expect(stage.server.requests.map(({ path }) => path)).toEqual(['/api/me', '/other', '/a', '/b']);
    expect(new Set(stage.server.requests.map(({ token }) => token))).toEqual(new Set(['access-2']));
  });

  it('nowhere while nobody is signed in', async () => {
    const stage = new Stage(0, {}, 'memory');
    const { client } = stage.open();
    expect(await settled(client.fetch('/me'))).toMatchObject({ code: 'signed_out', status: null });
    expect(await settled(client.sessions())).toMatchObject({ code: 'signed_out' });
    expect(await client.isSignedIn()).toBe(false);
    expect(stage.server.requests).toEqual([]);
  });
});

describe('a request whose token was refused', () => {
  const bodies: readonly (readonly [string, () => RequestInit['body']])[] = [
    ['text', () => 'hello'],
    ['a form', () => new URLSearchParams({ word: 'hello' })],
    ['bytes', () => new TextEncoder().encode('hello')],
    ['a blob', () => new Blob(['hello'])],
  ];

  it.each(bodies)('is sent once more, with its body: %s', async (_, body) => {
    const { stage, one } = await signedIn();
    await stage.time.run(TTL);
    const answer = await stage.time.until(one.client.fetch('/me', { method: 'POST', body: body() ?? null }));
    expect(await answer.json()).toMatchObject({ method: 'POST', body: expect.stringContaining('hello') });
    expect(stage.server.requests.map(({ path }) => path)).toEqual(['/me', '/auth/token/refresh/', '/me']);
  });

  it('is sent once more where it was given as a Request', async () => {
    const { stage, one } = await signedIn();
    await stage.time.run(TTL);
    const request = new Request(`${BASE}/me`, { method: 'POST', body: 'hello' });
    const answer = await stage.time.until(one.client.fetch(request));
    expect(await answer.json()).toMatchObject({ body: 'hello' });
  });

  const stream = (): RequestInit => ({ method: 'POST', body: new Blob(['hello']).stream(), duplex: 'half' });

  it('is answered with its 401 where its body was a stream; the next one goes', async () => {
    const { stage, one } = await signedIn();
    await stage.time.run(TTL);
    expect((await stage.time.until(one.client.fetch('/me', stream()))).status).toBe(401);
    expect((await stage.time.until(one.client.fetch('/me', stream()))).status).toBe(200);
    expect(stage.server.requests.map(({ path }) => path)).toEqual(['/me', '/auth/token/refresh/', '/me']);
  });

  it('is not sent with a token that is about to end where its body is a stream', async () => {
    const { stage, one } = await signedIn({ accessTokenTtlSeconds: 900 });
    await stage.time.run(TTL - 50_000);
    expect((await stage.time.until(one.client.fetch('/me'))).status).toBe(200);
    expect((await stage.time.until(one.client.fetch('/me', stream()))).status).toBe(200);
    expect(stage.server.requests.map(({ path }) => path)).toEqual(['/me', '/auth/token/refresh/', '/me']);
  });

  it('is sent once more and no more', async () => {
    const { stage, one } = await signedIn();
    let asked = 0;
    const always = (): Promise<Response> =>
      Promise.resolve(Response.json({ detail: 'Invalid or expired access token.' }, { status: 401 }));
    const client = new AuthClient({
      baseUrl: BASE,
      storage: kept(one),
      environment: {
        ...one.tab.environment,
        fetch: (input) => {
          const isRefresh = new URL((input as Request).url).pathname.endsWith('/refresh/');
          return isRefresh ? stage.server.fetch(input) : (asked++, always());
        },
      },
    });
    expect((await stage.time.until(client.fetch('/me'))).status).toBe(401);
    expect(asked).toBe(2);
  });

  it('is not what a 401 of the host about something else is', async () => {
    const { stage, one } = await signedIn();
    const other = Response.json({ message: 'Wrong PIN' }, { status: 401 });
    const client = new AuthClient({
      baseUrl: BASE,
      storage: kept(one),
      environment: { ...one.tab.environment, fetch: () => Promise.resolve(other) },
    });
    const answer = await stage.time.until(client.fetch('/me'));
    expect(await answer.json()).toEqual({ message: 'Wrong PIN' });
    expect(one.told).toEqual([]);
  });

  it('costs no refresh each time when it cannot be refreshed ahead: that is tried again after a while', async () => {
    const { stage, one } = await signedIn({ accessTokenTtlSeconds: 900 });
    stage.server.journey = () => ({ status: 429 });
    await stage.time.run(TTL - 20_000);
    for (let i = 0; i < 5; i++) expect(await stage.askAll([one])).toEqual([200]);
    stage.server.journey = () => ({});
    await stage.time.run(1_000);
    expect(await stage.askAll([one])).toEqual([200]);
    expect(stage.server.refreshes).toBe(1);
  });
});

describe('a request of one user', () => {
  it('is not repeated for another one who has signed in meanwhile', async () => {
    const stage = new Stage(0);
    const [one, other] = await stage.openTabs(2);
    await stage.time.run(TTL);
    const entering = other!.client.login('bob', 'secret');
    await stage.time.run(1);
    expect(await stage.askAll([one!])).toEqual([401]);
    await stage.time.until(entering);
    expect(await stage.askAll([one!, other!])).toEqual([200, 200]);
  });

  it('that ends the session leaves alone what somebody has signed in to meanwhile', async () => {
    const stage = new Stage(0);
    const [one, other] = await stage.openTabs(2);
    const leaving = one!.client.logout();
    const entering = other!.client.login('bob', 'secret');
    await stage.time.until(Promise.all([leaving, entering]));
    expect(await stage.askAll([other!])).toEqual([200]);
  });

  it('that is refreshed late does not put its tokens in the place of newer ones, even where the lock failed', async () => {
    const stage = new Stage(0, {}, 'local', { lock: { run: (work) => work() } });
    const [one, other] = await stage.openTabs(2);
    await stage.time.run(TTL);
    stage.server.journey = () => ({ back: 3_000 });
    const asking = stage.ask(one!);
    await stage.time.run(1_000);
    const { sessionId } = await stage.time.until(other!.client.login('bob', 'secret'));
    await stage.time.until(asking);
    const answer = await stage.time.until(other!.client.fetch('/me'));
    expect(await answer.json()).toMatchObject({ session_id: sessionId });
  });
});

describe('a storage that fails', () => {
  it('lets the call reject with its error, and no refresh token is sent', async () => {
    const storage = memoryTokens();
    const { stage, one } = await signedIn({ storage });
    await stage.time.run(TTL);
    const full = new Error('The disk is full.');
    storage.write = () => Promise.reject(full);
    expect(await stage.time.until(settled(one.client.fetch('/me')))).toBe(full);
    expect(await stage.time.until(settled(one.client.sessions()))).toBe(full);
    expect(stage.server.refreshes).toBe(0);
  });
});

describe('what a client is told at the start', () => {
  it.each([
    [{ refreshReuseGraceSeconds: 61 }, 'refreshReuseGraceSeconds is 61: write a number of seconds from 0 to 60.'],
    [
      { accessTokenTtlSeconds: Number.NaN },
      'accessTokenTtlSeconds is NaN: write a number of seconds from 1 to Infinity.',
    ],
    [{ refreshTimeoutSeconds: 0 }, 'refreshTimeoutSeconds is 0: write a number of seconds from 1 to 60.'],
  ])('%j is refused', (options, message) => {
    expect(() => new AuthClient({ baseUrl: BASE, ...options })).toThrow(message);
  });

  it('needs to be where the server is, outside a page', () => {
    expect(() => new AuthClient()).toThrow('write `baseUrl`');
  });
});

describe('a listener', () => {
  it('is called until it is taken off', async () => {
    const { stage, one } = await signedIn();
    const heard: string[] = [];
    const stop = one.client.on('refreshed', ({ sessionId }) => heard.push(sessionId));
    await stage.time.run(TTL);
    await stage.askAll([one]);
    stop();
    await stage.time.run(TTL);
    await stage.askAll([one]);
    expect(heard).toEqual(['session-1']);
    expect(one.told).toEqual(['refreshed', 'refreshed']);
  });
});

/** The tokens of a client, for another one. */
function kept({ client }: Opened): ReturnType<typeof memoryTokens> {
  return (client as unknown as { parts: { keeper: { storage: ReturnType<typeof memoryTokens> } } }).parts.keeper
    .storage;
}
