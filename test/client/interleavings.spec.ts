import fc from 'fast-check';
import type { Journey } from './fake-server';
import { Stage, type Opened } from './stage';

const TTL = 900_000;
const RUNS = Number(process.env['CLIENT_RUNS'] ?? 60);

/** How the world behaves, number by number; when the numbers are used up it begins anew. */
function dealer(numbers: readonly number[]): (below: number) => number {
  let next = 0;
  return (below) => (numbers.length === 0 ? 0 : numbers[next++ % numbers.length]! % below);
}

const JOURNEYS: readonly Journey[] = [
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

const deeds = fc.array(
  fc.record({
    tab: fc.nat(4),
    deed: fc.constantFrom('ask', 'ask', 'ask', 'open', 'close', 'close soon', 'copy', 'login', 'logout', 'password'),
    wait: fc.constantFrom(0, 0, 1, 30, 200, 300, 1_000, 20_000, TTL),
  }),
  { minLength: 5, maxLength: 30 },
);

const worlds = fc.record({
  deeds,
  numbers: fc.array(fc.nat(1_000), { minLength: 1, maxLength: 30 }),
  hasLocks: fc.boolean(),
  hasBroadcast: fc.boolean(),
  kind: fc.constantFrom('local' as const, 'session' as const),
  /** A grace has room for what is late on its way: half of it. */
  grace: fc.constantFrom(0, 30),
  knowsTtl: fc.boolean(),
});

type World = typeof worlds extends fc.Arbitrary<infer T> ? T : never;

async function play(world: World, journeys = JOURNEYS): Promise<{ stage: Stage; tabs: Opened[] }> {
  const deal = dealer(world.numbers);
  // Twice this long it takes until another tab sees what one has written.
  const traits = { lag: () => deal(40), hasLocks: world.hasLocks, hasBroadcast: world.hasBroadcast };
  const stage = new Stage(world.grace, traits, world.kind, world.knowsTtl ? { accessTokenTtlSeconds: 900 } : {});
  const tabs = await stage.openTabs(3);
  stage.server.journey = () => journeys[deal(journeys.length)]!;
  for (const { tab, deed, wait } of world.deeds) {
    const one = tabs[tab % tabs.length]!;
    act(stage, tabs, one, deed, deal);
    await stage.time.run(wait);
  }
  await stage.time.run(120_000);
  return { stage, tabs };
}

function act(stage: Stage, tabs: Opened[], one: Opened, deed: string, deal: (below: number) => number): void {
  const go = (doing: Promise<unknown>): void => void doing.catch(() => undefined);
  if (deed === 'open') tabs.push(stage.open());
  else if (deed === 'copy') tabs.push(stage.open(one.tab.duplicate()));
  else if (deed === 'close') one.tab.close();
  else if (deed === 'close soon') one.tab.closesAt = one.tab.points + 1 + deal(12);
  else if (deed === 'login') go(one.client.login('alice', 'secret'));
  else if (deed === 'logout') go(one.client.logout());
  else if (deed === 'password') go(one.client.changePassword('secret', 'another secret'));
  else go(stage.ask(one));
}

describe('whatever the tabs, the network and the browser do, in whatever order', () => {
  it('no refresh token is sent that was used up', async () => {
    await fc.assert(
      fc.asyncProperty(worlds, async (world) => {
        expect((await play(world)).stage.server.reuses).toBe(0);
      }),
      { numRuns: RUNS },
    );
  }, 240_000);

  it('nobody has to sign in, as long as no answer is lost and no tab is closed', async () => {
    const calm = fc.record({
      deeds: fc.array(
        fc.record({
          tab: fc.nat(4),
          deed: fc.constantFrom('ask', 'ask', 'ask', 'ask', 'open', 'password'),
          wait: fc.constantFrom(0, 1, 30, 200, 1_000, TTL),
        }),
        { minLength: 5, maxLength: 30 },
      ),
      numbers: fc.array(fc.nat(1_000), { minLength: 1, maxLength: 30 }),
      hasLocks: fc.boolean(),
      hasBroadcast: fc.boolean(),
      kind: fc.constant('local' as const),
      grace: fc.constantFrom(0 as const, 30 as const),
      knowsTtl: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(calm, async (world) => {
        const { tabs, stage } = await play(world, [{}, { there: 300, back: 300 }, { there: 1_000, back: 2_000 }]);
        expect(new Set(tabs.flatMap(({ told }) => told))).not.toContain('signInNeeded');
        expect(await stage.askAll(tabs)).toEqual(tabs.map(() => 200));
        expect(stage.server.reuses).toBe(0);
      }),
      { numRuns: RUNS },
    );
  }, 240_000);
});
