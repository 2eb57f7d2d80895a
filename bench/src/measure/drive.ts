import type { Effort } from '../settings';
import { shuffled } from './statistics';

export type Operation = (worker: number) => Promise<unknown>;

/** The number of operations per second, by operation and round. */
export type Rates<Name extends string> = Readonly<Record<Name, readonly number[]>>;

/** Measures operations in rounds, each in random order. In a round, each operation runs for a time by itself. */
export async function measureInTurn<Name extends string>(
  operations: Readonly<Record<Name, Operation>>,
  workers: number,
  { rounds, seconds }: Effort,
): Promise<Rates<Name>> {
  const names = Object.keys(operations) as Name[];
  const rates = emptyRates(names);
  for (const name of names) await rateOf(workers, Math.min(1, seconds), operations[name]);
  for (let round = 0; round < rounds; round++) {
    for (const name of shuffled(names)) rates[name].push(await rateOf(workers, seconds, operations[name]));
  }
  return rates;
}

/**
 * Measures slow operations, of which a round contains only a few. Each worker alternates between all operations, so that
 * a disturbance affects all of them. The rate of an operation does not include the time of the others.
 */
export async function measureMixed<Name extends string>(
  operations: Readonly<Record<Name, Operation>>,
  workers: number,
  { rounds, seconds }: Effort,
): Promise<Rates<Name>> {
  const names = Object.keys(operations) as Name[];
  const rates = emptyRates(names);
  await mix(workers, 0, operations);
  for (let round = 0; round < rounds; round++) {
    const times = await mix(workers, seconds * names.length, operations);
    for (const name of names) {
      const all = times.get(name)!;
      rates[name].push((workers * 1000 * all.length) / all.reduce((sum, ms) => sum + ms, 0));
    }
  }
  return rates;
}

function emptyRates<Name extends string>(names: readonly Name[]): Record<Name, number[]> {
  return Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, number[]>;
}

async function rateOf(workers: number, seconds: number, operation: Operation): Promise<number> {
  let count = 0;
  const start = performance.now();
  const until = start + seconds * 1000;
  const work = async (worker: number): Promise<void> => {
    for (; performance.now() < until; count++) await operation(worker);
  };
  await Promise.all(Array.from({ length: workers }, (_, worker) => work(worker)));
  return count / ((performance.now() - start) / 1000);
}

async function mix<Name extends string>(
  workers: number,
  seconds: number,
  operations: Readonly<Record<Name, Operation>>,
): Promise<ReadonlyMap<Name, readonly number[]>> {
  const names = Object.keys(operations) as Name[];
  const times = new Map(names.map((name) => [name, [] as number[]]));
  const until = performance.now() + seconds * 1000;
  const work = async (worker: number): Promise<void> => {
    do {
      for (const name of shuffled(names)) {
        const start = performance.now();
        await operations[name](worker);
        times.get(name)!.push(performance.now() - start);
      }
    } while (performance.now() < until);
  };
  await Promise.all(Array.from({ length: workers }, (_, worker) => work(worker)));
  return times;
}
