import { memoryTokens, type Tokens, type TokenStorage } from 'nestjs-session-auth/client';
import { Stage, type Opened } from './stage';

const TTL = 900_000;

describe.each([0, 10])('tabs of one user, with a grace of %i seconds', (grace) => {
  it('refresh once when the access token has ended for all of them at the same moment, round after round', async () => {
    const stage = new Stage(grace, { lag: () => 5 });
    const tabs = await stage.openTabs(5);
    for (let round = 1; round <= 30; round++) {
      await stage.time.run(TTL);
      expect(await stage.askAll([...tabs, ...tabs])).toEqual(Array(10).fill(200));
      expect(stage.server.refreshes).toBe(round);
    }
    expect(stage.server.reuses).toBe(0);
    await stage.time.run(100);
    for (const { told } of tabs) expect(told).toEqual(Array(30).fill('refreshed'));
  });

  it('refresh before the end when they know it, and no request is refused', async () => {
    const stage = new Stage(grace);
    const tabs = await stage.openTabs(5, { accessTokenTtlSeconds: 900 });
    for (let round = 1; round <= 10; round++) {
      await stage.time.run(TTL - 20_000);
      expect(await stage.askAll(tabs)).toEqual(Array(5).fill(200));
      expect(stage.server.refreshes).toBe(round);
    }
    // Nobody was sent away with a 401: each request was sent once.
    expect(stage.server.requests.filter(({ path }) => path === '/me')).toHaveLength(50);
    expect(stage.server.reuses).toBe(0);
  });

  it('wait for a change of password before they refresh, and go on with its tokens', async () => {
    const stage = new Stage(grace);
    const tabs = await stage.openTabs(3);
    stage.server.passwordChangeBack = 2_000;
    const changing = tabs[0]!.client.changePassword('secret', 'another secret');
    await stage.time.run(10);
    expect(await stage.askAll(tabs)).toEqual([200, 200, 200]);
    await stage.time.until(changing);
    expect(stage.server.refreshes).toBe(0);
  });

  it('all hear of a sign-out in one of them', async () => {
    const stage = new Stage(grace);
    const tabs = await stage.openTabs(3);
    expect(await stage.askAll(tabs)).toEqual([200, 200, 200]);
    await stage.time.until(tabs[1]!.client.logout());
    await stage.time.run(100);
    for (const { told } of tabs) expect(told).toEqual(['signedOut']);
    expect(await stage.askAll(tabs)).toEqual(Array(3).fill('signed_out'));
  });

  it('all hear that the session was ended elsewhere, once', async () => {
    const stage = new Stage(grace);
    const tabs = await stage.openTabs(3);
    expect(await stage.askAll(tabs)).toEqual([200, 200, 200]);
    stage.server.endAll();
    expect(await stage.askAll(tabs)).toEqual([401, 401, 401]);
    await stage.time.run(100);
    for (const { told } of tabs) expect(told).toEqual(['signedOutElsewhere']);
    expect(await stage.askAll(tabs)).toEqual(Array(3).fill('signed_out'));
  });
});

describe('a tab that a browser copied, its sessionStorage included', () => {
  it('does not send the token that its original has sent, and is handed the new pair', async () => {
    const stage = new Stage(0, { lag: () => 5 }, 'session');
    const [original] = await stage.openTabs(1);
    const copy = stage.open(original!.tab.duplicate());
    await stage.time.run(TTL);
    expect(await stage.askAll([original!, copy])).toEqual([200, 200]);
    await stage.time.run(TTL);
    expect(await stage.askAll([copy])).toEqual([200]);
    await stage.time.run(TTL);
    expect(await stage.askAll([original!])).toEqual([200]);
    expect(stage.server.refreshes).toBe(3);
    expect(stage.server.reuses).toBe(0);
  });

  it('asks its original for what it was given before the copy heard of anything', async () => {
    const stage = new Stage(0, { lag: () => 5 }, 'session');
    const [original] = await stage.openTabs(1);
    const copy = original!.tab.duplicate();
    await stage.time.run(TTL);
    expect(await stage.askAll([original!])).toEqual([200]);
    expect(await stage.askAll([stage.open(copy)])).toEqual([200]);
    expect(stage.server.refreshes).toBe(1);
    expect(stage.server.reuses).toBe(0);
  });

  it('asks for a sign-in when the original is gone with what it was given, and raises no alarm', async () => {
    const stage = new Stage(0, {}, 'session');
    const [original] = await stage.openTabs(1);
    const copy = stage.browser.openTab();
    for (const [key, value] of original!.tab.session) copy.session.set(key, value);
    await stage.time.run(TTL);
    expect(await stage.askAll([original!])).toEqual([200]);
    await stage.time.run(TTL);
    expect(await stage.askAll([original!])).toEqual([200]);
    original!.tab.close();
    const late = stage.open(copy);
    expect(await stage.askAll([late])).toEqual([401]);
    expect(late.told).toEqual(['signInNeeded']);
    expect(stage.server.reuses).toBe(0);
  });
});

describe('clients in one process, without locks, storages and channels of a browser', () => {
  const NODE = { locks: null, localStorage: null, openBroadcast: null, onStorage: null };

  it('refresh one at a time where they were given one storage', async () => {
    const stage = new Stage(0, {}, 'memory');
    const storage = memoryTokens();
    const environment = { ...stage.browser.openTab().environment, ...NODE };
    const clients = Array.from({ length: 5 }, () => stage.open(undefined, { storage, environment }));
    await stage.time.until(clients[0]!.client.login('alice', 'secret'));
    await stage.time.run(TTL);
    expect(await stage.askAll(clients)).toEqual([200, 200, 200, 200, 200]);
    expect(stage.server.refreshes).toBe(1);
  });

  it('refresh one at a time where their storages are of one name, and others do not wait for them', async () => {
    const stage = new Stage(0);
    const rows = new Map<string, Tokens | null>();
    const open = (name: string): Opened => {
      // As a database is: it takes a while.
      const storage: TokenStorage = {
        reach: 'origin',
        read: async () => (await stage.time.wait(3), rows.get(name) ?? null),
        write: async (tokens) => (await stage.time.wait(3), void rows.set(name, tokens)),
      };
      const environment = { ...stage.browser.openTab().environment, ...NODE };
      return stage.open(undefined, { storage, name, environment });
    };
    const alices = [open('alice'), open('alice'), open('alice')];
    const bob = open('bob');
    for (const { client } of [alices[0]!, bob]) await stage.time.until(client.login('alice', 'secret'));
    await stage.time.run(TTL);
    stage.server.journey = () => ({ back: 5_000 });
    const asking = stage.askAll(alices);
    stage.server.journey = () => ({});
    expect(await stage.askAll([bob])).toEqual([200]);
    expect(await asking).toEqual([200, 200, 200]);
    expect(stage.server.refreshes).toBe(2);
    expect(stage.server.reuses).toBe(0);
  });
});
