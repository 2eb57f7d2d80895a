import { drive, driveAlternating, type Drive, type Operation } from './drive';
import { ratios, shuffled, spread, type Spread } from './statistics';

/** The rate and latency of an operation, and its rate relative to the baseline. */
export interface Comparison {
  readonly perSecond: Spread;
  readonly p50Ms: Spread;
  readonly p99Ms: Spread;
  /** The rate divided by the rate of the baseline in the same round, or null for the baseline. */
  readonly ratio: Spread | null;
}

/** How much to measure. */
export interface Effort {
  readonly rounds: number;
  /** The duration of an operation in a round. */
  readonly seconds: number;
  readonly workers: number;
}

type Operations<Name extends string> = Readonly<Record<Name, Operation>>;

/** Measures operations in rounds, each in random order. The first operation is the baseline. */
export async function compareInRounds<Name extends string>(
  operations: Operations<Name>,
  { rounds, seconds, workers }: Effort,
): Promise<Record<Name, Comparison>> {
  const names = Object.keys(operations) as Name[];
  for (const name of names) await drive(workers, Math.min(1, seconds), operations[name]);
  const measured: Record<Name, Drive>[] = [];
  for (let round = 0; round < rounds; round++) {
    const figures = {} as Record<Name, Drive>;
    for (const name of shuffled(names)) figures[name] = await drive(workers, seconds, operations[name]);
    measured.push(figures);
  }
  return summarize(names, measured);
}

/**
 * Does the same as `compareInRounds` for slow operations, of which a round contains only a few. Workers alternate
 * between the operations.
 */
export async function compareAlternating<Name extends string>(
  operations: Operations<Name>,
  { rounds, seconds, workers }: Effort,
): Promise<Record<Name, Comparison>> {
  const names = Object.keys(operations) as Name[];
  await driveAlternating(workers, 0, operations);
  const measured: Record<Name, Drive>[] = [];
  for (let round = 0; round < rounds; round++) {
    measured.push(await driveAlternating(workers, seconds * names.length, operations));
  }
  return summarize(names, measured);
}

function summarize<Name extends string>(
  names: readonly Name[],
  measured: readonly Record<Name, Drive>[],
): Record<Name, Comparison> {
  const of = (name: Name, figure: keyof Drive): number[] => measured.map((round) => round[name][figure]);
  const baseline = names[0]!;
  const all = names.map((name): [Name, Comparison] => [
    name,
    {
      perSecond: spread(of(name, 'perSecond')),
      p50Ms: spread(of(name, 'p50Ms')),
      p99Ms: spread(of(name, 'p99Ms')),
      ratio: name === baseline ? null : ratios(of(name, 'perSecond'), of(baseline, 'perSecond')),
    },
  ]);
  return Object.fromEntries(all) as Record<Name, Comparison>;
}
