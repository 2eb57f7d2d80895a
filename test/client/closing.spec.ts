import { Fixture, type Opened } from './fixture';

const TTL = 900_000;

/** Closes a tab at one of its calls during a refresh, and returns the other tabs. */
async function closeAt(point: number, fixture: Fixture): Promise<{ others: Opened[]; isClosed: boolean }> {
  const [first, ...others] = await fixture.openTabs(3);
  await fixture.time.run(TTL);
  first!.tab.closesAt = first!.tab.points + point;
  const asking = fixture.ask(first!);
  asking.catch(() => undefined);
  await fixture.time.run(3_000);
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
    it('never causes token reuse, and the other tabs continue or require a sign-in', async () => {
      const outcomes: string[] = [];
      for (let point = 1; ; point++) {
        const fixture = new Fixture(grace, { hasLocks, lag: () => 5 });
        const { others, isClosed } = await closeAt(point, fixture);
        if (!isClosed) break;
        const answers = await fixture.askAll(others);
        expect(fixture.server.reuses).toBe(0);
        expect(answers[0]).toBe(answers[1]);
        await fixture.time.run(100);
        for (const { emitted } of others) expect(emitted).toEqual([answers[0] === 200 ? 'refreshed' : 'signInNeeded']);
        outcomes.push(`${answers[0]}`);
        // Later refreshes cause no reuse either.
        await fixture.time.run(TTL);
        await fixture.askAll(others);
        expect(fixture.server.reuses).toBe(0);
      }
      expect(outcomes.length).toBeGreaterThan(8);
      expect(new Set(outcomes)).toEqual(grace === 0 ? new Set(['200', '401']) : outcomesWithGrace(hasLocks));
    });
  },
);

/** The lease of a closed tab expires after the grace period. */
function outcomesWithGrace(hasLocks: boolean): Set<string> {
  return new Set(hasLocks ? ['200'] : ['200', '401']);
}
