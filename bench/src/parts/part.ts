import type { Teardown } from '../measure/teardown';
import type { Settings } from '../settings';

/** A part of the benchmark. It adds a task to the teardown for everything that it starts or creates. */
export type Part<Result> = (settings: Settings, teardown: Teardown) => Promise<Result>;

/** Prints progress. The figures go to a file. */
export function log(text: string): void {
  console.log(text);
}
