import { Stage } from './stage';

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

describe('two clients that were given one storage', () => {
  it('refresh one at a time, without locks and channels', async () => {
    const stage = new Stage(0, { hasLocks: false, hasBroadcast: false }, 'memory');
    const [one] = await stage.openTabs(1);
    const other = stage.open(one!.tab, { storage: storageOf(one!) });
    await stage.time.run(TTL);
    expect(await stage.askAll([one!, other])).toEqual([200, 200]);
    expect(stage.server.refreshes).toBe(1);
  });
});

function storageOf({ client }: { client: object }) {
  return (client as { parts: { keeper: { storage: never } } }).parts.keeper.storage;
}
