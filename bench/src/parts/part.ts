import type { CleanUp } from '../measure/clean-up';
import type { Settings } from '../settings';

/** Measures one thing; whatever it starts or creates it gives to the clean-up. */
export type Part<Result> = (settings: Settings, cleanUp: CleanUp) => Promise<Result>;

/** Progress: the figures themselves go to a file. */
export function tell(text: string): void {
  console.log(text);
}
