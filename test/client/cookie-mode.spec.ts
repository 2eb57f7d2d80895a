import type { AuthClient } from 'nestjs-session-auth-client';
import { Fixture, signedIn, withExpiredToken, TTL } from './fixture';

const COOKIE = { kind: 'cookie' } as const;

describe('the client with cookies', () => {
  it('the client removes the Authorization header of the caller, which the server would prefer to the cookies', async () => {
    const { fixture, server, one } = await signedIn(COOKIE);
    const headers = { authorization: 'Bearer planted' };
    expect((await fixture.time.until(one.client.fetch('/me', { headers }))).status).toBe(200);
    expect(server.requests.at(-1)).toMatchObject({ path: '/me', token: null });
  });

  it.each(['credentials_missing', 'access_token_invalid'])(
    'the client refreshes after a 401 with the code %s, although the page cannot read response headers from another origin',
    async (code) => {
      const { fixture, server } = await signedIn(COOKIE);
      const refusals = [Response.json({ detail: 'Refused.', code }, { status: 401 })];
      const one = fixture.openWith('/me', () => refusals.pop() ?? null);
      expect(await fixture.requestInAll([one])).toEqual([200]);
      expect(server.refreshes).toBe(1);
    },
  );

  it('without localStorage and Web Locks, all tabs recover from an expired cookie, and the server detects no reuse', async () => {
    const fixture = new Fixture({ ...COOKIE, traits: { hasLocks: false, hasBroadcast: false } });
    const tabs = [1, 2, 3].map(() => fixture.openIn({ localStorage: null }));
    await fixture.login(tabs[0]!);
    await fixture.time.run(TTL);
    expect(await fixture.requestInAll(tabs)).toEqual([200, 200, 200]);
    expect(fixture.server.reuses).toBe(0);
  });

  it('no end of a session is reported to a visitor who was never signed in', async () => {
    const fixture = new Fixture(COOKIE);
    const one = fixture.open();
    expect(await fixture.requestInAll([one])).toEqual([401]);
    expect(await fixture.time.until(one.client.isSignedIn())).toBe(false);
    expect(one.emitted).toEqual([]);
  });

  it('the client finds a session that the application has opened, refreshes it ahead, and reports its end', async () => {
    const { fixture, server } = await signedIn(COOKIE);
    fixture.browser.stored.clear();
    const one = fixture.open(undefined, { accessTokenTtlSeconds: 900 });
    await fixture.time.run(TTL);
    expect(await fixture.time.until(one.client.isSignedIn())).toBe(true);
    await fixture.time.run(TTL - 20_000);
    server.requests.length = 0;
    expect(await fixture.requestInAll([one])).toEqual([200]);
    expect(server.paths).toEqual(['/auth/token/refresh', '/me']);
    const ends: unknown[] = [];
    one.client.onSessionEnd((end) => ends.push(end));
    server.endAll();
    expect(await fixture.requestInAll([one])).toEqual([401]);
    expect(ends).toEqual([{ sessionId: 'session-1', reason: 'signedOutElsewhere' }]);
    expect(await fixture.time.until(one.client.isSignedIn())).toBe(false);
  });

  it('a logout succeeds although the access cookie has expired', async () => {
    const { fixture, server, one } = await withExpiredToken(COOKIE);
    await fixture.time.until(one.client.logout());
    expect([server.jar, server.refreshes]).toEqual([{}, 0]);
    await fixture.time.until(one.client.logout());
    expect(one.emitted).toEqual(['signedOut']);
  });

  it('a logout that does not reach the server is rejected, even if the client has no session', async () => {
    const fixture = new Fixture(COOKIE);
    fixture.server.isReachable = false;
    const logout = fixture.open().client.logout();
    expect(await fixture.rejection(logout)).toMatchObject({ name: 'ClientError', status: null });
  });

  it.each<[string, (client: AuthClient) => Promise<unknown>, RegExp]>([
    ['accessToken', (client) => client.accessToken(), /Send credentials.*`refresh`/],
    ['adopt', (client) => client.adopt({ accessToken: 'a', refreshToken: 'r', sessionId: 's' }), /AuthCookies\.set/],
    ['forget', (client) => client.forget(), /`logout`/],
  ])('the client with cookies rejects a call of %s(), and the error names an alternative', async (_, call, advice) => {
    const { fixture, one } = await signedIn(COOKIE);
    const detail: unknown = expect.stringMatching(advice);
    expect(await fixture.rejection(call(one.client))).toMatchObject({ code: 'cookie_transport', detail });
  });

  it('the error names the missing option if the server responds with tokens', async () => {
    const tokens = { access_token: 'a', refresh_token: 'r', session_id: 's' };
    const one = new Fixture(COOKIE).openWith('/auth/login', () => Response.json(tokens));
    await expect(one.client.login('alice', 'secret')).rejects.toMatchObject({
      code: 'unexpected_answer',
      detail: expect.stringContaining('`cookies`'),
    });
  });
});

describe('cookies that the browser drops', () => {
  const at = globalThis as { location?: object };
  afterEach(() => delete at.location);

  it.each([
    ['the page is on another site', 'https', 'other.example', 'Are other.example and app.example.com one site?'],
    ['the server uses HTTP', 'http', 'app.example.com', 'Over HTTP, set `cookies.secure: false`.'],
    ['the browser blocks cookies', 'https', 'app.example.com', 'Does it block cookies?'],
  ])('a login rejects and says what is wrong if %s', async (_, scheme, hostname, advice) => {
    at.location = { hostname, origin: `https://${hostname}` };
    const fixture = new Fixture({ ...COOKIE, options: { baseUrl: `${scheme}://app.example.com` } });
    const one = fixture.openWith('/auth/sessions', () =>
      Response.json({ detail: 'Refused.', code: 'credentials_missing' }, { status: 401 }),
    );
    const refused = { code: 'cookies_blocked', detail: `The browser dropped the cookies. ${advice}` };
    expect(await fixture.rejection(one.client.login('alice', 'secret'))).toMatchObject(refused);
    expect([one.client.sessionId, one.emitted]).toEqual([null, []]);
  });

  it('a login succeeds on a server that does not mount the list of sessions', async () => {
    const fixture = new Fixture(COOKIE);
    const one = fixture.openWith('/auth/sessions', () => Response.json({}, { status: 404 }));
    expect(await fixture.login(one)).toEqual({ sessionId: 'session-1' });
  });
});

it('the next page recognizes a refresh with cookies whose response the closed page no longer received', async () => {
  const { fixture, server, one } = await withExpiredToken(COOKIE);
  fixture.deliverNext({ responseDelay: 500 });
  await fixture.closeDuringRequest(one, 300);
  await fixture.time.run(1_000);
  const next = fixture.open();
  expect(await fixture.requestInAll([next])).toEqual([200]);
  await fixture.time.run(TTL);
  expect(await fixture.requestInAll([next])).toEqual([200]);
  expect([server.refreshes, server.reuses]).toEqual([2, 0]);
});
