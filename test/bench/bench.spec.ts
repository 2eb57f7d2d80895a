import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assertAllGood } from '../../bench/src/load/load';
import { CleanUp } from '../../bench/src/measure/clean-up';
import { machine, versions } from '../../bench/src/measure/machine';
import { ratios } from '../../bench/src/measure/statistics';
import { measureGuard } from '../../bench/src/parts/guard';
import { isMet } from '../../bench/src/report/aims';
import { composeReport } from '../../bench/src/report/compose-report';
import { DOCUMENT, PLOTS } from '../../bench/src/report/draw-report';
import { putBetweenMarkers } from '../../bench/src/report/markers';
import { keepFinding, readResults, type Results } from '../../bench/src/results';
import { readCommand } from '../../bench/src/settings';

describe('a short run of the bench', () => {
  const folder = mkdtempSync(join(tmpdir(), 'nsa-bench-'));
  const file = join(folder, 'results.json');
  let results: Results;

  beforeAll(async () => {
    const { settings } = readCommand(
      '--database sqlite --contenders none,ours --connections 2 --rounds 2 --seconds 0.3 --warmup 0.1 --sessions 3 --load plain'.split(
        ' ',
      ),
    );
    const cleanUp = new CleanUp();
    try {
      const result = await measureGuard(settings, cleanUp);
      const at = '2026-01-01T00:00:00.000Z';
      keepFinding('guard', { at, machine: machine(), versions: versions(), command: 'npm run bench', result }, file);
    } finally {
      await cleanUp.run();
    }
    results = readResults(file);
  }, 120_000);

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  // A run whose answers are not all 200 throws.
  it('measures each contender, all of whose answers are good', () => {
    expect(results.guard!.result.cells.map(({ contender }) => contender)).toEqual(['none', 'ours']);
    for (const cell of results.guard!.result.cells) {
      expect(cell).toMatchObject({ database: 'sqlite', connections: 2 });
      expect(cell.requests).toBeGreaterThan(0);
      for (const figure of [cell.perSecond, cell.p50Ms, cell.p99Ms, cell.serverCpuMs]) {
        expect(figure.min).toBeLessThanOrEqual(figure.median);
        expect(figure.median).toBeLessThanOrEqual(figure.max);
      }
      expect(cell.p50Ms.median).toBeGreaterThan(0);
    }
  });

  it('tells how one did by the other, round by round', () => {
    const [none, ours] = results.guard!.result.cells;
    expect(none!.against.ours!.min).toBeCloseTo(1 / ours!.against.none!.max, 2);
    expect(none!.against.none).toBeUndefined();
  });

  it('says on what it was measured', () => {
    expect(results.guard!.machine.cores).toBeGreaterThan(0);
    expect(results.guard!.versions).toMatchObject({ node: process.versions.node, typeorm: expect.any(String) });
  });

  it('is drawn as a table and plots', () => {
    const { document, plots } = composeReport(results, readFileSync(DOCUMENT, 'utf8'));
    expect(document).toContain('| 2 | **this library** |');
    expect(plots.get('throughput-sqlite')).toMatch(/^<svg .*<\/svg>\n$/s);
  });
});

it('a host that does not start is told with its reason', async () => {
  const { settings } = readCommand(['--database', 'sqlite', '--contenders', 'ours', '--load', 'plain']);
  const cleanUp = new CleanUp();
  const broken = measureGuard({ ...settings, options: { maxSessions: 0 } }, cleanUp);
  await expect(broken).rejects.toThrow(/The host of ours ended before it listened: [^]*maxSessions/);
  await cleanUp.run();
}, 60_000);

it.each([
  [{ 200: 9, 401: 1 }, 0],
  [{ 200: 9 }, 1],
  [{}, 0],
])('answers %j with %d missing count for nothing', (statuses, errors) => {
  const requests = Object.values(statuses).length;
  const result = { requests, seconds: 1, statuses, errors, p50Ms: 1, p99Ms: 1 };
  expect(() => assertAllGood('ours', result)).toThrow('ours answered');
});

it('a ratio is that of one round, and its median is told', () => {
  expect(ratios([1, 4, 3], [2, 2, 2])).toEqual({ median: 1.5, min: 0.5, max: 2 });
});

describe('the page of figures', () => {
  const document = readFileSync(DOCUMENT, 'utf8');
  const drawn = composeReport(readResults(), document);

  it('is what the command draws from the figures', () => expect(drawn.document).toBe(document));

  it('has the plots that the command draws, and no others', () => {
    expect(readdirSync(PLOTS).sort()).toEqual([...drawn.plots.keys()].map((name) => `${name}.svg`).sort());
    for (const [name, svg] of drawn.plots) expect(readFileSync(join(PLOTS, `${name}.svg`), 'utf8')).toBe(svg);
  });

  it('shows every plot', () => {
    for (const name of drawn.plots.keys()) expect(document).toContain(`(performance/${name}.svg)`);
  });

  it('keeps what is written by hand', () => {
    const before = 'by hand <!-- bench:aims -->\nold\n<!-- /bench:aims --> by hand';
    expect(putBetweenMarkers(before, 'aims', 'new')).toBe(
      'by hand <!-- bench:aims -->\nnew\n<!-- /bench:aims --> by hand',
    );
    expect(() => putBetweenMarkers('nothing', 'aims', 'new')).toThrow('no markers');
  });
});

it.each([
  [true, 0.9, 0.9, true],
  [true, 0.9, 0.899, false],
  [false, 1, 1, true],
  [false, 1, 1.001, false],
  [false, 1, null, null],
])('an aim (a floor: %s) of %d with %d measured is met: %s', (isFloor, limit, measured, met) => {
  expect(isMet({ text: '', limit, isFloor, measured })).toBe(met);
});

it('a wrong option is told, not guessed at', () => {
  expect(() => readCommand(['guard', '--connections', 'many'])).toThrow('--connections many: a number above 0');
  expect(() => readCommand(['guard', '--contenders', 'theirs'])).toThrow('--contenders theirs: there is none, ours');
  expect(() => readCommand(['guard', '--round', '3'])).toThrow('--round');
});

it('the bench brings nothing into the install of the repository', () => {
  const lock = readFileSync(join(__dirname, '../../package-lock.json'), 'utf8');
  for (const name of ['autocannon', 'better-auth', 'express-session', 'connect-pg-simple']) {
    expect(lock).not.toContain(`"node_modules/${name}"`);
  }
  expect(existsSync(join(__dirname, '../../bench/package-lock.json'))).toBe(true);
});

describe('a part that is measured on one database', () => {
  const folder = mkdtempSync(join(tmpdir(), 'nsa-bench-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  const keep = (file: string, command: string, database: string, rounds: number, rows: number): string[] => {
    const result = { rounds, seconds: 1, cells: [], prunes: [{ database, rows, seconds: 1 }], skipped: [] };
    keepFinding('growth', { at: '', machine: machine(), versions: {}, command, result } as never, file);
    const { growth } = readResults(file);
    return [growth!.command, ...growth!.result.prunes.map((one) => `${one.database} ${one.rows}`)];
  };

  it('leaves the figures of the others, unless those were measured in another way', () => {
    const file = join(folder, 'results.json');
    expect(keep(file, 'first', 'mariadb', 3, 1)).toEqual(['first', 'mariadb 1']);
    expect(keep(file, 'second', 'sqlite', 3, 2)).toEqual(['first; second', 'sqlite 2', 'mariadb 1']);
    expect(keep(file, 'second', 'sqlite', 3, 4)).toEqual(['first; second', 'sqlite 4', 'mariadb 1']);
    expect(keep(file, 'third', 'postgres', 5, 3)).toEqual(['third', 'postgres 3']);
  });
});
