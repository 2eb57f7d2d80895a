import { drive, driveInTurn, type Drive, type Operation } from './drive';
import { ratios, shuffled, spread, type Spread } from './statistics';

/** Rate and latency of an operation, and how they compare with the baseline. */
export interface Comparison {
  readonly perSecond: Spread;
  readonly p50Ms: Spread;
  readonly p99Ms: Spread;
  /** Rate divided by that of the baseline in the same round; null for the baseline itself. */
  readonly ratio: Spread | null;
}

export interface Effort {
  readonly rounds: number;
  /** Per operation and round. */
  readonly seconds: number;
  readonly workers: number;
}

type Operations<Name extends string> = Readonly<Record<Name, Operation>>;

/** Measures operations in interleaved rounds. The first one is the baseline. */
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

/** The same for operations so slow that a round contains few of them: workers take turns between them. */
export async function compareInTurn<Name extends string>(
  operations: Operations<Name>,
  { rounds, seconds, workers }: Effort,
): Promise<Record<Name, Comparison>> {
  const names = Object.keys(operations) as Name[];
  await driveInTurn(workers, 0, operations);
  const measured: Record<Name, Drive>[] = [];
  for (let round = 0; round < rounds; round++) {
    measured.push(await driveInTurn(workers, seconds * names.length, operations));
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
