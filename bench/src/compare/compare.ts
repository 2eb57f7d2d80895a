import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDatabase } from '../../../test/support/databases';
import { ApplicationProcess } from '../application/application-process';
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
  for (const database of settings.databases) {
    const applications = await startVersions(database, tarballs, settings, teardown);
    const rows = await measureVersions(database, applications, settings);
    log(`\n${database}\n${tableOf(rows)}\n`);
    await teardown.run();
  }
}

/**
 * Each round runs each measurement on both versions, one directly after the other, so that a disturbance affects both.
 * The order of the versions changes with each round.
 */
async function measureVersions(
  database: DatabaseName,
  applications: readonly ApplicationProcess[],
  settings: Settings,
): Promise<Row[]> {
  const { rounds, seconds, warmupSeconds } = settings;
  const rows = settings.only.flatMap((measurement) =>
    (measurement === 'guard' ? settings.connections : [CONNECTIONS]).map((connections): Row => ({
      measurement,
      connections,
      versions: [[], []],
    })),
  );
  const measure = async ({ measurement, connections }: Row, version: number, duration: number): Promise<Figures> => {
    const application = applications[version]!;
    const load = await loadOf(measurement, connections, application);
    const before = cpuOf([application.pid]);
    const result = await runLoad(settings.load, { ...load, seconds: duration });
    const cpuMs = cpuMsBetween(before, cpuOf([application.pid]));
    const who = `${measurement} of version ${version + 1} on ${database}`;
    assertAllSucceeded(who, result, measurement === 'failed-login' ? 400 : 200);
    return { perSecond: result.requests / result.seconds, cpuMs: cpuMs / result.requests };
  };
  for (const row of rows) for (const version of [0, 1]) await measure(row, version, warmupSeconds);
  for (let round = 1; round <= rounds; round++) {
    log(`compare: ${database}, round ${round} of ${rounds}`);
    for (const row of rows) {
      for (const version of round % 2 ? [0, 1] : [1, 0]) {
        row.versions[version]!.push(await measure(row, version, seconds));
      }
    }
  }
  return rows;
}

async function startVersions(
  name: DatabaseName,
  tarballs: readonly string[],
  { sessions, options }: Settings,
  teardown: Teardown,
): Promise<ApplicationProcess[]> {
  const folder = mkdtempSync(join(tmpdir(), 'nsa-versions-'));
  teardown.add(() => rm(folder, { recursive: true, force: true }));
  const applications: ApplicationProcess[] = [];
  for (const [index, tarball] of tarballs.entries()) {
    const project = unpack(tarball, join(folder, String(index)));
    const database = await createDatabase(name, { isDurable: true });
    teardown.add(() => database.drop());
    const spec = { contender: 'packed', database: database.options, sessions, options } as const;
    const application = await ApplicationProcess.start(spec, project);
    teardown.add(() => application.stop());
    applications.push(application);
  }
  return applications;
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
