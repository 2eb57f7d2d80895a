import { Stage, type Opened } from './stage';

const TTL = 900_000;

/** A tab is closed at one of its calls while it refreshes; then the others go on. */
async function closeAt(point: number, stage: Stage): Promise<{ others: Opened[]; isClosed: boolean }> {
  const [first, ...others] = await stage.openTabs(3);
  await stage.time.run(TTL);
  first!.tab.closesAt = first!.tab.points + point;
  const asking = stage.ask(first!);
  asking.catch(() => undefined);
  await stage.time.run(3_000);
  return { others, isClosed: first!.tab.isClosed };
}

const BROWSERS = [
  { title: 'with Web Locks', hasLocks: true, grace: 0 },
  { title: 'with Web Locks', hasLocks: true, grace: 10 },
  { title: 'without Web Locks', hasLocks: false, grace: 0 },
  { title: 'without Web Locks', hasLocks: false, grace: 10 },
];

describe.each(BROWSERS)(
  'a tab that is closed while it refreshes, $title and a grace of $grace',
  ({ hasLocks, grace }) => {
    it('raises no alarm wherever it was, and the other tabs go on or ask for a sign-in', async () => {
      const outcomes: string[] = [];
      for (let point = 1; ; point++) {
        const stage = new Stage(grace, { hasLocks, lag: () => 5 });
        const { others, isClosed } = await closeAt(point, stage);
        if (!isClosed) break;
        const answers = await stage.askAll(others);
        expect(stage.server.reuses).toBe(0);
        expect(answers[0]).toBe(answers[1]);
        await stage.time.run(100);
        for (const { told } of others) expect(told).toEqual([answers[0] === 200 ? 'refreshed' : 'signInNeeded']);
        outcomes.push(`${answers[0]}`);
        // Long after, nobody has become a thief either.
        await stage.time.run(TTL);
        await stage.askAll(others);
        expect(stage.server.reuses).toBe(0);
      }
      expect(outcomes.length).toBeGreaterThan(8);
      expect(new Set(outcomes)).toEqual(grace === 0 ? new Set(['200', '401']) : outcomesWithGrace(hasLocks));
    });
  },
);

/** A lease of a closed tab runs out when the grace has long been over. */
function outcomesWithGrace(hasLocks: boolean): Set<string> {
  return new Set(hasLocks ? ['200'] : ['200', '401']);
}
