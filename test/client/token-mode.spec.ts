import { AuthClient } from 'nestjs-session-auth-client';
import { BASE, Fixture, type OpenedTab } from './fixture';

const TTL = 900_000;
const settled = async (promise: Promise<unknown>): Promise<unknown> => promise.catch((error: unknown) => error);

async function signedIn(options = {}): Promise<{ fixture: Fixture; one: OpenedTab }> {
  const fixture = new Fixture(0, {}, 'local', options);
  const [one] = await fixture.openTabs(1);
  return { fixture, one: one! };
}

/** Lets the server replace the tokens of the session, as a route of an application does by `confirmIdentity`. */
async function confirmIdentity(
  fixture: Fixture,
  { client }: OpenedTab,
): Promise<{ body: Record<string, string>; sessionId: string }> {
  const me = await fixture.time.until(client.fetch('/me'));
  const { session_id: sessionId } = (await me.json()) as { session_id: string };
  const answer = await fixture.time.until(client.fetch('/auth/password/change/', { method: 'POST' }));
  return { body: (await answer.json()) as Record<string, string>, sessionId };
}

describe('accessToken()', () => {
  it('accessToken() returns the token, and refreshes it first if it is about to expire', async () => {
    const { fixture, one } = await signedIn({ accessTokenTtlSeconds: 900 });
    expect(await one.client.accessToken()).toBe('access-2');
    await fixture.time.run(TTL - 20_000);
    expect(await fixture.time.until(one.client.accessToken())).toBe('access-3');
    expect(await one.client.accessToken()).toBe('access-3');
    expect(fixture.server.refreshes).toBe(1);
  });

  it('accessToken() replaces a token that the server has refused, once for all callers that report it', async () => {
    const { fixture, one } = await signedIn();
    await fixture.time.run(TTL);
    const refused = await one.client.accessToken();
    const renew = (): Promise<string> => one.client.accessToken({ refused });
    expect(await fixture.time.until(Promise.all([renew(), renew()]))).toEqual(['access-3', 'access-3']);
    expect(await renew()).toBe('access-3');
    expect(fixture.server.refreshes).toBe(1);
  });

  it('accessToken() rejects if nobody is signed in, and if the session has ended', async () => {
    const { fixture, one } = await signedIn();
    const refused = await one.client.accessToken();
    fixture.server.endAll();
    expect(await fixture.time.until(settled(one.client.accessToken({ refused })))).toMatchObject({
      code: 'signed_out',
    });
    expect(await settled(one.client.accessToken())).toMatchObject({ code: 'signed_out' });
    expect(one.emitted).toEqual(['signedOutElsewhere']);
  });

  it('accessToken() rejects with the reason if an expired token cannot be refreshed now', async () => {
    const { fixture, one } = await signedIn({ accessTokenTtlSeconds: 900 });
    await fixture.time.run(TTL);
    fixture.server.delivery = () => ({ status: 429 });
    expect(await fixture.time.until(settled(one.client.accessToken()))).toMatchObject({ code: 'too_many_attempts' });
    fixture.server.delivery = () => ({});
    expect(await fixture.time.until(one.client.accessToken())).toBe('access-3');
  });
});

describe('adopt()', () => {
  it('adopt() takes over the tokens of a session that the application has opened, for all tabs', async () => {
    const { fixture, one } = await signedIn();
    const opening = fixture.server.fetch(new Request(`${BASE}/auth/login/`, { method: 'POST' }));
    const body = (await (await fixture.time.until(opening)).json()) as Record<string, string>;
    const opened = {
      accessToken: body['access_token']!,
      refreshToken: body['refresh_token']!,
      sessionId: body['session_id']!,
    };
    await fixture.time.until(one.client.adopt(opened));
    const other = fixture.open();
    await fixture.time.run(TTL);
    const me = await fixture.time.until(other.client.fetch('/me'));
    expect(await me.json()).toMatchObject({ session_id: opened.sessionId });
  });

  it.each(['local', 'session'] as const)(
    'adopt() replaces the tokens of the current session, with %s storage',
    async (kind) => {
      const fixture = new Fixture(0, {}, kind);
      const [one] = await fixture.openTabs(1);
      await fixture.time.run(TTL);
      expect(await fixture.requestInAll([one!])).toEqual([200]);
      const { body, sessionId } = await confirmIdentity(fixture, one!);
      const pair = { accessToken: body['access_token']!, refreshToken: body['refresh_token']! };
      await fixture.time.until(one!.client.adopt({ ...pair, sessionId }));
      await fixture.time.run(TTL);
      expect(await fixture.requestInAll([one!])).toEqual([200]);
      expect(fixture.server.reuses).toBe(0);
      expect(one!.emitted).toEqual(['refreshed', 'refreshed', 'refreshed']);
    },
  );

  it('adopt() refuses a value that is not a session, and keeps the tokens', async () => {
    const { fixture, one } = await signedIn();
    const wrong = { accessToken: 'a', refreshToken: 'r' } as never;
    expect(await fixture.time.until(settled(one.client.adopt(wrong)))).toMatchObject({ code: 'unexpected_answer' });
    expect(await fixture.requestInAll([one])).toEqual([200]);
  });
});

describe('onSessionEnd()', () => {
  it('onSessionEnd() calls its listener once per session end with the reason, until the listener is removed', async () => {
    const { fixture, one } = await signedIn();
    const ends: unknown[] = [];
    const stop = one.client.onSessionEnd((end) => ends.push(end));
    await fixture.time.until(one.client.logout());
    await fixture.time.until(one.client.login('alice', 'secret'));
    fixture.server.endAll();
    await fixture.requestInAll([one]);
    stop();
    await fixture.time.until(one.client.login('alice', 'secret'));
    await fixture.time.until(one.client.logout());
    expect(ends).toEqual([
      { sessionId: 'session-1', reason: 'signedOut' },
      { sessionId: 'session-3', reason: 'signedOutElsewhere' },
    ]);
  });
});

describe('requests that the caller aborts', () => {
  it('an aborted request rejects immediately, and the refresh that it waits for continues', async () => {
    const { fixture, one } = await signedIn();
    await fixture.time.run(TTL);
    fixture.server.delivery = () => ({ responseDelay: 5_000 });
    const aborted = new AbortController();
    const asking = settled(one.client.fetch('/me', { signal: aborted.signal }));
    await fixture.time.run(1_000);
    aborted.abort(new Error('The user has left.'));
    expect(await asking).toMatchObject({ message: 'The user has left.' });
    await fixture.time.run(10_000);
    expect(fixture.server.refreshes).toBe(1);
    expect(await fixture.requestInAll([one])).toEqual([200]);
  });

  it('a request that is aborted while the client reads its tokens rejects immediately', async () => {
    const { fixture, one } = await signedIn({ accessTokenTtlSeconds: 900 });
    await fixture.time.run(TTL);
    fixture.server.delivery = () => ({ responseDelay: 1_000_000 });
    const aborted = new AbortController();
    const sentAt = fixture.time.now();
    const asking = settled(one.client.fetch('/me', { signal: aborted.signal }));
    aborted.abort(new Error('The user has left.'));
    expect(await fixture.time.until(asking)).toMatchObject({ message: 'The user has left.' });
    expect(fixture.time.now()).toBe(sentAt);
  });

  it('a request that is aborted before it is sent sends nothing and refreshes nothing', async () => {
    const { fixture, one } = await signedIn({ accessTokenTtlSeconds: 900 });
    await fixture.time.run(TTL);
    const before = fixture.server.requests.length;
    const request = new Request(`${BASE}/me`, { signal: AbortSignal.abort() });
    expect(await settled(one.client.fetch(request))).toMatchObject({ name: 'AbortError' });
    await fixture.time.run(1_000);
    expect(fixture.server.requests).toHaveLength(before);
  });
});

describe('requests with an AbortSignal', () => {
  it('a finished request leaves no listener on its signal, which a page may reuse', async () => {
    const { fixture, one } = await signedIn();
    const listeners = new Set<unknown>();
    const request = new Request(`${BASE}/me`, { signal: new AbortController().signal });
    const spies = [
      // Listeners with options belong to Node, which references them weakly.
      jest.spyOn(AbortSignal.prototype, 'addEventListener').mockImplementation((_, listener, options) => {
        if (options === undefined) listeners.add(listener);
      }),
      jest.spyOn(AbortSignal.prototype, 'removeEventListener').mockImplementation((_, listener) => {
        listeners.delete(listener);
      }),
    ];
    expect(await fixture.time.until(one.client.fetch(request))).toMatchObject({ status: 200 });
    spies.forEach((spy) => spy.mockRestore());
    expect([...listeners]).toEqual([]);
  });
});

describe('a closed client', () => {
  it('a closed client can refresh and sign out, and receives no messages from other tabs', async () => {
    const { fixture, one } = await signedIn();
    const other = fixture.open();
    one.client.close();
    await fixture.time.run(TTL);
    expect(await fixture.requestInAll([one])).toEqual([200]);
    await fixture.time.until(other.client.logout());
    expect(one.emitted).toEqual(['refreshed']);
    await fixture.time.until(other.client.login('alice', 'secret'));
    await fixture.time.until(one.client.logout());
    expect(one.emitted).toEqual(['refreshed', 'signedOut']);
  });
});

describe('paths of the endpoints', () => {
  it('no path leads to an origin other than that of baseUrl', async () => {
    const urls: string[] = [];
    const fetch = (input: string | Request): Promise<Response> => {
      urls.push((input as Request).url);
      return Promise.resolve(new Response('{}', { status: 404 }));
    };
    for (const authPath of ['https://evil.example/auth', '//evil.example/auth', '/auth/', '../auth']) {
      const client = new AuthClient({ baseUrl: `${BASE}/api/`, authPath, environment: { fetch } });
      await settled(client.login('alice', 'secret'));
    }
    expect(new Set(urls.map((url) => new URL(url).origin))).toEqual(new Set([BASE]));
    expect(urls.slice(2)).toEqual([`${BASE}/api/auth/login/`, `${BASE}/auth/login/`]);
  });
});

describe('pages without Web Locks', () => {
  it('a page without Web Locks logs one warning about the localStorage lease, and a client outside a page logs none', () => {
    let library!: typeof import('nestjs-session-auth-client');
    jest.isolateModules(() => (library = jest.requireActual('nestjs-session-auth-client')));
    const { AuthClient: Fresh, localTokens } = library;
    const warnings: string[] = [];
    const warn = (message: string): void => void warnings.push(message);
    const page = new Fixture(0, { hasLocks: false }).browser.openTab();
    const open = (environment: object, storage = localTokens(undefined, page.localStorage)): unknown =>
      new Fresh({ baseUrl: BASE, storage, environment: { ...page.environment, warn, ...environment } });
    open({ localStorage: null, onStorage: null, openBroadcast: null });
    expect(warnings).toEqual([]);
    open({});
    open({});
    expect(warnings).toEqual([expect.stringMatching(/Web Locks require HTTPS.*localStorage/)]);
  });
});
