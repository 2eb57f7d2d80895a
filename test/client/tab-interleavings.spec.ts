import fc from 'fast-check';
import type { Delivery } from './fake-server';
import { signedIn, TTL, type Fixture, type Kind, type OpenedTab } from './fixture';

const RUNS = Number(process.env['CLIENT_RUNS'] ?? 60);

const CALM: readonly Delivery[] = [
  {},
  { requestDelay: 300, responseDelay: 300 },
  { requestDelay: 1_000, responseDelay: 2_000 },
];
const ANY: readonly Delivery[] = [
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

type Scenario = ReturnType<typeof scenarios> extends fc.Arbitrary<infer Value> ? Value : never;

const scenarios = (operations: readonly string[], waits: readonly number[], kinds: readonly Kind[]) =>
  fc.record({
    operations: fc.array(
      fc.record({ tab: fc.nat(4), operation: fc.constantFrom(...operations), wait: fc.constantFrom(...waits) }),
      { minLength: 5, maxLength: 30 },
    ),
    numbers: fc.array(fc.nat(1_000), { minLength: 1, maxLength: 30 }),
    hasLocks: fc.boolean(),
    hasBroadcast: fc.boolean(),
    kind: fc.constantFrom(...kinds),
    // In seconds. Half of 30 seconds is longer than the latency of a repeated refresh.
    grace: fc.constantFrom(0, 30),
    knowsTtl: fc.boolean(),
  });

async function run(scenario: Scenario, deliveries: readonly Delivery[]) {
  const { numbers, hasLocks, hasBroadcast, kind, grace, knowsTtl, operations } = scenario;
  let next = 0;
  // Takes the numbers in turn, and starts again after the last one.
  const choose = (below: number): number => numbers[next++ % numbers.length]! % below;
  // A write reaches another tab after two of these delays.
  const traits = { lag: () => choose(40), hasLocks, hasBroadcast };
  const options = knowsTtl ? { accessTokenTtlSeconds: 900 } : {};
  const { fixture, server, tabs } = await signedIn({ grace, traits, kind, options, tabs: 3 });
  server.delivery = () => deliveries[choose(deliveries.length)]!;
  for (const { tab, operation, wait } of operations) {
    const performed = OPERATIONS[operation]!(fixture, tabs, tabs[tab % tabs.length]!, choose);
    Promise.resolve(performed).catch(() => undefined);
    await fixture.time.run(wait);
  }
  await fixture.time.run(120_000);
  return { fixture, tabs };
}

type Choose = (below: number) => number;
type Operation = (fixture: Fixture, tabs: OpenedTab[], one: OpenedTab, choose: Choose) => unknown;

const OPERATIONS: Readonly<Record<string, Operation>> = {
  ask: (fixture, _, one) => fixture.request(one),
  open: (fixture, tabs) => tabs.push(fixture.open()),
  copy: (fixture, tabs, { tab }) => tabs.push(fixture.open(tab.duplicate())),
  close: (_, _tabs, { tab }) => tab.close(),
  'close soon': (_, _tabs, { tab }, choose) => (tab.closesAtCall = tab.calls + 1 + choose(12)),
  login: (_, _tabs, { client }) => client.login('alice', 'secret'),
  logout: (_, _tabs, { client }) => client.logout(),
  password: (_, _tabs, { client }) => client.changePassword('secret', 'secret'),
};

describe('any interleaving of tabs, network and browser', () => {
  it('no client ever sends a used refresh token outside its grace period', async () => {
    const calls = ['ask', 'ask', 'ask', 'open', 'close', 'close soon', 'copy', 'login', 'logout', 'password'];
    const all = scenarios(calls, [0, 0, 1, 30, 200, 300, 1_000, 20_000, TTL], ['local', 'session', 'cookie']);
    const property = fc.asyncProperty(all, async (scenario) => {
      expect((await run(scenario, ANY)).fixture.server.reuses).toBe(0);
    });
    await fc.assert(property, { numRuns: RUNS });
  }, 240_000);

  it('nobody has to sign in again as long as no response is lost and no tab is closed', async () => {
    const calls = ['ask', 'ask', 'ask', 'ask', 'open', 'password'];
    const calm = scenarios(calls, [0, 1, 30, 200, 1_000, TTL], ['local', 'cookie']);
    const property = fc.asyncProperty(calm, async (scenario) => {
      const { tabs, fixture } = await run(scenario, CALM);
      expect(tabs.flatMap(({ emitted }) => emitted)).not.toContain('signInNeeded');
      expect(await fixture.requestInAll(tabs)).toEqual(tabs.map(() => 200));
      expect(fixture.server.reuses).toBe(0);
    });
    await fc.assert(property, { numRuns: RUNS });
  }, 240_000);
});
