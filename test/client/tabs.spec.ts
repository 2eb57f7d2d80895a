import { memoryTokens, type AuthClientOptions, type Tokens, type TokenStorage } from 'nestjs-session-auth-client';
import { Fixture, signedIn, withExpiredToken, TTL, type OpenedTab, type Setup } from './fixture';

const OLD = { hasLocks: false, hasBroadcast: false, lag: () => 20 };

/** Signs in with tokens in `sessionStorage`, and duplicates the tab. */
async function duplicated(setup: Setup = {}): Promise<{ fixture: Fixture; original: OpenedTab; copy: OpenedTab }> {
  const { fixture, one: original } = await signedIn({ traits: { lag: () => 5 }, kind: 'session', ...setup });
  return { fixture, original, copy: fixture.open(original.tab.duplicate()) };
}

describe.each(['local', 'cookie'] as const)('tabs of one user, with %s storage', (kind) => {
  it('five tabs send one refresh, before a known expiry and after an unknown one', async () => {
    for (const [options, wait] of [[{ accessTokenTtlSeconds: 900 }, TTL - 20_000] as const, [{}, TTL] as const]) {
      const { fixture, server, tabs } = await signedIn({ kind, traits: { lag: () => 5 }, tabs: 5, options });
      for (let round = 1; round <= 5; round++) {
        await fixture.time.run(wait);
        server.requests.length = 0;
        expect(await fixture.requestInAll([...tabs, ...tabs])).toEqual(Array(10).fill(200));
        // With a known expiry, the server refuses no request.
        if (wait < TTL) expect(server.paths.filter((path) => path === '/me')).toHaveLength(10);
        expect(server.refreshes).toBe(round);
      }
      await fixture.time.run(100);
      for (const { emitted } of tabs) expect(emitted).toEqual(Array(5).fill('refreshed'));
    }
  });

  it('the tabs wait for a password change instead of refreshing, and use its tokens', async () => {
    const { fixture, server, tabs } = await signedIn({ kind, tabs: 3 });
    server.latency['/auth/password/change'] = 2_000;
    const changing = tabs[0]!.client.changePassword('secret', 'another secret');
    await fixture.time.run(10);
    expect(await fixture.requestInAll(tabs)).toEqual([200, 200, 200]);
    await fixture.time.until(changing);
    expect(server.refreshes).toBe(0);
  });

  it('a sign-out reaches all tabs once, and a request that is refused meanwhile reports no second end', async () => {
    const { fixture, server, tabs } = await signedIn({ kind, tabs: 3 });
    expect(await fixture.requestInAll(tabs)).toEqual([200, 200, 200]);
    server.latency['/auth/logout'] = 2_000;
    const leaving = tabs[1]!.client.logout();
    // The server has ended the session, and the response has not arrived yet.
    await fixture.time.run(500);
    expect(await fixture.requestInAll(tabs)).toEqual([401, 401, 401]);
    await fixture.time.until(leaving);
    await fixture.time.run(100);
    for (const { emitted } of tabs) expect(emitted).toEqual(['signedOut']);
    expect(server.refreshes).toBe(0);
  });
});

describe('duplicated tabs with a copy of sessionStorage', () => {
  it('a duplicated tab receives the same pair as soon as it is notified, and both tabs continue', async () => {
    const { fixture, original, copy } = await duplicated({ grace: 10 });
    for (let round = 1; round <= 3; round++) {
      await fixture.time.run(TTL);
      // Only one tab sends a request. The other tab is notified, and fetches the same pair.
      expect(await fixture.requestInAll([round % 2 ? original : copy])).toEqual([200]);
      await fixture.time.run(60_000);
      expect(await fixture.requestInAll([original, copy])).toEqual([200, 200]);
      expect(fixture.server.refreshes).toBe(round);
    }
    for (const { emitted } of [original, copy]) expect(emitted).toEqual(Array(3).fill('refreshed'));
    expect(fixture.server.reuses).toBe(0);
  });

  it.each([1, 2])(
    'without a grace period, a duplicated tab requires a sign-in after the original tab has refreshed (%i times), which continues',
    async (times) => {
      const { fixture, original, copy } = await duplicated();
      for (let round = 0; round < times; round++) {
        await fixture.time.run(TTL);
        expect(await fixture.requestInAll([original])).toEqual([200]);
      }
      expect(await fixture.requestInAll([copy])).toEqual([401]);
      await fixture.time.run(1_000);
      expect(await fixture.requestInAll([original, copy])).toEqual([200, 'signed_out']);
      expect([original.emitted, copy.emitted]).toEqual([Array(times).fill('refreshed'), ['signInNeeded']]);
      expect(fixture.server.reuses).toBe(0);
    },
  );

  it('after a password change, a duplicated tab requires a sign-in, and the tab of the change continues', async () => {
    const { fixture, original, copy } = await duplicated({ grace: 10 });
    await fixture.time.until(original.client.changePassword('secret', 'another secret'));
    await fixture.time.run(60_000);
    expect(await fixture.requestInAll([original, copy])).toEqual([200, 'signed_out']);
    expect([original.emitted, copy.emitted]).toEqual([['refreshed'], ['signedOutElsewhere']]);
  });

  it('a sign-out reaches a duplicated tab, and no message or write that other tabs see contains a token', async () => {
    for (const traits of [{ lag: () => 5 }, { ...OLD, hasBroadcast: true }]) {
      const { fixture, original, copy } = await duplicated({ grace: 10, traits });
      const post = jest.spyOn(fixture.browser, 'post');
      const write = jest.spyOn(fixture.browser.stored, 'set');
      await fixture.time.run(TTL);
      expect(await fixture.requestInAll([original])).toEqual([200]);
      await fixture.time.until(original.client.logout());
      await fixture.time.run(100);
      expect(copy.emitted.at(-1)).toBe('signedOut');
      const shared = [...post.mock.calls.map(([, , message]) => message), ...write.mock.calls];
      expect(shared.length).toBeGreaterThan(3);
      expect(JSON.stringify(shared)).not.toMatch(/access-|refresh-/);
    }
  });
});

it('without Web Locks, a lease that was taken before the clock was set back does not block other tabs', async () => {
  const { fixture, server, tabs, one } = await withExpiredToken({ traits: OLD, tabs: 2 });
  one.tab.closesAtCall = one.tab.calls + 4;
  fixture.request(one).catch(() => undefined);
  await fixture.time.run(300);
  expect(one.tab.isClosed).toBe(true);
  expect([...fixture.browser.stored.keys()]).toContain('nestjs-session-auth:lock');
  server.expireAccessTokens();
  fixture.time.set(fixture.time.now() - 3_600_000);
  const before = fixture.time.now();
  expect(await fixture.requestInAll([tabs[1]!])).toEqual([200]);
  expect(fixture.time.now() - before).toBeLessThan(2_000);
});

it.each([
  { hasLocks: true, grace: 0, statuses: [200, 401] },
  { hasLocks: true, grace: 10, statuses: [200] },
  { hasLocks: false, grace: 0, statuses: [200, 401] },
  // A lease may last longer than the grace period.
  { hasLocks: false, grace: 10, statuses: [200, 401] },
])(
  'a tab that is closed at any point of a refresh causes no reuse, and the other tabs continue or require a sign-in (Web Locks: $hasLocks, grace period: $grace s)',
  async ({ hasLocks, grace, statuses }) => {
    const seen: (number | string)[] = [];
    for (let point = 1; ; point++) {
      const traits = { hasLocks, lag: () => 5 };
      const { fixture, server, tabs, one } = await withExpiredToken({ grace, traits, tabs: 3 });
      one.tab.closesAtCall = one.tab.calls + point;
      fixture.request(one).catch(() => undefined);
      await fixture.time.run(3_000);
      if (!one.tab.isClosed) break;
      const others = tabs.slice(1);
      const answers = await fixture.requestInAll(others);
      expect(answers[0]).toBe(answers[1]);
      await fixture.time.run(100);
      for (const { emitted } of others) expect(emitted).toEqual([answers[0] === 200 ? 'refreshed' : 'signInNeeded']);
      seen.push(answers[0]!);
      // Later refreshes cause no reuse either.
      await fixture.time.run(TTL);
      await fixture.requestInAll(others);
      expect(server.reuses).toBe(0);
    }
    expect(seen.length).toBeGreaterThan(8);
    expect(new Set(seen)).toEqual(new Set(statuses));
  },
);

describe('clients in one process without the locks, storages and channels of a browser', () => {
  const inNode = (fixture: Fixture, options: AuthClientOptions): OpenedTab =>
    fixture.openIn({ locks: null, localStorage: null, openBroadcast: null }, options);

  it('clients with a shared storage object refresh one at a time', async () => {
    const fixture = new Fixture();
    const storage = memoryTokens();
    const clients = Array.from({ length: 5 }, () => inNode(fixture, { storage }));
    await fixture.login(clients[0]!);
    await fixture.time.run(TTL);
    expect(await fixture.requestInAll(clients)).toEqual([200, 200, 200, 200, 200]);
    expect(fixture.server.refreshes).toBe(1);
  });

  it('clients with the same name refresh one at a time, and clients with another name do not wait', async () => {
    const fixture = new Fixture();
    const rows = new Map<string, Tokens | null>();
    const open = (name: string): OpenedTab => {
      // The storage is as slow as a database.
      const storage: TokenStorage = {
        reach: 'origin',
        read: async () => (await fixture.time.wait(3), rows.get(name) ?? null),
        write: async (tokens) => (await fixture.time.wait(3), void rows.set(name, tokens)),
      };
      return inNode(fixture, { storage, name });
    };
    const alices = [open('alice'), open('alice'), open('alice')];
    const bob = open('bob');
    for (const one of [alices[0]!, bob]) await fixture.login(one);
    await fixture.time.run(TTL);
    fixture.deliverNext({ responseDelay: 5_000 });
    const asking = fixture.requestInAll(alices);
    expect(await fixture.requestInAll([bob])).toEqual([200]);
    expect(await asking).toEqual([200, 200, 200]);
    expect([fixture.server.refreshes, fixture.server.reuses]).toEqual([2, 0]);
  });
});
