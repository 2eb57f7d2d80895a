import { percentile, shuffled } from './statistics';

/** The rate and latency of an operation that concurrent workers repeat. */
export interface Drive {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export type Operation = (worker: number) => Promise<unknown>;

/** Lets each worker repeat the operation for a time. */
export async function drive(workers: number, seconds: number, operation: Operation): Promise<Drive> {
  const times: number[] = [];
  const start = performance.now();
  const until = start + seconds * 1000;
  const work = async (worker: number): Promise<void> => {
    while (performance.now() < until) times.push(await durationOf(() => operation(worker)));
  };
  await Promise.all(Array.from({ length: workers }, (_, worker) => work(worker)));
  return summary(times, times.length / ((performance.now() - start) / 1000));
}

/**
 * Lets each worker alternate between all operations for a time, in random order. Use it for slow operations, of
 * which a round contains only a few: a disturbance then affects all operations. The rate of an operation does not
 * include the time of the other operations.
 */
export async function driveAlternating<Name extends string>(
  workers: number,
  seconds: number,
  operations: Readonly<Record<Name, Operation>>,
): Promise<Record<Name, Drive>> {
  const names = Object.keys(operations) as Name[];
  const times = new Map(names.map((name) => [name, [] as number[]]));
  const until = performance.now() + seconds * 1000;
  const work = async (worker: number): Promise<void> => {
    do {
      for (const name of shuffled(names)) times.get(name)!.push(await durationOf(() => operations[name](worker)));
    } while (performance.now() < until);
  };
  await Promise.all(Array.from({ length: workers }, (_, worker) => work(worker)));
  const rate = (all: readonly number[]): number => (workers * 1000 * all.length) / all.reduce((sum, ms) => sum + ms, 0);
  return Object.fromEntries(names.map((name) => [name, summary(times.get(name)!, rate(times.get(name)!))])) as Record<
    Name,
    Drive
  >;
}

/** Runs an operation and returns its duration in milliseconds. */
export async function durationOf(operation: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await operation();
  return performance.now() - start;
}

function summary(times: readonly number[], perSecond: number): Drive {
  return { perSecond, p50Ms: percentile(times, 0.5), p99Ms: percentile(times, 0.99) };
}
