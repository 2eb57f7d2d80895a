import type { Teardown } from '../measure/teardown';
import type { Settings } from '../settings';

/** Measures one thing. Whatever it starts or creates it adds to the teardown. */
export type Part<Result> = (settings: Settings, teardown: Teardown) => Promise<Result>;

/** Reports progress; figures go to a file. */
export function log(text: string): void {
  console.log(text);
}
