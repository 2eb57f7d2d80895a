import { percentile, shuffled } from './statistics';

/** What a number of workers did side by side. */
export interface Drive {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export type Deed = (worker: number) => Promise<unknown>;

/** Each worker does its deed again and again until the time is over. */
export async function drive(workers: number, seconds: number, deed: Deed): Promise<Drive> {
  const times: number[] = [];
  const start = performance.now();
  const until = start + seconds * 1000;
  const work = async (worker: number): Promise<void> => {
    while (performance.now() < until) times.push(await timed(() => deed(worker)));
  };
  await Promise.all(Array.from({ length: workers }, (_, worker) => work(worker)));
  return summary(times, times.length / ((performance.now() - start) / 1000));
}

/**
 * Each worker does all deeds in turn, in an order that changes, until the time is over. For deeds so long that few of them
 * make a round: what disturbs one then disturbs the next one too. The rate is what the workers would do of one deed alone.
 */
export async function driveInTurn<Name extends string>(
  workers: number,
  seconds: number,
  deeds: Readonly<Record<Name, Deed>>,
): Promise<Record<Name, Drive>> {
  const names = Object.keys(deeds) as Name[];
  const times = new Map(names.map((name) => [name, [] as number[]]));
  const until = performance.now() + seconds * 1000;
  const work = async (worker: number): Promise<void> => {
    do {
      for (const name of shuffled(names)) times.get(name)!.push(await timed(() => deeds[name](worker)));
    } while (performance.now() < until);
  };
  await Promise.all(Array.from({ length: workers }, (_, worker) => work(worker)));
  const rate = (all: readonly number[]): number => (workers * 1000 * all.length) / all.reduce((sum, ms) => sum + ms, 0);
  return Object.fromEntries(names.map((name) => [name, summary(times.get(name)!, rate(times.get(name)!))])) as Record<
    Name,
    Drive
  >;
}

/** How long a deed takes, in milliseconds. */
export async function timed(deed: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await deed();
  return performance.now() - start;
}

function summary(times: readonly number[], perSecond: number): Drive {
  return { perSecond, p50Ms: percentile(times, 0.5), p99Ms: percentile(times, 0.99) };
}
