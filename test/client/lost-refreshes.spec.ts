import type { Delivery } from './fake-server';
import { Fixture } from './fixture';

const TTL = 900_000;

/** Deliveries after which the client cannot know whether the server rotated the token. */
const UNKNOWN: readonly { readonly title: string; readonly delivery: Delivery }[] = [
  { title: 'the response was lost', delivery: { lost: 'answer' } },
  { title: 'the connection broke before the request arrived', delivery: { lost: 'request' } },
  { title: 'the response takes longer than the timeout of the client', delivery: { responseDelay: 60_000 } },
  { title: 'the server responds with 503 without rotating the token', delivery: { status: 503 } },
  { title: 'the server responds with 503 after rotating the token', delivery: { status: 503, after: true } },
  { title: 'a proxy responds with 502 after the token was rotated', delivery: { status: 502, after: true } },
  { title: 'a proxy responds with 408 after the token was rotated', delivery: { status: 408, after: true } },
  { title: 'a proxy responds with 200 after the token was rotated', delivery: { status: 200, after: true } },
];

/** Sets how the next refresh is delivered. */
function once(fixture: Fixture, delivery: Delivery): void {
  let isFirst = true;
  fixture.server.delivery = () => {
    const one = isFirst ? delivery : {};
    isFirst = false;
    return one;
  };
}

const processedRefreshes = (fixture: Fixture): number =>
  fixture.server.requests.filter(({ path }) => path.endsWith('/refresh/')).length;

describe('lost responses without a grace period', () => {
  it.each(UNKNOWN)('no tab sends a refresh token again, even after a reload, when $title', async ({ delivery }) => {
    const fixture = new Fixture(0);
    const tabs = await fixture.openTabs(3);
    let refreshes = 0;
    fixture.server.delivery = () => (refreshes++, delivery);
    expect(await fixture.requestInAll(tabs)).toEqual([200, 200, 200]);
    await fixture.time.run(TTL);
    await fixture.requestInAll([tabs[0]!]);
    await fixture.requestInAll(tabs);
    const reloaded = fixture.open();
    await fixture.requestInAll([reloaded]);
    expect(refreshes).toBe(1);
    expect(processedRefreshes(fixture)).toBeLessThanOrEqual(1);
    expect(fixture.server.reuses).toBe(0);
    await fixture.time.run(100);
    for (const { emitted } of tabs) expect(emitted).toEqual(['signInNeeded']);
  });

  it('the session continues until its access token expires, and then requires a sign-in', async () => {
    const fixture = new Fixture(0, {}, 'local', { accessTokenTtlSeconds: 900 });
    const [tab] = await fixture.openTabs(1);
    once(fixture, { lost: 'request' });
    await fixture.time.run(TTL - 20_000);
    expect(await fixture.requestInAll([tab!])).toEqual([200]);
    await fixture.time.run(10_000);
    expect(await fixture.requestInAll([tab!])).toEqual([200]);
    expect(tab!.emitted).toEqual([]);
    await fixture.time.run(10_000);
    expect(await fixture.requestInAll([tab!])).toEqual([401]);
    expect(tab!.emitted).toEqual(['signInNeeded']);
    expect(await fixture.requestInAll([tab!])).toEqual(['signed_out']);
    await fixture.time.until(tab!.client.login('alice', 'secret'));
    expect(await fixture.requestInAll([tab!])).toEqual([200]);
  });

  it('after a password change, the client can refresh again', async () => {
    const fixture = new Fixture(0, {}, 'local', { accessTokenTtlSeconds: 900 });
    const [tab] = await fixture.openTabs(1);
    once(fixture, { lost: 'request' });
    await fixture.time.run(TTL - 20_000);
    expect(await fixture.requestInAll([tab!])).toEqual([200]);
    await fixture.time.until(tab!.client.changePassword('secret', 'another secret'));
    await fixture.time.run(TTL);
    expect(await fixture.requestInAll([tab!])).toEqual([200]);
    expect(fixture.server.reuses).toBe(0);
  });
});

describe('lost responses with a grace period of 30 seconds', () => {
  it.each(UNKNOWN)('a refresh is repeated until it succeeds when $title', async ({ delivery }) => {
    const fixture = new Fixture(30);
    const tabs = await fixture.openTabs(3);
    once(fixture, delivery);
    await fixture.time.run(TTL);
    expect(await fixture.requestInAll(tabs)).toEqual([200, 200, 200]);
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
      // The refresh is sent at 102 ms: 100 ms until writes of other tabs are visible, and 2 ms for the refused
      // request.
      const asking = fixture.request(tab!);
      asking.catch(() => undefined);
      await fixture.time.run(102 + 1);
      tab!.tab.close();
      await fixture.time.run(wait);
      const reloaded = fixture.open();
      expect(await fixture.requestInAll([reloaded])).toEqual([answer]);
      expect(fixture.server.reuses).toBe(0);
    }
  });

  it('a refresh is no longer repeated after half of the grace period', async () => {
    const fixture = new Fixture(30);
    const [tab] = await fixture.openTabs(1);
    const times: number[] = [];
    fixture.server.delivery = () => {
      times.push(fixture.time.now());
      return { status: 503, after: true };
    };
    await fixture.time.run(TTL);
    expect(await fixture.requestInAll([tab!])).toEqual([401]);
    await fixture.time.run(TTL);
    await fixture.requestInAll([tab!, fixture.open()]);
    expect(times.length).toBeGreaterThan(3);
    expect(times.at(-1)! - times[0]!).toBeGreaterThan(7_500);
    expect(times.at(-1)! - times[0]!).toBeLessThan(15_000);
    expect(fixture.server.reuses).toBe(0);
    expect(tab!.emitted).toEqual(['signInNeeded']);
  });

  it('a refresh is not repeated after the clock was set back, since the elapsed time is unknown', async () => {
    const fixture = new Fixture(30);
    const [tab] = await fixture.openTabs(1);
    fixture.server.delivery = () => ({ responseDelay: 1_000_000 });
    await fixture.time.run(TTL);
    const asking = fixture.request(tab!);
    asking.catch(() => undefined);
    await fixture.time.run(500);
    tab!.tab.close();
    await fixture.time.run(60_000);
    fixture.time.set(fixture.time.now() - 3_600_000);
    expect(await fixture.requestInAll([fixture.open()])).toEqual([401]);
    expect(processedRefreshes(fixture)).toBe(1);
  });
});

describe.each([0, 30])('a refresh token that is known to be unused, with a grace period of %i seconds', (grace) => {
  it.each([401, 403, 404, 413, 429])(
    'an unused refresh token is sent again after a response with status %i',
    async (status) => {
      const fixture = new Fixture(grace);
      const [tab] = await fixture.openTabs(1);
      once(fixture, { status });
      await fixture.time.run(TTL);
      const [refused] = await fixture.requestInAll([tab!]);
      expect(typeof refused).toBe('string');
      expect(await fixture.requestInAll([tab!])).toEqual([200]);
      expect(tab!.emitted).toEqual(['refreshed']);
    },
  );

  it('an unused refresh token is sent to a reachable server although the browser reports that it is offline', async () => {
    const fixture = new Fixture(grace);
    const [tab] = await fixture.openTabs(1);
    await fixture.time.run(TTL);
    fixture.browser.isOnline = false;
    expect(await fixture.requestInAll([tab!])).toEqual([200]);
    expect(tab!.emitted).toEqual(['refreshed']);
  });

  it('an unused refresh token is sent once the server can be reached again', async () => {
    const fixture = new Fixture(grace);
    const [tab] = await fixture.openTabs(1);
    await fixture.time.run(TTL);
    fixture.browser.isOnline = false;
    const asking = fixture.request(tab!);
    await fixture.time.run(1);
    fixture.server.isReachable = false;
    expect(await fixture.time.until(asking)).toBe('offline');
    expect(processedRefreshes(fixture)).toBe(0);
    fixture.server.isReachable = true;
    expect(await fixture.requestInAll([tab!])).toEqual([200]);
  });
});
