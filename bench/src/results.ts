import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { DatabaseName } from '../../test/support/databases';
import type { Machine } from './measure/machine';
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
  readonly growth: GrowthResult;
  readonly memory: MemoryResult;
  readonly instances: InstancesResult;
}

export type PartName = keyof PartResults;

/** What one part found, and on what. */
export interface Finding<Result> {
  /** When it was run, in UTC. */
  readonly at: string;
  readonly machine: Machine;
  readonly versions: Readonly<Record<string, string>>;
  /** The command that gives it again. */
  readonly command: string;
  readonly result: Result;
}

export type Results = { readonly [Part in PartName]?: Finding<PartResults[Part]> };

export const LATEST = join(__dirname, '../results/latest.json');

export function readResults(file = LATEST): Results {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Results;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw error;
  }
}

/** Puts the finding of one part in the place of its former one, but for what that found on other databases. */
export function keepFinding<Part extends PartName>(
  part: Part,
  finding: Finding<PartResults[Part]>,
  file = LATEST,
): void {
  const results = readResults(file);
  const former = results[part];
  const kept = former ? withOtherDatabases(finding, former) : finding;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify({ ...results, [part]: kept }, null, 2)}\n`);
}

interface Cell {
  readonly database: DatabaseName;
}

/** Where both were measured in the same way, the cells of databases that were not measured this time stay. */
function withOtherDatabases<Result>(finding: Finding<Result>, former: Finding<Result>): Finding<Result> {
  const [now, before] = [lists(finding.result), lists(former.result)];
  const measured = new Set(Object.values(now).flatMap((cells) => cells.map(({ database }) => database)));
  const stays = (cell: Cell): boolean => !measured.has(cell.database);
  const isSame = JSON.stringify(rest(finding)) === JSON.stringify(rest(former));
  if (!isSame || !Object.values(before).flat().some(stays)) return finding;
  const merged: Record<string, readonly Cell[]> = {};
  for (const [name, cells] of Object.entries(now)) {
    merged[name] = inOrder([...(before[name] ?? []).filter(stays), ...cells]);
  }
  const commands = former.command.split('; ').filter((one) => one !== finding.command);
  const command = [...commands, finding.command].join('; ');
  return { ...finding, command, result: { ...finding.result, ...merged } };
}

/** What a result lists for each database. */
function lists(result: unknown): Record<string, readonly Cell[]> {
  const all: [string, unknown][] = Object.entries(result as object);
  return Object.fromEntries(all.filter(([, value]) => isListOfCells(value))) as Record<string, readonly Cell[]>;
}

function isListOfCells(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every((one) => typeof (one as Cell).database === 'string');
}

/** How it was measured. */
function rest({ machine, result }: Finding<unknown>): object {
  const all: [string, unknown][] = Object.entries(result as object);
  const how = all.filter(([, value]) => !Array.isArray(value));
  return { machine, ...Object.fromEntries(how) };
}

function inOrder(cells: readonly Cell[]): readonly Cell[] {
  return [...cells].sort((a, b) => ORDER.indexOf(a.database) - ORDER.indexOf(b.database));
}

const ORDER: readonly DatabaseName[] = ['sqlite', 'postgres', 'mariadb'];
