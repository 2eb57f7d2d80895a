import type { DatabaseName, Settings } from '../settings';
import { ratios, summary, type Summary } from './statistics';
import type { Teardown } from './teardown';

export type Unit = 'requests per second' | 'ratio' | 'milliseconds';

/** A figure that was measured in several rounds. */
export interface Figure extends Summary {
  /** For example `guard / batching, 32 connections`, where the first figure was divided by the second one. */
  readonly name: string;
  readonly database: DatabaseName;
  readonly unit: Unit;
}

/** A part of the benchmark. It adds a task to the teardown for everything that it starts or creates. */
export type Part = (settings: Settings, teardown: Teardown) => Promise<readonly Figure[]>;

export function figure(name: string, database: DatabaseName, unit: Unit, rounds: readonly number[]): Figure {
  return { name, database, unit, ...summary(rounds) };
}

/** Returns the figure of the ratios within each round. */
export function ratio(
  name: string,
  database: DatabaseName,
  ones: readonly number[],
  others: readonly number[],
): Figure {
  return figure(name, database, 'ratio', ratios(ones, others));
}

export function counted(count: number, one: string): string {
  return `${count} ${one}${count === 1 ? '' : 's'}`;
}

/** Prints progress. The figures go to a file. */
export function log(text: string): void {
  console.log(text);
}
