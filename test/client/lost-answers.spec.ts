import type { Delivery } from './fake-server';
import { Fixture } from './fixture';

const TTL = 900_000;

/** Deliveries after which it is unknown whether the token was exchanged. */
const UNKNOWN: readonly { readonly title: string; readonly delivery: Delivery }[] = [
  { title: 'the answer was lost', delivery: { lost: 'answer' } },
  { title: 'the connection broke before the request arrived', delivery: { lost: 'request' } },
  { title: 'the answer takes longer than the client waits', delivery: { back: 60_000 } },
  { title: 'the server answers 503 without the exchange', delivery: { status: 503 } },
  { title: 'the server answers 503 after the exchange', delivery: { status: 503, after: true } },
  { title: 'a proxy answers 502 after the exchange', delivery: { status: 502, after: true } },
  { title: 'a proxy answers 408 after the exchange', delivery: { status: 408, after: true } },
  { title: 'a proxy answers 200 after the exchange', delivery: { status: 200, after: true } },
];

/** How the next refresh is delivered. */
function once(fixture: Fixture, delivery: Delivery): void {
  let isFirst = true;
  fixture.server.delivery = () => {
    const one = isFirst ? delivery : {};
    isFirst = false;
    return one;
  };
}

const sent = (fixture: Fixture): number =>
  fixture.server.requests.filter(({ path }) => path.endsWith('/refresh/')).length;

describe('with a grace period of 0', () => {
  it.each(UNKNOWN)('no tab sends a token again, not even after a reload, when $title', async ({ delivery }) => {
    const fixture = new Fixture(0);
    const tabs = await fixture.openTabs(3);
    let refreshes = 0;
    fixture.server.delivery = () => (refreshes++, delivery);
    expect(await fixture.askAll(tabs)).toEqual([200, 200, 200]);
    await fixture.time.run(TTL);
    await fixture.askAll([tabs[0]!]);
    await fixture.askAll(tabs);
    const reloaded = fixture.open();
    await fixture.askAll([reloaded]);
    expect(refreshes).toBe(1);
    expect(sent(fixture)).toBeLessThanOrEqual(1);
    expect(fixture.server.reuses).toBe(0);
    await fixture.time.run(100);
    for (const { emitted } of tabs) expect(emitted).toEqual(['signInNeeded']);
  });

  it('the session continues until its access token expires, and then requires a sign-in', async () => {
    const fixture = new Fixture(0, {}, 'local', { accessTokenTtlSeconds: 900 });
    const [tab] = await fixture.openTabs(1);
    once(fixture, { lost: 'request' });
    await fixture.time.run(TTL - 20_000);
    expect(await fixture.askAll([tab!])).toEqual([200]);
    await fixture.time.run(10_000);
    expect(await fixture.askAll([tab!])).toEqual([200]);
    expect(tab!.emitted).toEqual([]);
    await fixture.time.run(10_000);
    expect(await fixture.askAll([tab!])).toEqual([401]);
    expect(tab!.emitted).toEqual(['signInNeeded']);
    expect(await fixture.askAll([tab!])).toEqual(['signed_out']);
    await fixture.time.until(tab!.client.login('alice', 'secret'));
    expect(await fixture.askAll([tab!])).toEqual([200]);
  });

  it('a password change resolves the doubt', async () => {
    const fixture = new Fixture(0, {}, 'local', { accessTokenTtlSeconds: 900 });
    const [tab] = await fixture.openTabs(1);
    once(fixture, { lost: 'request' });
    await fixture.time.run(TTL - 20_000);
    expect(await fixture.askAll([tab!])).toEqual([200]);
    await fixture.time.until(tab!.client.changePassword('secret', 'another secret'));
    await fixture.time.run(TTL);
    expect(await fixture.askAll([tab!])).toEqual([200]);
    expect(fixture.server.reuses).toBe(0);
  });
});

describe('with a grace period of 30 seconds', () => {
  it.each(UNKNOWN)('a refresh is repeated and returns the same pair when $title', async ({ delivery }) => {
    const fixture = new Fixture(30);
    const tabs = await fixture.openTabs(3);
    once(fixture, delivery);
    await fixture.time.run(TTL);
    expect(await fixture.askAll(tabs)).toEqual([200, 200, 200]);
    expect(fixture.server.refreshes).toBe(1);
    expect(fixture.server.reuses).toBe(0);
  });

  it('a refresh is repeated after a reload, but not after half of the grace period', async () => {
    for (const [wait, answer] of [
      [10_000, 200],
      [15_000, 401],
    ] as const) {
      const fixture = new Fixture(30);
      const [tab] = await fixture.openTabs(1);
      once(fixture, { lost: 'answer' });
      await fixture.time.run(TTL);
      // It is sent at 102 ms: 100 until the writes of other tabs are visible, 2 for the refused request.
      const asking = fixture.ask(tab!);
      asking.catch(() => undefined);
      await fixture.time.run(102 + 1);
      tab!.tab.close();
      await fixture.time.run(wait);
      const reloaded = fixture.open();
      expect(await fixture.askAll([reloaded])).toEqual([answer]);
      expect(fixture.server.reuses).toBe(0);
    }
  });

  it('the repetitions stop after half of the grace period', async () => {
    const fixture = new Fixture(30);
    const [tab] = await fixture.openTabs(1);
    fixture.server.delivery = () => ({ status: 503, after: true });
    await fixture.time.run(TTL);
    expect(await fixture.askAll([tab!])).toEqual([401]);
    expect(sent(fixture)).toBeGreaterThan(3);
    const last = sent(fixture);
    await fixture.time.run(TTL);
    await fixture.askAll([tab!, fixture.open()]);
    expect(sent(fixture)).toBe(last);
    expect(fixture.server.reuses).toBe(0);
    expect(tab!.emitted).toEqual(['signInNeeded']);
  });

  it('a refresh is not repeated after the clock was set back, since the elapsed time is unknown', async () => {
    const fixture = new Fixture(30);
    const [tab] = await fixture.openTabs(1);
    fixture.server.delivery = () => ({ back: 1_000_000 });
    await fixture.time.run(TTL);
    const asking = fixture.ask(tab!);
    asking.catch(() => undefined);
    await fixture.time.run(500);
    tab!.tab.close();
    await fixture.time.run(60_000);
    fixture.time.set(fixture.time.now() - 3_600_000);
    expect(await fixture.askAll([fixture.open()])).toEqual([401]);
    expect(sent(fixture)).toBe(1);
  });
});

describe.each([0, 30])('a refresh token that is known to be unused, with a grace period of %i,', (grace) => {
  it.each([401, 403, 404, 413, 429])('is sent again later after a %i', async (status) => {
    const fixture = new Fixture(grace);
    const [tab] = await fixture.openTabs(1);
    once(fixture, { status });
    await fixture.time.run(TTL);
    const [refused] = await fixture.askAll([tab!]);
    expect(typeof refused).toBe('string');
    expect(await fixture.askAll([tab!])).toEqual([200]);
    expect(tab!.emitted).toEqual(['refreshed']);
  });

  it('is sent although the browser has no network, where the server answers nevertheless', async () => {
    const fixture = new Fixture(grace);
    const [tab] = await fixture.openTabs(1);
    await fixture.time.run(TTL);
    fixture.browser.isOnline = false;
    expect(await fixture.askAll([tab!])).toEqual([200]);
    expect(tab!.emitted).toEqual(['refreshed']);
  });

  it('is sent once the server can be reached again', async () => {
    const fixture = new Fixture(grace);
    const [tab] = await fixture.openTabs(1);
    await fixture.time.run(TTL);
    fixture.browser.isOnline = false;
    const asking = fixture.ask(tab!);
    await fixture.time.run(1);
    fixture.server.isReachable = false;
    expect(await fixture.time.until(asking)).toBe('offline');
    expect(sent(fixture)).toBe(0);
    fixture.server.isReachable = true;
    expect(await fixture.askAll([tab!])).toEqual([200]);
  });
});
