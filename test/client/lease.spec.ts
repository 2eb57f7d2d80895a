import { Fixture } from './fixture';

const TTL = 900_000;
const HOUR = 3_600_000;

/** A browser without Web Locks and without BroadcastChannel. */
const OLD = { hasLocks: false, hasBroadcast: false, lag: () => 20 };

describe('tabs without Web Locks', () => {
  it('the lease of a closed tab expires', async () => {
    const fixture = new Fixture(0, OLD);
    const [closed, other] = await fixture.openTabs(2);
    await fixture.time.run(TTL);
    closed!.tab.closesAtCall = closed!.tab.calls + 4;
    fixture.request(closed!).catch(() => undefined);
    await fixture.time.run(300);
    expect(closed!.tab.isClosed).toBe(true);
    expect([...fixture.browser.stored.keys()]).toContain('nestjs-session-auth:lock');
    expect(await fixture.requestInAll([other!])).toEqual([200]);
    expect(fixture.server.refreshes).toBe(1);
  });

  it('a lease that was taken before the clock was set back does not block other tabs', async () => {
    const fixture = new Fixture(0, OLD);
    const [closed, other] = await fixture.openTabs(2);
    await fixture.time.run(TTL);
    closed!.tab.closesAtCall = closed!.tab.calls + 4;
    fixture.request(closed!).catch(() => undefined);
    await fixture.time.run(300);
    expect(closed!.tab.isClosed).toBe(true);
    fixture.server.expireAccessTokens();
    fixture.time.set(fixture.time.now() - HOUR);
    const before = fixture.time.now();
    expect(await fixture.requestInAll([other!])).toEqual([200]);
    expect(fixture.time.now() - before).toBeLessThan(2_000);
  });

  it('a sign-out reaches other tabs through localStorage, and no token is written to localStorage', async () => {
    const fixture = new Fixture(0, OLD, 'session');
    const written: string[] = [];
    const [original] = await fixture.openTabs(1);
    const copy = fixture.open(original!.tab.duplicate());
    const set = fixture.browser.stored.set.bind(fixture.browser.stored);
    fixture.browser.stored.set = (key, value) => (written.push(value), set(key, value));
    await fixture.time.run(TTL);
    expect(await fixture.requestInAll([original!])).toEqual([200]);
    await fixture.time.until(original!.client.logout());
    await fixture.time.run(100);
    expect(copy.emitted).toEqual(['signedOut']);
    expect(written.length).toBeGreaterThan(3);
    expect(written.filter((value) => /access-|refresh-/.test(value))).toEqual([]);
  });
});
