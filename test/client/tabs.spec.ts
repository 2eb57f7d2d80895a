import { memoryTokens, type Tokens, type TokenStorage } from 'nestjs-session-auth-client';
import { Fixture, type OpenedTab } from './fixture';

const TTL = 900_000;

describe.each([0, 10])('tabs of one user, with a grace period of %i seconds', (grace) => {
  it('the tabs refresh once each time that their shared access token expires', async () => {
    const fixture = new Fixture(grace, { lag: () => 5 });
    const tabs = await fixture.openTabs(5);
    for (let round = 1; round <= 30; round++) {
      await fixture.time.run(TTL);
      expect(await fixture.requestInAll([...tabs, ...tabs])).toEqual(Array(10).fill(200));
      expect(fixture.server.refreshes).toBe(round);
    }
    expect(fixture.server.reuses).toBe(0);
    await fixture.time.run(100);
    for (const { emitted } of tabs) expect(emitted).toEqual(Array(30).fill('refreshed'));
  });

  it('the tabs refresh before a known expiry, so that no request is refused', async () => {
    const fixture = new Fixture(grace);
    const tabs = await fixture.openTabs(5, { accessTokenTtlSeconds: 900 });
    for (let round = 1; round <= 10; round++) {
      await fixture.time.run(TTL - 20_000);
      expect(await fixture.requestInAll(tabs)).toEqual(Array(5).fill(200));
      expect(fixture.server.refreshes).toBe(round);
    }
    // Each request was sent only once, which shows that the server refused none of them with 401.
    expect(fixture.server.requests.filter(({ path }) => path === '/me')).toHaveLength(50);
    expect(fixture.server.reuses).toBe(0);
  });

  it('the tabs wait for a password change instead of refreshing, and use its tokens', async () => {
    const fixture = new Fixture(grace);
    const tabs = await fixture.openTabs(3);
    fixture.server.latency['/auth/password/change/'] = 2_000;
    const changing = tabs[0]!.client.changePassword('secret', 'another secret');
    await fixture.time.run(10);
    expect(await fixture.requestInAll(tabs)).toEqual([200, 200, 200]);
    await fixture.time.until(changing);
    expect(fixture.server.refreshes).toBe(0);
  });

  it('when one tab signs out, all tabs emit the sign-out once', async () => {
    const fixture = new Fixture(grace);
    const tabs = await fixture.openTabs(3);
    expect(await fixture.requestInAll(tabs)).toEqual([200, 200, 200]);
    await fixture.time.until(tabs[1]!.client.logout());
    await fixture.time.run(100);
    for (const { emitted } of tabs) expect(emitted).toEqual(['signedOut']);
    expect(await fixture.requestInAll(tabs)).toEqual(Array(3).fill('signed_out'));
  });

  it.each(['local', 'cookie'] as const)(
    'a request that is refused during a sign-out reports no second end of the session, with %s storage',
    async (kind) => {
      const fixture = new Fixture(grace, {}, kind);
      const tabs = await fixture.openTabs(3);
      expect(await fixture.requestInAll(tabs)).toEqual([200, 200, 200]);
      fixture.server.latency['/auth/logout/'] = 2_000;
      const leaving = tabs[1]!.client.logout();
      // The server has ended the session, and the response has not arrived yet.
      await fixture.time.run(500);
      expect(await fixture.requestInAll(tabs)).toEqual([401, 401, 401]);
      await fixture.time.until(leaving);
      await fixture.time.run(100);
      for (const { emitted } of tabs) expect(emitted).toEqual(['signedOut']);
      expect(fixture.server.refreshes).toBe(0);
    },
  );

  it('all tabs emit signedOutElsewhere once when the session is ended from another device', async () => {
    const fixture = new Fixture(grace);
    const tabs = await fixture.openTabs(3);
    expect(await fixture.requestInAll(tabs)).toEqual([200, 200, 200]);
    fixture.server.endAll();
    expect(await fixture.requestInAll(tabs)).toEqual([401, 401, 401]);
    await fixture.time.run(100);
    for (const { emitted } of tabs) expect(emitted).toEqual(['signedOutElsewhere']);
    expect(await fixture.requestInAll(tabs)).toEqual(Array(3).fill('signed_out'));
  });
});

describe('duplicated tabs with a copy of sessionStorage', () => {
  it('a duplicated tab receives the same pair as soon as it is notified, and both tabs continue', async () => {
    const fixture = new Fixture(10, { lag: () => 5 }, 'session');
    const [original] = await fixture.openTabs(1);
    const copy = fixture.open(original!.tab.duplicate());
    for (let round = 1; round <= 3; round++) {
      await fixture.time.run(TTL);
      // Only one tab sends a request. The other tab is notified, and fetches the same pair.
      expect(await fixture.requestInAll([round % 2 ? original! : copy])).toEqual([200]);
      await fixture.time.run(60_000);
      expect(await fixture.requestInAll([original!, copy])).toEqual([200, 200]);
      expect(fixture.server.refreshes).toBe(round);
    }
    for (const { emitted } of [original!, copy]) expect(emitted).toEqual(Array(3).fill('refreshed'));
    expect(fixture.server.reuses).toBe(0);
  });

  it('without a grace period, a duplicated tab requires a sign-in, and the original tab continues', async () => {
    const fixture = new Fixture(0, { lag: () => 5 }, 'session');
    const [original] = await fixture.openTabs(1);
    const copy = fixture.open(original!.tab.duplicate());
    await fixture.time.run(TTL);
    expect(await fixture.requestInAll([original!])).toEqual([200]);
    expect(await fixture.requestInAll([copy])).toEqual([401]);
    await fixture.time.run(1_000);
    expect(await fixture.requestInAll([original!, copy])).toEqual([200, 'signed_out']);
    expect([original!.emitted, copy.emitted]).toEqual([['refreshed'], ['signInNeeded']]);
    expect(fixture.server.reuses).toBe(0);
  });

  it('after a password change, a duplicated tab requires a sign-in, and the tab of the change continues', async () => {
    const fixture = new Fixture(10, { lag: () => 5 }, 'session');
    const [original] = await fixture.openTabs(1);
    const copy = fixture.open(original!.tab.duplicate());
    await fixture.time.until(original!.client.changePassword('secret', 'another secret'));
    await fixture.time.run(60_000);
    expect(await fixture.requestInAll([original!, copy])).toEqual([200, 'signed_out']);
    expect([original!.emitted, copy.emitted]).toEqual([['refreshed'], ['signedOutElsewhere']]);
  });

  it('a duplicated tab requires a sign-in if the original was closed with the newer pair, and causes no reuse', async () => {
    const fixture = new Fixture(0, {}, 'session');
    const [original] = await fixture.openTabs(1);
    const copy = fixture.browser.openTab();
    for (const [key, value] of original!.tab.session) copy.session.set(key, value);
    await fixture.time.run(TTL);
    expect(await fixture.requestInAll([original!])).toEqual([200]);
    await fixture.time.run(TTL);
    expect(await fixture.requestInAll([original!])).toEqual([200]);
    original!.tab.close();
    const late = fixture.open(copy);
    expect(await fixture.requestInAll([late])).toEqual([401]);
    expect(late.emitted).toEqual(['signInNeeded']);
    expect(fixture.server.reuses).toBe(0);
  });
});

describe('notifications between tabs', () => {
  it.each([
    ['local', 0],
    ['local', 10],
    ['session', 10],
  ] as const)(
    'tabs send no token to each other, with %s storage and a grace period of %i seconds',
    async (kind, grace) => {
      const fixture = new Fixture(grace, {}, kind);
      const post = jest.spyOn(fixture.browser, 'post');
      const [original] = await fixture.openTabs(1);
      const copy = fixture.open(original!.tab.duplicate());
      await fixture.time.run(TTL);
      expect(await fixture.requestInAll([original!, copy])).toEqual([200, 200]);
      await fixture.time.until(original!.client.logout());
      const messages = post.mock.calls.map(([, , message]) => JSON.stringify(message));
      expect(messages.length).toBeGreaterThan(1);
      expect(messages.filter((message) => /access-|refresh-/.test(message))).toEqual([]);
    },
  );
});

describe('clients in one process without the locks, storages and channels of a browser', () => {
  const NODE = { locks: null, localStorage: null, openBroadcast: null, onStorage: null };

  it('clients with a shared storage object refresh one at a time', async () => {
    const fixture = new Fixture(0, {}, 'memory');
    const storage = memoryTokens();
    const environment = { ...fixture.browser.openTab().environment, ...NODE };
    const clients = Array.from({ length: 5 }, () => fixture.open(undefined, { storage, environment }));
    await fixture.time.until(clients[0]!.client.login('alice', 'secret'));
    await fixture.time.run(TTL);
    expect(await fixture.requestInAll(clients)).toEqual([200, 200, 200, 200, 200]);
    expect(fixture.server.refreshes).toBe(1);
  });

  it('clients with the same name refresh one at a time, and clients with another name do not wait', async () => {
    const fixture = new Fixture(0);
    const rows = new Map<string, Tokens | null>();
    const open = (name: string): OpenedTab => {
      // The storage is as slow as a database.
      const storage: TokenStorage = {
        reach: 'origin',
        read: async () => (await fixture.time.wait(3), rows.get(name) ?? null),
        write: async (tokens) => (await fixture.time.wait(3), void rows.set(name, tokens)),
      };
      const environment = { ...fixture.browser.openTab().environment, ...NODE };
      return fixture.open(undefined, { storage, name, environment });
    };
    const alices = [open('alice'), open('alice'), open('alice')];
    const bob = open('bob');
    for (const { client } of [alices[0]!, bob]) await fixture.time.until(client.login('alice', 'secret'));
    await fixture.time.run(TTL);
    fixture.server.delivery = () => ({ responseDelay: 5_000 });
    const asking = fixture.requestInAll(alices);
    fixture.server.delivery = () => ({});
    expect(await fixture.requestInAll([bob])).toEqual([200]);
    expect(await asking).toEqual([200, 200, 200]);
    expect(fixture.server.refreshes).toBe(2);
    expect(fixture.server.reuses).toBe(0);
  });
});
