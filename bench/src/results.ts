import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { DatabaseName } from './databases';
import type { Machine } from './measure/machine';
import type { BoundedResult } from './parts/bounded';
import type { GrowthResult } from './parts/growth';
import type { GuardResult } from './parts/guard';
import type { InstancesResult } from './parts/instances';
import type { LoginResult } from './parts/login';
import type { MemoryResult } from './parts/memory';
import type { RefreshResult } from './parts/refresh';

export interface PartResults {
  readonly guard: GuardResult;
  readonly refresh: RefreshResult;
  readonly login: LoginResult;
  readonly bounded: BoundedResult;
  readonly growth: GrowthResult;
  readonly memory: MemoryResult;
  readonly instances: InstancesResult;
}

export type PartName = keyof PartResults;

/** The result of a part, and the conditions of its measurement. */
export interface Measurement<Result> {
  /** The time of the measurement, in ISO 8601 and UTC. */
  readonly at: string;
  readonly machine: Machine;
  readonly versions: Readonly<Record<string, string>>;
  /** The command that repeats the measurement. */
  readonly command: string;
  readonly result: Result;
}

export type Results = { readonly [Part in PartName]?: Measurement<PartResults[Part]> };

export const LATEST = join(__dirname, '../results/latest.json');

export function readResults(file = LATEST): Results {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Results;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw error;
  }
}

/**
 * Saves the measurement of a part. The previous measurement is replaced, except for databases that the new
 * measurement does not cover.
 */
export function saveMeasurement<Part extends PartName>(
  part: Part,
  measurement: Measurement<PartResults[Part]>,
  file = LATEST,
): void {
  const results = readResults(file);
  const previous = results[part];
  const kept = previous ? withOtherDatabases(measurement, previous) : measurement;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify({ ...results, [part]: kept }, null, 2)}\n`);
}

interface Cell {
  readonly database: DatabaseName;
}

/** Adds the previous cells of databases that were not measured this time, if the conditions were the same. */
function withOtherDatabases<Result>(
  measurement: Measurement<Result>,
  previous: Measurement<Result>,
): Measurement<Result> {
  const [now, before] = [lists(measurement.result), lists(previous.result)];
  const measured = new Set(Object.values(now).flatMap((cells) => cells.map(({ database }) => database)));
  const isKept = (cell: Cell): boolean => !measured.has(cell.database);
  const isSame = JSON.stringify(conditions(measurement)) === JSON.stringify(conditions(previous));
  if (!isSame || !Object.values(before).flat().some(isKept)) return measurement;
  const merged: Record<string, readonly Cell[]> = {};
  for (const [name, cells] of Object.entries(now)) {
    merged[name] = sorted([...(before[name] ?? []).filter(isKept), ...cells]);
  }
  const commands = previous.command.split('; ').filter((one) => one !== measurement.command);
  const command = [...commands, measurement.command].join('; ');
  return { ...measurement, command, result: { ...measurement.result, ...merged } };
}

/** Returns the lists of a result that have an entry per database. */
function lists(result: unknown): Record<string, readonly Cell[]> {
  const all: [string, unknown][] = Object.entries(result as object);
  return Object.fromEntries(all.filter(([, value]) => isListOfCells(value))) as Record<string, readonly Cell[]>;
}

function isListOfCells(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every((one) => typeof (one as Cell).database === 'string');
}

/** Returns the conditions of a measurement: the machine and the settings. */
function conditions({ machine, result }: Measurement<unknown>): object {
  const all: [string, unknown][] = Object.entries(result as object);
  const settings = all.filter(([, value]) => !Array.isArray(value));
  return { machine, ...Object.fromEntries(settings) };
}

function sorted(cells: readonly Cell[]): readonly Cell[] {
  return [...cells].sort((a, b) => ORDER.indexOf(a.database) - ORDER.indexOf(b.database));
}

const ORDER: readonly DatabaseName[] = ['sqlite', 'postgres', 'mariadb'];
