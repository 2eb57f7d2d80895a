import { Fixture, type OpenedTab } from './fixture';

const TTL = 900_000;

/** Closes a tab at one of its calls during a refresh, and returns the other tabs. */
async function closeAt(point: number, fixture: Fixture): Promise<{ others: OpenedTab[]; isClosed: boolean }> {
  const [first, ...others] = await fixture.openTabs(3);
  await fixture.time.run(TTL);
  first!.tab.closesAtCall = first!.tab.calls + point;
  const asking = fixture.request(first!);
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
  'a tab that is closed during a refresh, $title and with a grace period of $grace s',
  ({ hasLocks, grace }) => {
    it('a closed tab never causes reuse, and the other tabs continue or require a sign-in', async () => {
      const outcomes: string[] = [];
      for (let point = 1; ; point++) {
        const fixture = new Fixture(grace, { hasLocks, lag: () => 5 });
        const { others, isClosed } = await closeAt(point, fixture);
        if (!isClosed) break;
        const answers = await fixture.requestInAll(others);
        expect(fixture.server.reuses).toBe(0);
        expect(answers[0]).toBe(answers[1]);
        await fixture.time.run(100);
        for (const { emitted } of others) expect(emitted).toEqual([answers[0] === 200 ? 'refreshed' : 'signInNeeded']);
        outcomes.push(`${answers[0]}`);
        // Later refreshes cause no reuse either.
        await fixture.time.run(TTL);
        await fixture.requestInAll(others);
        expect(fixture.server.reuses).toBe(0);
      }
      expect(outcomes.length).toBeGreaterThan(8);
      expect(new Set(outcomes)).toEqual(grace === 0 ? new Set(['200', '401']) : statusesWithGrace(hasLocks));
    });
  },
);

/** Returns the expected statuses of other tabs. Without Web Locks, a lease may last longer than the grace period. */
function statusesWithGrace(hasLocks: boolean): Set<string> {
  return new Set(hasLocks ? ['200'] : ['200', '401']);
}
