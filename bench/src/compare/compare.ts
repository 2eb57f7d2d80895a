import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ApplicationProcess, SESSIONS, startOnNewDatabase } from '../application/application-process';
import { assertAllSucceeded, runLoad } from '../load/load';
import { cpuMsBetween, cpuOf } from '../measure/cpu';
import { log } from '../measure/part';
import { median, ratios, summary } from '../measure/statistics';
import type { Teardown } from '../measure/teardown';
import type { DatabaseName, Settings } from '../settings';
import { loadOf, type Measurement } from './measurements';
import { unpack } from './unpack';

/** The connections of all measurements except `guard`. */
const CONNECTIONS = 8;

/** The figures of one version in one round. */
interface Figures {
  readonly perSecond: number;
  /** The processor time of the application per request, in milliseconds. Known only on Linux. */
  readonly cpuMs: number;
}

/** One row of the table, with the figures of each version by round. */
interface Row {
  readonly measurement: Measurement;
  readonly connections: number;
  readonly versions: readonly [Figures[], Figures[]];
}

/** Compares two packed versions of the library, and prints a table for each database. */
export async function compareVersions(
  tarballs: readonly string[],
  settings: Settings,
  teardown: Teardown,
): Promise<void> {
  if (tarballs.length !== 2) throw new Error('compare: name two tarballs of npm pack.');
  const folder = mkdtempSync(join(tmpdir(), 'nsa-versions-'));
  try {
    const projects = tarballs.map((tarball, index) => unpack(tarball, join(folder, String(index))));
    for (const database of settings.databases) {
      const rows = await measureVersions(database, projects, settings, teardown);
      log(`\n${database}\n${tableOf(rows)}\n`);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Each round measures both versions, one directly after the other, so that a disturbance affects both. The order changes
 * with each round. Each round starts a new process for each version, because two processes that run the same code differ
 * by several percent for their whole lifetime.
 */
async function measureVersions(
  database: DatabaseName,
  projects: readonly string[],
  settings: Settings,
  teardown: Teardown,
): Promise<Row[]> {
  const rows = settings.only.flatMap((measurement) =>
    (measurement === 'guard' ? settings.connections : [CONNECTIONS]).map((connections): Row => ({
      measurement,
      connections,
      versions: [[], []],
    })),
  );
  const spec = { contender: 'packed', database, sessions: SESSIONS } as const;
  for (let round = 1; round <= settings.rounds; round++) {
    log(`compare: ${database}, round ${round} of ${settings.rounds}`);
    for (const version of round % 2 ? [0, 1] : [1, 0]) {
      const application = await startOnNewDatabase(spec, teardown, projects[version]);
      for (const row of rows) {
        const who = `${row.measurement} of version ${version + 1} on ${database}`;
        await measure(who, row, application, settings.warmupSeconds, settings);
        row.versions[version]!.push(await measure(who, row, application, settings.seconds, settings));
      }
      await teardown.run();
    }
  }
  return rows;
}

async function measure(
  who: string,
  { measurement, connections }: Row,
  application: ApplicationProcess,
  seconds: number,
  { load: tool }: Settings,
): Promise<Figures> {
  const load = await loadOf(measurement, connections, application);
  const before = cpuOf([application.pid]);
  const result = await runLoad(tool, { ...load, seconds });
  const cpuMs = cpuMsBetween(before, cpuOf([application.pid]));
  assertAllSucceeded(who, result, measurement === 'failed-login' ? 400 : 200);
  return { perSecond: result.requests / result.seconds, cpuMs: cpuMs / result.requests };
}

function tableOf(rows: readonly Row[]): string {
  const header = ['', 'connections', 'first/s', 'second/s', 'ratio', '95 % interval', 'CPU ratio', '95 % interval'];
  const cells = rows.map(({ measurement, connections, versions }) => [
    measurement,
    String(connections),
    ...versions.map((rounds) => Math.round(median(rounds.map(({ perSecond }) => perSecond))).toLocaleString('en-US')),
    ...ratioOf(versions, 'perSecond'),
    ...ratioOf(versions, 'cpuMs'),
  ]);
  const widths = header.map((title, column) => Math.max(title.length, ...cells.map((row) => row[column]!.length)));
  const line = (row: readonly string[]): string => row.map((word, column) => word.padStart(widths[column]!)).join('  ');
  return [header, ...cells].map(line).join('\n');
}

/** Returns the median of the ratios of the second version to the first in the same round, and its interval. */
function ratioOf([first, second]: Row['versions'], figure: keyof Figures): [string, string] {
  const of = (rounds: readonly Figures[]): number[] => rounds.map((one) => one[figure]);
  const { median: middle, low, high } = summary(ratios(of(second), of(first)));
  return [middle.toFixed(3), `${low.toFixed(3)} to ${high.toFixed(3)}`];
}
