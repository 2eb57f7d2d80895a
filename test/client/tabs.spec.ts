import { memoryTokens, type Tokens, type TokenStorage } from 'nestjs-session-auth-client';
import { Fixture, type Opened } from './fixture';

const TTL = 900_000;

describe.each([0, 10])('tabs of one user, with a grace period of %i seconds,', (grace) => {
  it('refresh once each time their shared access token expires', async () => {
    const fixture = new Fixture(grace, { lag: () => 5 });
    const tabs = await fixture.openTabs(5);
    for (let round = 1; round <= 30; round++) {
      await fixture.time.run(TTL);
      expect(await fixture.askAll([...tabs, ...tabs])).toEqual(Array(10).fill(200));
      expect(fixture.server.refreshes).toBe(round);
    }
    expect(fixture.server.reuses).toBe(0);
    await fixture.time.run(100);
    for (const { emitted } of tabs) expect(emitted).toEqual(Array(30).fill('refreshed'));
  });

  it('refresh before the expiry where they know it, and no request is refused', async () => {
    const fixture = new Fixture(grace);
    const tabs = await fixture.openTabs(5, { accessTokenTtlSeconds: 900 });
    for (let round = 1; round <= 10; round++) {
      await fixture.time.run(TTL - 20_000);
      expect(await fixture.askAll(tabs)).toEqual(Array(5).fill(200));
      expect(fixture.server.refreshes).toBe(round);
    }
    // No request was refused with a 401: each was sent once.
    expect(fixture.server.requests.filter(({ path }) => path === '/me')).toHaveLength(50);
    expect(fixture.server.reuses).toBe(0);
  });

  it('wait for a password change instead of refreshing, and use its tokens', async () => {
    const fixture = new Fixture(grace);
    const tabs = await fixture.openTabs(3);
    fixture.server.passwordChangeBack = 2_000;
    const changing = tabs[0]!.client.changePassword('secret', 'another secret');
    await fixture.time.run(10);
    expect(await fixture.askAll(tabs)).toEqual([200, 200, 200]);
    await fixture.time.until(changing);
    expect(fixture.server.refreshes).toBe(0);
  });

  it('all emit the sign-out in one of them', async () => {
    const fixture = new Fixture(grace);
    const tabs = await fixture.openTabs(3);
    expect(await fixture.askAll(tabs)).toEqual([200, 200, 200]);
    await fixture.time.until(tabs[1]!.client.logout());
    await fixture.time.run(100);
    for (const { emitted } of tabs) expect(emitted).toEqual(['signedOut']);
    expect(await fixture.askAll(tabs)).toEqual(Array(3).fill('signed_out'));
  });

  it('all emit once that the session was ended elsewhere', async () => {
    const fixture = new Fixture(grace);
    const tabs = await fixture.openTabs(3);
    expect(await fixture.askAll(tabs)).toEqual([200, 200, 200]);
    fixture.server.endAll();
    expect(await fixture.askAll(tabs)).toEqual([401, 401, 401]);
    await fixture.time.run(100);
    for (const { emitted } of tabs) expect(emitted).toEqual(['signedOutElsewhere']);
    expect(await fixture.askAll(tabs)).toEqual(Array(3).fill('signed_out'));
  });
});

describe('a duplicated tab with a copy of sessionStorage', () => {
  it('receives the same pair from the server as soon as it is notified, and both tabs continue', async () => {
    const fixture = new Fixture(10, { lag: () => 5 }, 'session');
    const [original] = await fixture.openTabs(1);
    const copy = fixture.open(original!.tab.duplicate());
    for (let round = 1; round <= 3; round++) {
      await fixture.time.run(TTL);
      // The other tab sends no request at that time: it is told of the new pair.
      expect(await fixture.askAll([round % 2 ? original! : copy])).toEqual([200]);
      await fixture.time.run(60_000);
      expect(await fixture.askAll([original!, copy])).toEqual([200, 200]);
      expect(fixture.server.refreshes).toBe(round);
    }
    for (const { emitted } of [original!, copy]) expect(emitted).toEqual(Array(3).fill('refreshed'));
    expect(fixture.server.reuses).toBe(0);
  });

  it('requires a sign-in without a grace period, and its original continues', async () => {
    const fixture = new Fixture(0, { lag: () => 5 }, 'session');
    const [original] = await fixture.openTabs(1);
    const copy = fixture.open(original!.tab.duplicate());
    await fixture.time.run(TTL);
    expect(await fixture.askAll([original!])).toEqual([200]);
    expect(await fixture.askAll([copy])).toEqual([401]);
    await fixture.time.run(1_000);
    expect(await fixture.askAll([original!, copy])).toEqual([200, 'signed_out']);
    expect([original!.emitted, copy.emitted]).toEqual([['refreshed'], ['signInNeeded']]);
    expect(fixture.server.reuses).toBe(0);
  });

  it('requires a sign-in when the original was closed with the newer pair, and causes no token reuse', async () => {
    const fixture = new Fixture(0, {}, 'session');
    const [original] = await fixture.openTabs(1);
    const copy = fixture.browser.openTab();
    for (const [key, value] of original!.tab.session) copy.session.set(key, value);
    await fixture.time.run(TTL);
    expect(await fixture.askAll([original!])).toEqual([200]);
    await fixture.time.run(TTL);
    expect(await fixture.askAll([original!])).toEqual([200]);
    original!.tab.close();
    const late = fixture.open(copy);
    expect(await fixture.askAll([late])).toEqual([401]);
    expect(late.emitted).toEqual(['signInNeeded']);
    expect(fixture.server.reuses).toBe(0);
  });
});

describe('tabs that notify each other', () => {
  it.each([
    ['local', 0],
    ['local', 10],
    ['session', 10],
  ] as const)('send no token to each other: %s, with a grace period of %i', async (kind, grace) => {
    const fixture = new Fixture(grace, {}, kind);
    const post = jest.spyOn(fixture.browser, 'post');
    const [original] = await fixture.openTabs(1);
    const copy = fixture.open(original!.tab.duplicate());
    await fixture.time.run(TTL);
    expect(await fixture.askAll([original!, copy])).toEqual([200, 200]);
    await fixture.time.until(original!.client.logout());
    const messages = post.mock.calls.map(([, , message]) => JSON.stringify(message));
    expect(messages.length).toBeGreaterThan(1);
    expect(messages.filter((message) => /access-|refresh-/.test(message))).toEqual([]);
  });
});

describe('clients in one process, without the locks, storages and channels of a browser,', () => {
  const NODE = { locks: null, localStorage: null, openBroadcast: null, onStorage: null };

  it('refresh one at a time where they share a storage object', async () => {
    const fixture = new Fixture(0, {}, 'memory');
    const storage = memoryTokens();
    const environment = { ...fixture.browser.openTab().environment, ...NODE };
    const clients = Array.from({ length: 5 }, () => fixture.open(undefined, { storage, environment }));
    await fixture.time.until(clients[0]!.client.login('alice', 'secret'));
    await fixture.time.run(TTL);
    expect(await fixture.askAll(clients)).toEqual([200, 200, 200, 200, 200]);
    expect(fixture.server.refreshes).toBe(1);
  });

  it('refresh one at a time where they share a name, and those of another name do not wait', async () => {
    const fixture = new Fixture(0);
    const rows = new Map<string, Tokens | null>();
    const open = (name: string): Opened => {
      // Takes a while, as a database does.
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
    fixture.server.delivery = () => ({ back: 5_000 });
    const asking = fixture.askAll(alices);
    fixture.server.delivery = () => ({});
    expect(await fixture.askAll([bob])).toEqual([200]);
    expect(await asking).toEqual([200, 200, 200]);
    expect(fixture.server.refreshes).toBe(2);
    expect(fixture.server.reuses).toBe(0);
  });
});
