import * as fc from 'fast-check';

/**
 * Runs a property with a seed of its own each time. What fails tells how to run it again: MODEL_SEED and MODEL_PATH, which
 * names the run; it is made smaller anew. MODEL_RUNS is for more of them.
 */
export async function assertReplayable<Ts>(property: fc.IAsyncPropertyWithHooks<Ts>, runs: number): Promise<void> {
  const { MODEL_SEED, MODEL_PATH, MODEL_RUNS } = process.env;
  const path = runOf(MODEL_PATH);
  const numRuns = path === null ? Number(MODEL_RUNS ?? runs) : 1;
  const seed = MODEL_SEED === undefined ? {} : { seed: Number(MODEL_SEED) };
  const result = await fc.check(property as fc.IAsyncProperty<Ts>, {
    numRuns,
    ...seed,
    ...(path === null ? {} : { path }),
  });
  if (!result.failed) return;
  const again = `MODEL_SEED=${result.seed} MODEL_PATH=${path ?? runOf(result.counterexamplePath) ?? 0}`;
  const message = await fc.asyncDefaultReportMessage(result);
  const { errorInstance: cause } = result;
  throw new Error(`Run it again with ${again}\n\n${message}\n\n${(cause as Error | null)?.message}`, { cause });
}

/**
 * The part of a path that names the run. How it was made smaller depends on which steps were done, which the rest of the
 * path does not tell.
 */
function runOf(path: string | null | undefined): string | null {
  return path ? path.split(':')[0]! : null;
}
