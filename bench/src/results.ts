import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Machine } from './measure/machine';
import type { Figure } from './measure/part';

export const PART_NAMES = ['guard', 'refresh', 'login', 'start', 'memory'] as const;

export type PartName = (typeof PART_NAMES)[number];

/** The figures of one run of all parts. */
export interface Results {
  /** The time of the run, in ISO 8601 and UTC. */
  readonly at: string;
  readonly machine: Machine;
  readonly versions: Readonly<Record<string, string>>;
  /** The command that repeats the run. */
  readonly command: string;
  readonly rounds: number;
  readonly seconds: number;
  readonly parts: Readonly<Record<PartName, readonly Figure[]>>;
}

const LATEST = join(__dirname, '../results/latest.json');

export function readResults(): Results {
  return JSON.parse(readFileSync(LATEST, 'utf8')) as Results;
}

/** Writes the figures, each on its own line. */
export function saveResults(results: Results): void {
  const text = JSON.stringify(results, null, 2).replace(/\{\s+"name"[^}]+\}/g, (one) => one.replace(/\s+/g, ' '));
  writeFileSync(LATEST, `${text}\n`);
}
