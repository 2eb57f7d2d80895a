import { drive, driveInTurn, type Deed, type Drive } from './drive';
import { ratios, shuffled, spread, type Spread } from './statistics';

/** How one deed did beside the one that it is held against. */
export interface Compared {
  readonly perSecond: Spread;
  readonly p50Ms: Spread;
  readonly p99Ms: Spread;
  /** Its rate by the other's in the same round; null for the other itself. */
  readonly ofLimit: Spread | null;
}

export interface Effort {
  readonly rounds: number;
  /** Of one deed in one round. */
  readonly seconds: number;
  readonly workers: number;
}

type Deeds<Name extends string> = Readonly<Record<Name, Deed>>;

/** Measures deeds in interleaved rounds; the first one is the limit that the others are held against. */
export async function beside<Name extends string>(
  deeds: Deeds<Name>,
  { rounds, seconds, workers }: Effort,
): Promise<Record<Name, Compared>> {
  const names = Object.keys(deeds) as Name[];
  for (const name of names) await drive(workers, Math.min(1, seconds), deeds[name]);
  const measured: Record<Name, Drive>[] = [];
  for (let round = 0; round < rounds; round++) {
    const found = {} as Record<Name, Drive>;
    for (const name of shuffled(names)) found[name] = await drive(workers, seconds, deeds[name]);
    measured.push(found);
  }
  return compared(names, measured);
}

/** The same for deeds of which few make a round: within it they take turns. */
export async function besideInTurn<Name extends string>(
  deeds: Deeds<Name>,
  { rounds, seconds, workers }: Effort,
): Promise<Record<Name, Compared>> {
  const names = Object.keys(deeds) as Name[];
  await driveInTurn(workers, 0, deeds);
  const measured: Record<Name, Drive>[] = [];
  for (let round = 0; round < rounds; round++) {
    measured.push(await driveInTurn(workers, seconds * names.length, deeds));
  }
  return compared(names, measured);
}

function compared<Name extends string>(
  names: readonly Name[],
  measured: readonly Record<Name, Drive>[],
): Record<Name, Compared> {
  const of = (name: Name, figure: keyof Drive): number[] => measured.map((round) => round[name][figure]);
  const limit = names[0]!;
  const all = names.map((name): [Name, Compared] => [
    name,
    {
      perSecond: spread(of(name, 'perSecond')),
      p50Ms: spread(of(name, 'p50Ms')),
      p99Ms: spread(of(name, 'p99Ms')),
      ofLimit: name === limit ? null : ratios(of(name, 'perSecond'), of(limit, 'perSecond')),
    },
  ]);
  return Object.fromEntries(all) as Record<Name, Compared>;
}
