import { AuthClient, memoryTokens } from 'nestjs-session-auth-client';
import { BASE, Fixture, type OpenedTab } from './fixture';

const TTL = 900_000;
const settled = async (promise: Promise<unknown>): Promise<unknown> => promise.catch((error: unknown) => error);

async function signedIn(tabs = 1, traits = {}): Promise<{ fixture: Fixture; tabs: OpenedTab[]; one: OpenedTab }> {
  const fixture = new Fixture(10, traits, 'cookie');
  const opened = await fixture.openTabs(tabs);
  return { fixture, tabs: opened, one: opened[0]! };
}

describe('the client with cookies', () => {
  it('the client stores and sends no token, and asks for cookies in every request', async () => {
    const { fixture, one } = await signedIn();
    const sent: Request[] = [];
    const client = new AuthClient({
      baseUrl: BASE,
      transport: 'cookie',
      environment: {
        ...one.tab.environment,
        fetch: (input) => (sent.push((input as Request).clone()), fixture.server.fetch(input)),
      },
    });
    await fixture.time.until(client.login('alice', 'secret'));
    await fixture.time.run(TTL);
    await fixture.time.until(client.fetch('/me', { headers: { authorization: 'Bearer planted' } }));
    await fixture.time.until(client.changePassword('secret', 'another secret'));
    await fixture.time.until(client.logout());
    const paths = sent.map(({ url }) => new URL(url).pathname.replace('/auth', ''));
    expect(paths).toEqual(['/login/', '/me', '/token/refresh/', '/me', '/password/change/', '/logout/']);
    for (const { credentials, headers } of sent) {
      expect([credentials, headers.get('X-Auth-Transport')]).toEqual(['include', 'cookie']);
      expect(headers.get('Authorization')).toBeNull();
    }
    for (const { body } of fixture.server.requests) expect(body).not.toMatch(/access-|refresh-|refresh_token/);
    expect([...fixture.browser.stored.values()].join()).not.toMatch(/access-|refresh-|accessToken/);
    expect(fixture.server.jar).toEqual({});
  });

  it('only one of five tabs refreshes when their access cookie has expired, and all five repeat their requests', async () => {
    const { fixture, tabs } = await signedIn(5, { lag: () => 5 });
    for (let round = 1; round <= 10; round++) {
      await fixture.time.run(TTL);
      expect(await fixture.requestInAll([...tabs, ...tabs])).toEqual(Array(10).fill(200));
      expect(fixture.server.refreshes).toBe(round);
    }
    await fixture.time.run(100);
    for (const { emitted } of tabs) expect(emitted).toEqual(Array(10).fill('refreshed'));
    expect(fixture.server.reuses).toBe(0);
  });

  it.each(['credentials_missing', 'access_token_invalid'])(
    'the client refreshes after a 401 with the code %s, although the page cannot read response headers from another origin',
    async (code) => {
      const { fixture, one } = await signedIn();
      let isRefused = true;
      const fetch = (input: string | Request): Promise<Response> => {
        if (!(input as Request).url.endsWith('/me') || !isRefused) return fixture.server.fetch(input);
        isRefused = false;
        return Promise.resolve(Response.json({ detail: 'Refused.', code }, { status: 401 }));
      };
      const client = fixture.open(one.tab, { environment: { ...one.tab.environment, fetch } });
      expect(await fixture.requestInAll([client])).toEqual([200]);
      expect(fixture.server.refreshes).toBe(1);
    },
  );

  it('the client refreshes before a known expiry, so that no request is refused', async () => {
    const fixture = new Fixture(10, {}, 'cookie', { accessTokenTtlSeconds: 900 });
    const tabs = await fixture.openTabs(3);
    await fixture.time.run(TTL - 20_000);
    expect(await fixture.requestInAll(tabs)).toEqual([200, 200, 200]);
    expect(fixture.server.requests.filter(({ path }) => path === '/me')).toHaveLength(3);
    expect(fixture.server.refreshes).toBe(1);
  });

  it('without localStorage and Web Locks, all tabs recover from an expired cookie, and the server detects no reuse', async () => {
    const fixture = new Fixture(10, { hasLocks: false, hasBroadcast: false }, 'cookie');
    const environment = { localStorage: null, onStorage: null };
    const tabs = [1, 2, 3].map(() => {
      const tab = fixture.browser.openTab();
      return fixture.open(tab, { environment: { ...tab.environment, ...environment } });
    });
    await fixture.time.until(tabs[0]!.client.login('alice', 'secret'));
    await fixture.time.run(TTL);
    expect(await fixture.requestInAll(tabs)).toEqual([200, 200, 200]);
    expect(fixture.server.reuses).toBe(0);
  });

  it('every tab reports the end of the session when a refresh fails with 400', async () => {
    const { fixture, tabs } = await signedIn(3);
    const ends: unknown[] = [];
    for (const { client } of tabs) client.onSessionEnd((end) => ends.push(end));
    fixture.server.endAll();
    expect(await fixture.requestInAll(tabs)).toEqual([401, 401, 401]);
    await fixture.time.run(100);
    expect(ends).toEqual(Array(3).fill({ sessionId: 'session-1', reason: 'signedOutElsewhere' }));
    expect(await fixture.time.until(tabs[0]!.client.isSignedIn())).toBe(false);
  });

  it('no end of a session is reported to a visitor who was never signed in', async () => {
    const fixture = new Fixture(10, {}, 'cookie');
    const one = fixture.open();
    expect(await fixture.requestInAll([one])).toEqual([401]);
    expect(await fixture.time.until(one.client.isSignedIn())).toBe(false);
    expect(one.emitted).toEqual([]);
  });

  it('the client finds a session that the application has opened, even after the access cookie has expired', async () => {
    const { fixture } = await signedIn();
    fixture.browser.stored.clear();
    const one = fixture.open();
    await fixture.time.run(TTL);
    expect(await fixture.time.until(one.client.isSignedIn())).toBe(true);
    const ends: unknown[] = [];
    one.client.onSessionEnd((end) => ends.push(end));
    fixture.server.endAll();
    expect(await fixture.requestInAll([one])).toEqual([401]);
    expect(one.emitted).toEqual(['refreshed', 'signedOutElsewhere']);
    expect(ends).toEqual([{ sessionId: 'session-1', reason: 'signedOutElsewhere' }]);
  });

  it('the client refreshes ahead after isSignedIn() has found and refreshed a session', async () => {
    const { fixture } = await signedIn();
    fixture.browser.stored.clear();
    const one = fixture.open(undefined, { accessTokenTtlSeconds: TTL / 1_000 });
    await fixture.time.run(TTL);
    expect(await fixture.time.until(one.client.isSignedIn())).toBe(true);
    await fixture.time.run(TTL - 20_000);
    const before = fixture.server.requests.length;
    expect(await fixture.requestInAll([one])).toEqual([200]);
    expect(fixture.server.requests.slice(before).map(({ path }) => path)).toEqual(['/auth/token/refresh/', '/me']);
  });

  it('a logout succeeds although the access cookie has expired', async () => {
    const { fixture, one } = await signedIn();
    await fixture.time.run(TTL);
    await fixture.time.until(one.client.logout());
    expect(fixture.server.jar).toEqual({});
    expect(fixture.server.refreshes).toBe(0);
    await fixture.time.until(one.client.logout());
    expect(one.emitted).toEqual(['signedOut']);
  });

  it('a logout that does not reach the server is rejected, even if the client has no session', async () => {
    const fixture = new Fixture(10, {}, 'cookie');
    const one = fixture.open();
    fixture.server.isReachable = false;
    expect(await settled(one.client.logout())).toMatchObject({ name: 'ClientError', status: null });
  });

  it('a login that is sent while another tab refreshes keeps its session', async () => {
    const { fixture, tabs } = await signedIn(2);
    await fixture.time.run(TTL);
    fixture.server.delivery = () => ({ responseDelay: 3_000 });
    const asking = fixture.request(tabs[0]!);
    await fixture.time.run(500);
    const { sessionId } = await fixture.time.until(tabs[1]!.client.login('bob', 'secret'));
    await fixture.time.until(asking);
    const answer = await fixture.time.until(tabs[1]!.client.fetch('/me'));
    expect(await answer.json()).toMatchObject({ session_id: sessionId });
  });

  it.each([
    ['accessToken', (client: AuthClient) => client.accessToken(), /Send credentials.*`refresh`/],
    [
      'adopt',
      (client: AuthClient) => client.adopt({ accessToken: 'a', refreshToken: 'r', sessionId: 's' }),
      /AuthCookies\.set/,
    ],
    ['forget', (client: AuthClient) => client.forget(), /`logout`/],
  ] as const)(
    'the client with cookies rejects a call of %s(), and the error names an alternative',
    async (_, call, advice) => {
      const { one } = await signedIn();
      expect(await settled(call(one.client))).toMatchObject({
        code: 'cookie_transport',
        detail: expect.stringMatching(advice),
      });
    },
  );

  it('calls of refresh() before the next expiry send one refresh, and a call after the end of the session is rejected', async () => {
    const { fixture, one } = await signedIn();
    await fixture.time.run(TTL);
    await fixture.time.until(Promise.all([one.client.refresh(), one.client.refresh()]));
    await fixture.time.until(one.client.refresh());
    expect(fixture.server.refreshes).toBe(1);
    fixture.server.endAll();
    expect(await fixture.time.until(settled(one.client.refresh()))).toMatchObject({ code: 'signed_out' });
  });

  it('the error names trustedOrigins if the server does not trust the origin of the page', async () => {
    const refused = Response.json({ detail: 'Cross-site request.', code: 'cross_site_request' }, { status: 403 });
    const client = new AuthClient({
      baseUrl: BASE,
      transport: 'cookie',
      environment: { fetch: () => Promise.resolve(refused) },
    });
    expect(await settled(client.login('alice', 'secret'))).toMatchObject({
      code: 'cross_site_request',
      status: 403,
      detail: expect.stringContaining('trustedOrigins'),
    });
  });

  it('the error names the missing option if the server responds with tokens', async () => {
    const answer = Response.json({ access_token: 'a', refresh_token: 'r', session_id: 's' });
    const client = new AuthClient({
      baseUrl: BASE,
      transport: 'cookie',
      environment: { fetch: () => Promise.resolve(answer) },
    });
    expect(await settled(client.login('alice', 'secret'))).toMatchObject({
      code: 'unexpected_answer',
      detail: expect.stringContaining('`cookies`'),
    });
  });

  it('the client with cookies accepts no storage', () => {
    expect(() => new AuthClient({ baseUrl: BASE, transport: 'cookie', storage: memoryTokens() })).toThrow(
      'remove `storage`',
    );
  });
});

describe('lost responses to refreshes with cookies', () => {
  it('a refresh whose response was lost is repeated within the grace period', async () => {
    const { fixture, one } = await signedIn();
    let count = 0;
    fixture.server.delivery = () => (count++ === 0 ? { lost: 'answer' } : {});
    await fixture.time.run(TTL);
    expect(await fixture.requestInAll([one])).toEqual([200]);
    expect([fixture.server.refreshes, fixture.server.reuses]).toEqual([1, 0]);
  });

  it('the next page recognizes a refresh whose cookies the browser has received', async () => {
    const { fixture, one } = await signedIn();
    await fixture.time.run(TTL);
    fixture.request(one).catch(() => undefined);
    fixture.server.delivery = () => ({ responseDelay: 500 });
    await fixture.time.run(300);
    one.tab.close();
    await fixture.time.run(1_000);
    fixture.server.delivery = () => ({});
    const next = fixture.open();
    expect(await fixture.requestInAll([next])).toEqual([200]);
    await fixture.time.run(TTL);
    expect(await fixture.requestInAll([next])).toEqual([200]);
    expect([fixture.server.refreshes, fixture.server.reuses]).toEqual([2, 0]);
  });

  it('a refresh is not repeated after the grace period, even after a reload, until a login', async () => {
    const { fixture, one } = await signedIn();
    await fixture.time.run(TTL);
    fixture.server.delivery = () => ({ lost: 'answer' });
    expect(await fixture.requestInAll([one])).toEqual([401]);
    expect(one.emitted).toEqual(['signInNeeded']);
    await fixture.time.run(60_000);
    fixture.server.delivery = () => ({});
    const next = fixture.open();
    expect(await fixture.requestInAll([one, next])).toEqual([401, 401]);
    expect(await fixture.time.until(next.client.isSignedIn())).toBe(false);
    expect(fixture.server.reuses).toBe(0);
    expect(next.emitted).toEqual([]);
    await fixture.time.until(next.client.login('alice', 'secret'));
    await fixture.time.run(TTL);
    expect(await fixture.requestInAll([one, next])).toEqual([200, 200]);
  });
});
