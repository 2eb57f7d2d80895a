import { BASE, Fixture, signedIn, withExpiredToken, TTL } from './fixture';

const pairIn = (body: Record<string, string>) => ({
  accessToken: body['access_token']!,
  refreshToken: body['refresh_token']!,
});

describe('accessToken()', () => {
  it('accessToken() returns the token, and refreshes it first if it is about to expire', async () => {
    const { fixture, server, one } = await signedIn({ options: { accessTokenTtlSeconds: 900 } });
    expect(await one.client.accessToken()).toBe('access-2');
    await fixture.time.run(TTL - 20_000);
    expect(await fixture.time.until(one.client.accessToken())).toBe('access-3');
    expect(await one.client.accessToken()).toBe('access-3');
    expect(server.refreshes).toBe(1);
  });

  it('accessToken() replaces a token that the server has refused, once for all callers that report it', async () => {
    const { fixture, server, one } = await withExpiredToken();
    const refused = await one.client.accessToken();
    const renew = (): Promise<string> => one.client.accessToken({ refused });
    expect(await fixture.time.until(Promise.all([renew(), renew()]))).toEqual(['access-3', 'access-3']);
    expect(await renew()).toBe('access-3');
    expect(server.refreshes).toBe(1);
  });

  it('accessToken() rejects if the token cannot be refreshed now, if the session has ended, and if nobody is signed in', async () => {
    const { fixture, server, one } = await withExpiredToken({ options: { accessTokenTtlSeconds: 900 } });
    server.delivery = () => ({ status: 429 });
    expect(await fixture.rejection(one.client.accessToken())).toMatchObject({ code: 'too_many_attempts' });
    server.delivery = () => ({});
    const refused = await fixture.time.until(one.client.accessToken());
    expect(refused).toBe('access-3');
    server.endAll();
    expect(await fixture.rejection(one.client.accessToken({ refused }))).toMatchObject({ code: 'signed_out' });
    expect(await fixture.rejection(one.client.accessToken())).toMatchObject({ code: 'signed_out' });
    expect(one.emitted).toEqual(['refreshed', 'signedOutElsewhere']);
  });
});

describe('adopt()', () => {
  it('adopt() takes over the tokens of a session that the application has opened, for all tabs', async () => {
    const { fixture, server, one } = await signedIn();
    const opening = server.fetch(new Request(`${BASE}/auth/login`, { method: 'POST' }));
    const body = (await (await fixture.time.until(opening)).json()) as Record<string, string>;
    const sessionId = body['session_id']!;
    await fixture.time.until(one.client.adopt({ ...pairIn(body), sessionId }));
    const other = fixture.open();
    await fixture.time.run(TTL);
    expect(await fixture.sessionOf(other)).toBe(sessionId);
  });

  it.each(['local', 'session'] as const)(
    'adopt() replaces the tokens of the current session, with %s storage',
    async (kind) => {
      const { fixture, server, one } = await withExpiredToken({ kind });
      const sessionId = await fixture.sessionOf(one);
      // As a route of an application that calls `confirmIdentity`.
      const answer = await fixture.time.until(one.client.fetch('/auth/password/change', { method: 'POST' }));
      const body = (await answer.json()) as Record<string, string>;
      await fixture.time.until(one.client.adopt({ ...pairIn(body), sessionId }));
      await fixture.time.run(TTL);
      expect(await fixture.requestInAll([one])).toEqual([200]);
      expect(server.reuses).toBe(0);
      expect(one.emitted).toEqual(['refreshed', 'refreshed', 'refreshed']);
    },
  );

  it('adopt() refuses a value that is not a session, and keeps the tokens', async () => {
    const { fixture, one } = await signedIn();
    const wrong = { accessToken: 'a', refreshToken: 'r' } as never;
    expect(await fixture.rejection(one.client.adopt(wrong))).toMatchObject({ code: 'unexpected_answer' });
    expect(await fixture.requestInAll([one])).toEqual([200]);
  });
});

describe('the end of a session', () => {
  it('forget() removes the tokens, and sends no request', async () => {
    const { fixture, server, one } = await signedIn();
    const before = server.requests.length;
    await fixture.time.until(one.client.forget());
    expect([await one.client.isSignedIn(), one.emitted]).toEqual([false, ['signedOut']]);
    expect(server.requests).toHaveLength(before);
  });

  it('onSessionEnd() calls its listener once per session end with the reason, until the listener is removed', async () => {
    const { fixture, server, one } = await signedIn();
    const ends: unknown[] = [];
    const stop = one.client.onSessionEnd((end) => ends.push(end));
    await fixture.time.until(one.client.logout());
    await fixture.login(one);
    server.endAll();
    await fixture.requestInAll([one]);
    stop();
    await fixture.login(one);
    await fixture.time.until(one.client.logout());
    expect(ends).toEqual([
      { sessionId: 'session-1', reason: 'signedOut' },
      { sessionId: 'session-3', reason: 'signedOutElsewhere' },
    ]);
  });

  it('a closed client can refresh and sign out, and receives no messages from other tabs', async () => {
    const { fixture, tabs, one } = await signedIn({ tabs: 2 });
    const other = tabs[1]!;
    one.client.close();
    await fixture.time.run(TTL);
    expect(await fixture.requestInAll([one])).toEqual([200]);
    await fixture.time.until(other.client.logout());
    expect(one.emitted).toEqual(['refreshed']);
    one.client.on('sessionChanged', () => undefined);
    await fixture.login(other);
    expect(await one.client.isSignedIn()).toBe(true);
    await fixture.time.until(one.client.logout());
    expect(one.emitted).toEqual(['refreshed', 'signedOut']);
  });
});

it('a page without Web Locks logs one warning about the localStorage lease, and a client outside a page logs none', () => {
  let library!: typeof import('nestjs-session-auth-client');
  jest.isolateModules(() => (library = jest.requireActual('nestjs-session-auth-client')));
  const { AuthClient: Fresh, localTokens } = library;
  const warn = jest.spyOn(console, 'warn').mockClear();
  const page = new Fixture({ traits: { hasLocks: false } }).browser.openTab();
  const open = (environment: object): unknown => {
    const storage = localTokens(undefined, page.localStorage);
    return new Fresh({ baseUrl: BASE, storage, environment: { ...page.environment, ...environment } });
  };
  open({ localStorage: null, openBroadcast: null });
  expect(warn).not.toHaveBeenCalled();
  open({});
  open({});
  expect(warn.mock.calls).toEqual([[expect.stringMatching(/Without HTTPS.*localStorage/)]]);
});
