import fc from 'fast-check';
import type { Delivery } from './fake-server';
import { Fixture, type OpenedTab } from './fixture';

const TTL = 900_000;
const RUNS = Number(process.env['CLIENT_RUNS'] ?? 60);

/** Returns a function that takes the next number modulo `below`, and starts again after the last one. */
function cycleThrough(numbers: readonly number[]): (below: number) => number {
  let next = 0;
  return (below) => (numbers.length === 0 ? 0 : numbers[next++ % numbers.length]! % below);
}

const DELIVERIES: readonly Delivery[] = [
  {},
  {},
  { requestDelay: 300, responseDelay: 300 },
  { lost: 'request' },
  { lost: 'answer' },
  { status: 503 },
  { status: 503, after: true },
  { status: 429 },
  { requestDelay: 2_000, responseDelay: 9_000 },
];

const operations = fc.array(
  fc.record({
    tab: fc.nat(4),
    operation: fc.constantFrom(
      'ask',
      'ask',
      'ask',
      'open',
      'close',
      'close soon',
      'copy',
      'login',
      'logout',
      'password',
    ),
    wait: fc.constantFrom(0, 0, 1, 30, 200, 300, 1_000, 20_000, TTL),
  }),
  { minLength: 5, maxLength: 30 },
);

const scenarios = fc.record({
  operations,
  numbers: fc.array(fc.nat(1_000), { minLength: 1, maxLength: 30 }),
  hasLocks: fc.boolean(),
  hasBroadcast: fc.boolean(),
  kind: fc.constantFrom('local' as const, 'session' as const, 'cookie' as const),
  /** The grace period in seconds. Half of 30 seconds is longer than the latency of a repeated refresh. */
  grace: fc.constantFrom(0, 30),
  knowsTtl: fc.boolean(),
});

type Scenario = typeof scenarios extends fc.Arbitrary<infer T> ? T : never;

async function run(scenario: Scenario, deliveries = DELIVERIES): Promise<{ fixture: Fixture; tabs: OpenedTab[] }> {
  const choose = cycleThrough(scenario.numbers);
  // A write reaches another tab after two of these delays.
  const traits = { lag: () => choose(40), hasLocks: scenario.hasLocks, hasBroadcast: scenario.hasBroadcast };
  const fixture = new Fixture(
    scenario.grace,
    traits,
    scenario.kind,
    scenario.knowsTtl ? { accessTokenTtlSeconds: 900 } : {},
  );
  const tabs = await fixture.openTabs(3);
  fixture.server.delivery = () => deliveries[choose(deliveries.length)]!;
  for (const { tab, operation, wait } of scenario.operations) {
    const one = tabs[tab % tabs.length]!;
    perform(fixture, tabs, one, operation, choose);
    await fixture.time.run(wait);
  }
  await fixture.time.run(120_000);
  return { fixture, tabs };
}

function perform(
  fixture: Fixture,
  tabs: OpenedTab[],
  one: OpenedTab,
  operation: string,
  choose: (below: number) => number,
): void {
  const go = (doing: Promise<unknown>): void => void doing.catch(() => undefined);
  if (operation === 'open') tabs.push(fixture.open());
  else if (operation === 'copy') tabs.push(fixture.open(one.tab.duplicate()));
  else if (operation === 'close') one.tab.close();
  else if (operation === 'close soon') one.tab.closesAtCall = one.tab.calls + 1 + choose(12);
  else if (operation === 'login') go(one.client.login('alice', 'secret'));
  else if (operation === 'logout') go(one.client.logout());
  else if (operation === 'password') go(one.client.changePassword('secret', 'another secret'));
  else go(fixture.request(one));
}

describe('any interleaving of tabs, network and browser', () => {
  it('no client ever sends a used refresh token outside its grace period', async () => {
    await fc.assert(
      fc.asyncProperty(scenarios, async (scenario) => {
        expect((await run(scenario)).fixture.server.reuses).toBe(0);
      }),
      { numRuns: RUNS },
    );
  }, 240_000);

  it('nobody has to sign in again as long as no response is lost and no tab is closed', async () => {
    const calm = fc.record({
      operations: fc.array(
        fc.record({
          tab: fc.nat(4),
          operation: fc.constantFrom('ask', 'ask', 'ask', 'ask', 'open', 'password'),
          wait: fc.constantFrom(0, 1, 30, 200, 1_000, TTL),
        }),
        { minLength: 5, maxLength: 30 },
      ),
      numbers: fc.array(fc.nat(1_000), { minLength: 1, maxLength: 30 }),
      hasLocks: fc.boolean(),
      hasBroadcast: fc.boolean(),
      kind: fc.constantFrom('local' as const, 'cookie' as const),
      grace: fc.constantFrom(0 as const, 30 as const),
      knowsTtl: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(calm, async (scenario) => {
        const { tabs, fixture } = await run(scenario, [
          {},
          { requestDelay: 300, responseDelay: 300 },
          { requestDelay: 1_000, responseDelay: 2_000 },
        ]);
        expect(new Set(tabs.flatMap(({ emitted }) => emitted))).not.toContain('signInNeeded');
        expect(await fixture.requestInAll(tabs)).toEqual(tabs.map(() => 200));
        expect(fixture.server.reuses).toBe(0);
      }),
      { numRuns: RUNS },
    );
  }, 240_000);
});
