import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
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

/** Puts the finding of one part in the place of its former one. */
export function keepFinding<Part extends PartName>(
  part: Part,
  finding: Finding<PartResults[Part]>,
  file = LATEST,
): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify({ ...readResults(file), [part]: finding }, null, 2)}\n`);
}
