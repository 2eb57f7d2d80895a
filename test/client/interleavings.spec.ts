import fc from 'fast-check';
import type { Delivery } from './fake-server';
import { Fixture, type Opened } from './fixture';

const TTL = 900_000;
const RUNS = Number(process.env['CLIENT_RUNS'] ?? 60);

/** Deals the numbers in turn, and starts again at the end. */
function dealer(numbers: readonly number[]): (below: number) => number {
  let next = 0;
  return (below) => (numbers.length === 0 ? 0 : numbers[next++ % numbers.length]! % below);
}

const DELIVERIES: readonly Delivery[] = [
  {},
  {},
  { there: 300, back: 300 },
  { lost: 'request' },
  { lost: 'answer' },
  { status: 503 },
  { status: 503, after: true },
  { status: 429 },
  { there: 2_000, back: 9_000 },
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
  /** Half of the grace period covers the latency of a repetition. */
  grace: fc.constantFrom(0, 30),
  knowsTtl: fc.boolean(),
});

type Scenario = typeof scenarios extends fc.Arbitrary<infer T> ? T : never;

async function play(scenario: Scenario, deliveries = DELIVERIES): Promise<{ fixture: Fixture; tabs: Opened[] }> {
  const deal = dealer(scenario.numbers);
  // Another tab sees a write after twice this time.
  const traits = { lag: () => deal(40), hasLocks: scenario.hasLocks, hasBroadcast: scenario.hasBroadcast };
  const fixture = new Fixture(
    scenario.grace,
    traits,
    scenario.kind,
    scenario.knowsTtl ? { accessTokenTtlSeconds: 900 } : {},
  );
  const tabs = await fixture.openTabs(3);
  fixture.server.delivery = () => deliveries[deal(deliveries.length)]!;
  for (const { tab, operation, wait } of scenario.operations) {
    const one = tabs[tab % tabs.length]!;
    act(fixture, tabs, one, operation, deal);
    await fixture.time.run(wait);
  }
  await fixture.time.run(120_000);
  return { fixture, tabs };
}

function act(fixture: Fixture, tabs: Opened[], one: Opened, operation: string, deal: (below: number) => number): void {
  const go = (doing: Promise<unknown>): void => void doing.catch(() => undefined);
  if (operation === 'open') tabs.push(fixture.open());
  else if (operation === 'copy') tabs.push(fixture.open(one.tab.duplicate()));
  else if (operation === 'close') one.tab.close();
  else if (operation === 'close soon') one.tab.closesAt = one.tab.points + 1 + deal(12);
  else if (operation === 'login') go(one.client.login('alice', 'secret'));
  else if (operation === 'logout') go(one.client.logout());
  else if (operation === 'password') go(one.client.changePassword('secret', 'another secret'));
  else go(fixture.ask(one));
}

describe('under any interleaving of tabs, network and browser', () => {
  it('no used refresh token is sent', async () => {
    await fc.assert(
      fc.asyncProperty(scenarios, async (scenario) => {
        expect((await play(scenario)).fixture.server.reuses).toBe(0);
      }),
      { numRuns: RUNS },
    );
  }, 240_000);

  it('nobody has to sign in again while no answer is lost and no tab is closed', async () => {
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
        const { tabs, fixture } = await play(scenario, [{}, { there: 300, back: 300 }, { there: 1_000, back: 2_000 }]);
        expect(new Set(tabs.flatMap(({ emitted }) => emitted))).not.toContain('signInNeeded');
        expect(await fixture.askAll(tabs)).toEqual(tabs.map(() => 200));
        expect(fixture.server.reuses).toBe(0);
      }),
      { numRuns: RUNS },
    );
  }, 240_000);
});
