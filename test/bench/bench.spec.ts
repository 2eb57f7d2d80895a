import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assertAllSucceeded } from '../../bench/src/load/load';
import { Teardown } from '../../bench/src/measure/teardown';
import { machine } from '../../bench/src/measure/machine';
import { median, medianInterval, ratios } from '../../bench/src/measure/statistics';
import { BOUNDED_OPERATIONS, measureBounded } from '../../bench/src/parts/bounded';
import { measureGuard } from '../../bench/src/parts/guard';
import { measureRefresh } from '../../bench/src/parts/refresh';
import { isMet } from '../../bench/src/report/targets';
import { composeReport } from '../../bench/src/report/compose-report';
import { DOCUMENT } from '../../bench/src/report/write-report';
import { CONTENDER_NAMES } from '../../bench/src/report/names';
import { saveMeasurement, readResults } from '../../bench/src/results';
import { readCommand } from '../../bench/src/settings';

// The benchmark throws if any response is not 200.
it('the benchmark measures each contender, and their ratio in each round', async () => {
  const small = '--connections 2 --rounds 2 --seconds 0.3 --warmup 0.1 --sessions 3 --load plain';
  const { settings } = readCommand(`--databases sqlite --contenders none,ours ${small}`.split(' '));
  const teardown = new Teardown();
  const { cells } = await measureGuard(settings, teardown).finally(() => teardown.run());
  expect(cells).toMatchObject(['none', 'ours'].map((contender) => ({ contender, database: 'sqlite', connections: 2 })));
  for (const { requests, perSecond, p50Ms, p99Ms, serverCpuMs } of cells) {
    expect(requests).toBeGreaterThan(0);
    for (const { min, median, max } of [perSecond, p50Ms, p99Ms, serverCpuMs]) {
      expect([min, median, max]).toEqual([min, median, max].sort((one, other) => one - other));
    }
    expect(p50Ms.median).toBeGreaterThan(0);
  }
  const [none, ours] = cells;
  expect(none!.against.ours!.min).toBeCloseTo(1 / ours!.against.none!.max, 2);
  expect(none!.against.none).toBeUndefined();
}, 120_000);

it('an application that does not start is reported with its error', async () => {
  const { settings } = readCommand(['--databases', 'sqlite', '--contenders', 'ours', '--load', 'plain']);
  const teardown = new Teardown();
  const broken = measureGuard({ ...settings, options: { maxSessions: 0 } }, teardown);
  await expect(broken).rejects.toThrow(/The application of ours exited before it listened: [^]*maxSessions/);
  await teardown.run();
}, 60_000);

it.each([
  [{ 200: 9, 401: 1 }, 0],
  [{ 200: 9 }, 1],
  [{}, 0],
])('a benchmark run with the responses %j and %d unanswered requests is refused', (statuses, errors) => {
  const requests = Object.values(statuses).length;
  const result = { requests, seconds: 1, statuses, errors, p50Ms: 1, p99Ms: 1 };
  expect(() => assertAllSucceeded('ours', result)).toThrow('ours responded');
});

it('the report contains the median of the ratios that were computed within each round', () => {
  expect(ratios([1, 4, 3], [2, 2, 2])).toEqual({ median: 1.5, min: 0.5, max: 2 });
  expect([median([3, 1, 2]), median([4, 1, 3, 2])]).toEqual([2, 2.5]);
  expect(() => median([])).toThrow('Nothing was measured.');
});

it('the confidence interval of a median contains the median and is reproducible', () => {
  const values = [0.97, 1.02, 0.99, 1.01, 1, 1.05, 0.96, 1.03, 0.98, 40];
  const { low, high } = medianInterval(values);
  expect([low, median(values), high]).toEqual([low, median(values), high].sort());
  expect(medianInterval([...values])).toEqual({ low, high });
  expect(high).toBeLessThan(1.06);
});

describe('docs/performance.md', () => {
  const document = readFileSync(DOCUMENT, 'utf8');

  it('docs/performance.md equals the output of the command for the stored figures', () => {
    expect(composeReport(readResults(), document)).toBe(document);
  });

  it('docs/performance.md names every contender', () => {
    for (const name of Object.values(CONTENDER_NAMES)) expect(document).toContain(`| ${name} |`);
  });
});

it('a target is met by its limit itself, and is neither met nor missed without a measurement', () => {
  const metBy = (isMinimum: boolean, ...values: (number | null)[]) =>
    values.map((measured) => isMet({ text: '', limit: 1, isMinimum, measured }));
  expect(metBy(true, 1, 0.999, null)).toEqual([true, false, null]);
  expect(metBy(false, 1, 1.001, null)).toEqual([true, false, null]);
});

it('an invalid option is refused, and the error lists the valid ones', () => {
  expect(() => readCommand(['guard', '--connections', 'many'])).toThrow('--connections many: use a number above 0');
  expect(() => readCommand(['guard', '--contenders', 'theirs'])).toThrow('--contenders theirs: use one of none, ours');
  expect(() => readCommand(['guard', '--round', '3'])).toThrow('--round');
  expect(() => readCommand(['compare', '--only', 'logout'])).toThrow('--only logout: use one of guard, refresh');
});

it('figures of other databases are kept unless they were measured with other settings', () => {
  const folder = mkdtempSync(join(tmpdir(), 'nsa-bench-'));
  const file = join(folder, 'results.json');
  const keep = (command: string, database: string, rounds: number, rows: number): string[] => {
    const result = { rounds, seconds: 1, cells: [], prunes: [{ database, rows, seconds: 1 }], skipped: [] };
    saveMeasurement('growth', { at: '', machine: machine(), versions: {}, command, result } as never, file);
    const { growth } = readResults(file);
    return [growth!.command, ...growth!.result.prunes.map((one) => `${one.database} ${one.rows}`)];
  };
  expect(keep('first', 'mariadb', 3, 1)).toEqual(['first', 'mariadb 1']);
  expect(keep('second', 'sqlite', 3, 2)).toEqual(['first; second', 'sqlite 2', 'mariadb 1']);
  expect(keep('second', 'sqlite', 3, 4)).toEqual(['first; second', 'sqlite 4', 'mariadb 1']);
  expect(keep('third', 'postgres', 5, 3)).toEqual(['third', 'postgres 3']);
  rmSync(folder, { recursive: true });
});

describe('benchmark parts that depend on the schema', () => {
  const settingsOf = (args: string) =>
    readCommand(`--databases sqlite --rounds 1 --seconds 0.1 --options {"bcryptCost":10} ${args}`.split(' ')).settings;
  const teardown = new Teardown();
  afterEach(() => teardown.run());

  it('the benchmark measures every operation on a user with very many sessions', async () => {
    const { cells, active } = await measureBounded(settingsOf('--ended 50'), teardown);
    expect(active).toBe(1_000);
    expect(Object.keys(cells[0]!.ms)).toEqual(BOUNDED_OPERATIONS);
    for (const { median } of Object.values(cells[0]!.ms)) expect(median).toBeGreaterThan(0);
  }, 60_000);

  it('the benchmark measures the stored bytes of a session with and without a grace period', async () => {
    const { storage } = await measureRefresh(settingsOf('--connections 1'), teardown);
    expect(storage.map(({ graceSeconds }) => graceSeconds)).toEqual([0, 10]);
    for (const { neverRefreshed, refreshed } of storage) {
      expect(neverRefreshed).toBeGreaterThan(100);
      expect(refreshed).toBeGreaterThanOrEqual(neverRefreshed);
    }
  }, 60_000);
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
