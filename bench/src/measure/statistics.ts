import { randomInt } from 'node:crypto';

/** The median of a figure over all rounds, with its 95 % confidence interval. */
export interface Summary {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

const RESAMPLES = 10_000;

/**
 * Returns the median and its 95 % confidence interval, by the percentile bootstrap with 10,000 resamples. The same
 * values always give the same interval, because the random numbers have a fixed seed.
 * @throws Error if there are no values
 */
export function summary(values: readonly number[]): Summary {
  const random = seededRandom(1);
  const medians = Array.from({ length: RESAMPLES }, () =>
    median(values.map(() => values[Math.floor(random() * values.length)]!)),
  );
  const [low, high] = [0.025, 0.975].map((share) => rounded(percentile(medians, share)));
  return { median: rounded(median(values)), low: low!, high: high! };
}

/** @throws Error if there are no values */
export function median(values: readonly number[]): number {
  if (values.length === 0) throw new Error('Nothing was measured.');
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  return (sorted[Math.ceil(middle) - 1]! + sorted[Math.floor(middle)]!) / 2;
}

/** Divides the figures round by round, because a disturbance of a round affects both figures. */
export function ratios(ones: readonly number[], others: readonly number[]): number[] {
  return ones.map((one, round) => one / others[round]!);
}

/** Returns the value below which a share of the values lies. For the 99th percentile, the share is 0.99. */
function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!;
}

/** Returns a generator of reproducible random numbers from 0 (inclusive) to 1 (exclusive): mulberry32. */
function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function shuffled<Item>(items: readonly Item[]): Item[] {
  const left = [...items];
  return items.map(() => left.splice(randomInt(left.length), 1)[0]!);
}

/** Rounds to four significant digits. Further digits are noise. */
function rounded(value: number): number {
  return Number(value.toPrecision(4));
}
