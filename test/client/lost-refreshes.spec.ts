import type { Delivery } from './fake-server';
import { signedIn, withExpiredToken, TTL } from './fixture';

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

describe.each(UNKNOWN)('a refresh with an unknown outcome', ({ title, delivery }) => {
  it(`without a grace period, no tab sends a refresh token again, even after a reload, when ${title}`, async () => {
    const { fixture, server, tabs } = await signedIn({ tabs: 3 });
    let refreshes = 0;
    server.delivery = () => (refreshes++, delivery);
    expect(await fixture.requestInAll(tabs)).toEqual([200, 200, 200]);
    await fixture.time.run(TTL);
    await fixture.requestInAll([tabs[0]!]);
    await fixture.requestInAll(tabs);
    await fixture.requestInAll([fixture.open()]);
    expect([refreshes, server.reuses]).toEqual([1, 0]);
    await fixture.time.run(100);
    for (const { emitted } of tabs) expect(emitted).toEqual(['signInNeeded']);
  });

  it.each(['local', 'cookie'] as const)(
    `within a grace period, a refresh is repeated until it succeeds when ${title}, with %s storage`,
    async (kind) => {
      const { fixture, server, tabs } = await signedIn({ kind, grace: 30, tabs: 3 });
      fixture.deliverNext(delivery);
      await fixture.time.run(TTL);
      expect(await fixture.requestInAll(tabs)).toEqual([200, 200, 200]);
      expect([server.refreshes, server.reuses]).toEqual([1, 0]);
    },
  );
});

it('after a lost response without a grace period, the session continues until its access token expires, and then requires a sign-in', async () => {
  const { fixture, one } = await signedIn({ options: { accessTokenTtlSeconds: 900 } });
  fixture.deliverNext({ lost: 'request' });
  await fixture.time.run(TTL - 20_000);
  expect(await fixture.requestInAll([one])).toEqual([200]);
  await fixture.time.run(10_000);
  expect(await fixture.requestInAll([one])).toEqual([200]);
  expect(one.emitted).toEqual([]);
  await fixture.time.run(10_000);
  expect(await fixture.requestInAll([one])).toEqual([401]);
  expect(one.emitted).toEqual(['signInNeeded']);
  expect(await fixture.requestInAll([one])).toEqual(['signed_out']);
  await fixture.login(one);
  expect(await fixture.requestInAll([one])).toEqual([200]);
});

describe('lost responses with a grace period of 30 seconds', () => {
  it.each(['local', 'cookie'] as const)(
    'a refresh is not repeated after half of the grace period, even after a reload, until a login, with %s storage',
    async (kind) => {
      const { fixture, server, one } = await signedIn({ kind, grace: 30 });
      const times: number[] = [];
      server.delivery = () => {
        times.push(fixture.time.now());
        return { status: 503, after: true };
      };
      await fixture.time.run(TTL);
      expect(await fixture.requestInAll([one])).toEqual([401]);
      await fixture.time.run(TTL);
      const next = fixture.open();
      await fixture.requestInAll([one, next]);
      expect(times.length).toBeGreaterThan(3);
      expect(times.at(-1)! - times[0]!).toBeGreaterThan(7_500);
      expect(times.at(-1)! - times[0]!).toBeLessThan(15_000);
      expect(await fixture.time.until(next.client.isSignedIn())).toBe(false);
      expect([server.reuses, one.emitted, next.emitted]).toEqual([0, ['signInNeeded'], []]);
      server.delivery = () => ({});
      await fixture.login(next);
      await fixture.time.run(TTL);
      expect(await fixture.requestInAll([one, next])).toEqual([200, 200]);
    },
  );

  it('a refresh is not repeated after the clock was set back, since the elapsed time is unknown', async () => {
    const { fixture, server, one } = await signedIn({ grace: 30 });
    server.delivery = () => ({ responseDelay: 1_000_000 });
    await fixture.time.run(TTL);
    await fixture.closeDuringRequest(one, 500);
    await fixture.time.run(60_000);
    fixture.time.set(fixture.time.now() - 3_600_000);
    server.requests.length = 0;
    expect(await fixture.requestInAll([fixture.open()])).toEqual([401]);
    expect(server.paths).toEqual(['/me']);
  });
});

describe.each([0, 30])('a refresh token that is known to be unused, with a grace period of %i seconds', (grace) => {
  it.each([400, 401, 403, 404, 413, 429])(
    'a refresh that a proxy or a body parser refuses with %i does not end the session, and is sent again',
    async (status) => {
      const { fixture, one } = await signedIn({ grace });
      fixture.deliverNext({ status });
      await fixture.time.run(TTL);
      const [refused] = await fixture.requestInAll([one]);
      expect(typeof refused).toBe('string');
      expect(await fixture.requestInAll([one])).toEqual([200]);
      expect(one.emitted).toEqual(['refreshed']);
    },
  );
});

describe.each(['local', 'cookie'] as const)('a server that cannot be reached, with %s storage', (kind) => {
  it.each([
    ['refuses connections', { isReachable: false }],
    ['is behind a proxy that responds with 502', { probeStatus: 502 }],
    ['is behind a proxy that responds with 503', { probeStatus: 503 }],
  ])(
    'an outage of eight seconds passes unnoticed, and no token is sent meanwhile, if the server %s',
    async (_, outage) => {
      const { fixture, server, tabs } = await withExpiredToken({ kind, grace: 10, tabs: 3 });
      const asking = fixture.requestInAll(tabs);
      await fixture.time.run(2);
      Object.assign(server, outage);
      await fixture.time.run(8_000);
      expect(server.paths).not.toContain('/auth/token/refresh');
      Object.assign(server, { isReachable: true, probeStatus: 204 });
      expect(await asking).toEqual([200, 200, 200]);
      expect(server.refreshes).toBe(1);
      for (const { emitted } of tabs) expect(emitted).toEqual(['refreshed']);
    },
  );

  it('a longer outage rejects requests with offline, and keeps the session, unless a proxy only lacks HEAD', async () => {
    const { fixture, server, one } = await withExpiredToken({ kind, grace: 0 });
    server.probeStatus = 500;
    for (let round = 0; round < 3; round++) expect(await fixture.requestInAll([one])).toEqual(['offline']);
    server.probeStatus = 501;
    expect(await fixture.requestInAll([one])).toEqual([200]);
    expect(one.emitted).toEqual(['refreshed']);
  });

  it('a page that is reloaded during an outage keeps its session', async () => {
    const { fixture, server, one } = await withExpiredToken({ kind, grace: 0 });
    fixture.request(one).catch(() => undefined);
    await fixture.time.run(2);
    server.isReachable = false;
    await fixture.time.run(1_000);
    one.tab.close();
    server.isReachable = true;
    expect(await fixture.requestInAll([fixture.open()])).toEqual([200]);
  });

  it('a login, a logout and a password change report offline, and send nothing', async () => {
    const { fixture, server, one } = await signedIn({ kind });
    server.isReachable = false;
    server.requests.length = 0;
    const { client } = one;
    for (const call of [client.login('alice', 'secret'), client.logout(), client.changePassword('a', 'b')]) {
      expect(await fixture.rejection(call)).toMatchObject({ code: 'offline', status: null });
    }
    server.isReachable = true;
    expect([server.paths, await fixture.requestInAll([one])]).toEqual([[], [200]]);
  });
});

it('a tab that sees the tokens of another tab only after the probe does not send the used token', async () => {
  const { fixture, server, tabs } = await withExpiredToken({ grace: 0, tabs: 2, traits: { lag: () => 120 } });
  // A write becomes visible after 240 ms: it takes the lag once to the browser, and once to the other tab.
  server.probeDelay = 200;
  expect(await fixture.requestInAll(tabs)).toEqual([200, 200]);
  expect([server.refreshes, server.reuses]).toEqual([1, 0]);
});

it('a request whose token is about to expire does not wait for the server', async () => {
  const { fixture, server, one } = await signedIn({ options: { accessTokenTtlSeconds: 900 } });
  await fixture.time.run(TTL - 20_000);
  server.probeStatus = 502;
  const startedAt = fixture.time.now();
  expect(await fixture.requestInAll([one])).toEqual([200]);
  expect(fixture.time.now() - startedAt).toBeLessThan(500);
});
