import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AIMS, isMet } from '../../bench/src/aims';
import { assertAllSucceeded } from '../../bench/src/load/load';
import { figure, ratio } from '../../bench/src/measure/part';
import { median, summary } from '../../bench/src/measure/statistics';
import { Teardown } from '../../bench/src/measure/teardown';
import { PAGE, pageOf } from '../../bench/src/page';
import { measureGuard } from '../../bench/src/parts/guard';
import { measureRefresh } from '../../bench/src/parts/refresh';
import { readResults } from '../../bench/src/results';
import { readCommand } from '../../bench/src/settings';

const SMALL = '--databases sqlite --rounds 2 --seconds 0.3 --warmup 0.1 --load node';
const settingsOf = (args: string) => readCommand(`${SMALL} ${args}`.split(' ')).settings;
const teardown = new Teardown();
afterEach(() => teardown.run());

// The benchmark throws if any response is not 200.
it('the benchmark measures each contender, and the ratio of the guard to the others in each round', async () => {
  const figures = await measureGuard(settingsOf('--contenders none,guard,exhausted --connections 2'), teardown);
  expect(figures.map(({ name, unit }) => [name, unit])).toEqual([
    ['none, 2 connections', 'requests per second'],
    ['guard, 2 connections', 'requests per second'],
    ['guard / none, 2 connections', 'ratio'],
  ]);
  for (const { low, median, high } of figures) {
    expect(low).toBeGreaterThan(0);
    expect([low, median, high]).toEqual([low, median, high].sort((one, other) => one - other));
  }
}, 120_000);

it('the benchmark measures refreshes and the UPDATE that they are compared with', async () => {
  const figures = await measureRefresh(settingsOf('--clients 2'), teardown);
  const names = ['UPDATE, 2 clients', 'refresh, 2 clients', 'refresh / UPDATE, 2 clients'];
  expect(figures.map(({ name }) => name)).toEqual(names);
}, 60_000);

it.each([
  [{ 200: 9, 401: 1 }, 0],
  [{ 200: 9 }, 1],
  [{}, 0],
])('a benchmark run with the responses %j and %d unanswered requests is refused', (statuses, errors) => {
  const requests = Object.values(statuses).length;
  const result = { requests, seconds: 1, statuses, errors, p50Ms: 1, p99Ms: 1 };
  expect(() => assertAllSucceeded('guard', result)).toThrow('guard responded');
});

it('a figure contains the median of the ratios that were computed within each round', () => {
  expect(ratio('one / other', 'sqlite', [1, 4, 3], [2, 2, 2])).toMatchObject({ median: 1.5, low: 0.5, high: 2 });
  expect([median([3, 1, 2]), median([4, 1, 3, 2])]).toEqual([2, 2.5]);
  expect(() => median([])).toThrow('Nothing was measured.');
});

it('the confidence interval of a median contains the median and is reproducible', () => {
  const values = [0.97, 1.02, 0.99, 1.01, 1, 1.05, 0.96, 1.03, 0.98, 40];
  const { low, median: middle, high } = summary(values);
  expect([low, middle, high]).toEqual([low, median(values), high].sort());
  expect(summary([...values])).toEqual({ low, median: middle, high });
  expect(high).toBeLessThan(1.06);
});

it('docs/performance.md equals the output of the command for the stored figures', () => {
  const page = readFileSync(PAGE, 'utf8');
  expect(pageOf(readResults(), page)).toBe(page);
});

it('an aim is met if the interval of its figure reaches it, and every aim names a figure of the benchmark', () => {
  const [low, high] = [0.9, 1.1];
  const isMetBy = (aim: object) => isMet(aim as never, { ...figure('', 'sqlite', 'ratio', [1]), low, high });
  expect([1.1, 1.11].map((atLeast) => isMetBy({ atLeast }))).toEqual([true, false]);
  expect([0.9, 0.89].map((atMost) => isMetBy({ atMost }))).toEqual([true, false]);
  const { parts } = readResults();
  const measured = new Set(Object.values(parts).flatMap((figures) => figures.map(({ name }) => name)));
  expect(AIMS.filter(({ name }) => !measured.has(name))).toEqual([]);
});

it('npm run files-per-request lists the files that a request executes, and none executes more than its limit', () => {
  const script = join(__dirname, '../../scripts/files-per-request.mjs');
  const env = { ...process.env, TEST_DATABASES: 'sqlite' };
  const { stdout, status } = spawnSync(process.execPath, [script, '--list', '--check'], { env, encoding: 'utf8' });
  expect([status, stdout.includes('above the limit')]).toEqual([0, false]);
  const [, guarded, refresh, reuse, cookieRefresh, login] = stdout.split(/^(?=\w)/m);
  expect(guarded).toContain('bearer-auth.guard.ts');
  expect(guarded).not.toContain('bcrypt-password-hasher.ts');
  expect(refresh).not.toContain('cookies/cross-site-check.ts');
  expect(reuse!.length).toBeGreaterThan(refresh!.length);
  expect(cookieRefresh).toContain('cookies/cross-site-check.ts');
  expect(login).toContain('bcrypt-password-hasher.ts');
}, 60_000);
