import { Stage } from './stage';

const TTL = 900_000;
const HOUR = 3_600_000;

/** A browser without Web Locks and without BroadcastChannel. */
const OLD = { hasLocks: false, hasBroadcast: false, lag: () => 20 };

describe('where Web Locks are missing', () => {
  it('a lease that a closed tab has left runs out', async () => {
    const stage = new Stage(0, OLD);
    const [closed, other] = await stage.openTabs(2);
    await stage.time.run(TTL);
    closed!.tab.closesAt = closed!.tab.points + 4;
    stage.ask(closed!).catch(() => undefined);
    await stage.time.run(300);
    expect(closed!.tab.isClosed).toBe(true);
    expect([...stage.browser.stored.keys()]).toContain('nestjs-session-auth:lock');
    expect(await stage.askAll([other!])).toEqual([200]);
    expect(stage.server.refreshes).toBe(1);
  });

  it('a lease from before the clock was put back holds nobody up', async () => {
    const stage = new Stage(0, OLD);
    const [closed, other] = await stage.openTabs(2);
    await stage.time.run(TTL);
    closed!.tab.closesAt = closed!.tab.points + 4;
    stage.ask(closed!).catch(() => undefined);
    await stage.time.run(300);
    expect(closed!.tab.isClosed).toBe(true);
    stage.server.forgetAccess();
    stage.time.set(stage.time.now() - HOUR);
    const before = stage.time.now();
    expect(await stage.askAll([other!])).toEqual([200]);
    expect(stage.time.now() - before).toBeLessThan(2_000);
  });

  it('a sign-out is heard of through the storage, and no token goes that way', async () => {
    const stage = new Stage(0, OLD, 'session');
    const written: string[] = [];
    const [original] = await stage.openTabs(1);
    const copy = stage.open(original!.tab.duplicate());
    const set = stage.browser.stored.set.bind(stage.browser.stored);
    stage.browser.stored.set = (key, value) => (written.push(value), set(key, value));
    await stage.time.run(TTL);
    expect(await stage.askAll([original!])).toEqual([200]);
    await stage.time.until(original!.client.logout());
    await stage.time.run(100);
    expect(copy.told).toEqual(['signedOut']);
    expect(written.length).toBeGreaterThan(3);
    expect(written.filter((value) => /access-|refresh-/.test(value))).toEqual([]);
  });
});
