import type { Journey } from './fake-server';
import { Stage } from './stage';

const TTL = 900_000;

/** Journeys after which nobody knows whether the token was exchanged. */
const UNKNOWN: readonly { readonly title: string; readonly journey: Journey }[] = [
  { title: 'the answer was lost', journey: { lost: 'answer' } },
  { title: 'the connection broke on the way there', journey: { lost: 'request' } },
  { title: 'the answer takes longer than the client waits', journey: { back: 60_000 } },
  { title: 'the server says 503, and did nothing', journey: { status: 503 } },
  { title: 'the server says 503, and did it', journey: { status: 503, after: true } },
  { title: 'a proxy says 502, and it was done', journey: { status: 502, after: true } },
  { title: 'a proxy says 408, and it was done', journey: { status: 408, after: true } },
  { title: "somebody else's 200 comes", journey: { status: 200, after: true } },
];

/** What happens to the first refresh from now on. */
function once(stage: Stage, journey: Journey): void {
  let isFirst = true;
  stage.server.journey = () => {
    const one = isFirst ? journey : {};
    isFirst = false;
    return one;
  };
}

const sent = (stage: Stage): number => stage.server.requests.filter(({ path }) => path.endsWith('/refresh/')).length;

describe('with a grace of 0', () => {
  it.each(UNKNOWN)('never sends a token again when $title, in no tab and after no reload', async ({ journey }) => {
    const stage = new Stage(0);
    const tabs = await stage.openTabs(3);
    let refreshes = 0;
    stage.server.journey = () => (refreshes++, journey);
    expect(await stage.askAll(tabs)).toEqual([200, 200, 200]);
    await stage.time.run(TTL);
    await stage.askAll([tabs[0]!]);
    await stage.askAll(tabs);
    const reloaded = stage.open();
    await stage.askAll([reloaded]);
    expect(refreshes).toBe(1);
    expect(sent(stage)).toBeLessThanOrEqual(1);
    expect(stage.server.reuses).toBe(0);
    await stage.time.run(100);
    for (const { told } of tabs) expect(told).toEqual(['signInNeeded']);
  });

  it('goes on with the access token as long as it works, and asks for a sign-in then', async () => {
    const stage = new Stage(0, {}, 'local', { accessTokenTtlSeconds: 900 });
    const [tab] = await stage.openTabs(1);
    once(stage, { lost: 'request' });
    await stage.time.run(TTL - 20_000);
    expect(await stage.askAll([tab!])).toEqual([200]);
    await stage.time.run(10_000);
    expect(await stage.askAll([tab!])).toEqual([200]);
    expect(tab!.told).toEqual([]);
    await stage.time.run(10_000);
    expect(await stage.askAll([tab!])).toEqual([401]);
    expect(tab!.told).toEqual(['signInNeeded']);
    expect(await stage.askAll([tab!])).toEqual(['signed_out']);
    await stage.time.until(tab!.client.login('alice', 'secret'));
    expect(await stage.askAll([tab!])).toEqual([200]);
  });

  it('is rid of the doubt by a change of password', async () => {
    const stage = new Stage(0, {}, 'local', { accessTokenTtlSeconds: 900 });
    const [tab] = await stage.openTabs(1);
    once(stage, { lost: 'request' });
    await stage.time.run(TTL - 20_000);
    expect(await stage.askAll([tab!])).toEqual([200]);
    await stage.time.until(tab!.client.changePassword('secret', 'another secret'));
    await stage.time.run(TTL);
    expect(await stage.askAll([tab!])).toEqual([200]);
    expect(stage.server.reuses).toBe(0);
  });
});

describe('with a grace of 30', () => {
  it.each(UNKNOWN)('asks again when $title, and gets the very same pair', async ({ journey }) => {
    const stage = new Stage(30);
    const tabs = await stage.openTabs(3);
    once(stage, journey);
    await stage.time.run(TTL);
    expect(await stage.askAll(tabs)).toEqual([200, 200, 200]);
    expect(stage.server.refreshes).toBe(1);
    expect(stage.server.reuses).toBe(0);
  });

  it('asks again after a reload, and not when half of the grace is over', async () => {
    for (const [wait, answer] of [
      [10_000, 200],
      [15_000, 401],
    ] as const) {
      const stage = new Stage(30);
      const [tab] = await stage.openTabs(1);
      once(stage, { lost: 'answer' });
      await stage.time.run(TTL);
      // It is sent at 102 ms: 100 for what other tabs may have written, 2 for the request that was refused.
      const asking = stage.ask(tab!);
      asking.catch(() => undefined);
      await stage.time.run(102 + 1);
      tab!.tab.close();
      await stage.time.run(wait);
      const reloaded = stage.open();
      expect(await stage.askAll([reloaded])).toEqual([answer]);
      expect(stage.server.reuses).toBe(0);
    }
  });

  it('gives up when no answer came in half of the grace', async () => {
    const stage = new Stage(30);
    const [tab] = await stage.openTabs(1);
    stage.server.journey = () => ({ status: 503, after: true });
    await stage.time.run(TTL);
    expect(await stage.askAll([tab!])).toEqual([401]);
    expect(sent(stage)).toBeGreaterThan(3);
    const last = sent(stage);
    await stage.time.run(TTL);
    await stage.askAll([tab!, stage.open()]);
    expect(sent(stage)).toBe(last);
    expect(stage.server.reuses).toBe(0);
    expect(tab!.told).toEqual(['signInNeeded']);
  });

  it('does not ask again when the clock was put back meanwhile: nobody knows how long it was', async () => {
    const stage = new Stage(30);
    const [tab] = await stage.openTabs(1);
    stage.server.journey = () => ({ back: 1_000_000 });
    await stage.time.run(TTL);
    const asking = stage.ask(tab!);
    asking.catch(() => undefined);
    await stage.time.run(500);
    tab!.tab.close();
    await stage.time.run(60_000);
    stage.time.set(stage.time.now() - 3_600_000);
    expect(await stage.askAll([stage.open()])).toEqual([401]);
    expect(sent(stage)).toBe(1);
  });
});

describe.each([0, 30])('what is known not to have used the token up, with a grace of %i', (grace) => {
  it.each([401, 403, 404, 413, 429])('is a %i: it is sent again later', async (status) => {
    const stage = new Stage(grace);
    const [tab] = await stage.openTabs(1);
    once(stage, { status });
    await stage.time.run(TTL);
    const [refused] = await stage.askAll([tab!]);
    expect(typeof refused).toBe('string');
    expect(await stage.askAll([tab!])).toEqual([200]);
    expect(tab!.told).toEqual(['refreshed']);
  });

  it('is a browser that is offline', async () => {
    const stage = new Stage(grace);
    const [tab] = await stage.openTabs(1);
    await stage.time.run(TTL);
    stage.browser.isOnline = false;
    expect(await stage.askAll([tab!])).toEqual(['offline']);
    expect(sent(stage)).toBe(0);
    stage.browser.isOnline = true;
    expect(await stage.askAll([tab!])).toEqual([200]);
  });
});
