import { randomInt } from 'node:crypto';

/** The median, minimum and maximum of a figure over all rounds. */
export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

export function spread(values: readonly number[]): Spread {
  if (values.length === 0) throw new Error('Nothing was measured.');
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  const median = (sorted[Math.ceil(middle) - 1]! + sorted[Math.floor(middle)]!) / 2;
  return { median: rounded(median), min: rounded(sorted[0]!), max: rounded(sorted.at(-1)!) };
}

/** Returns the value below which a share of the values lies. For the 99th percentile, the share is 0.99. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

/** Divides the figures round by round, because a disturbance of a round affects both figures. */
export function ratios(ones: readonly number[], others: readonly number[]): Spread {
  return spread(ones.map((one, round) => one / others[round]!));
}

export function shuffled<Item>(items: readonly Item[]): Item[] {
  const left = [...items];
  return items.map(() => left.splice(randomInt(left.length), 1)[0]!);
}

/** Rounds to four significant digits. Further digits are noise. */
export function rounded(value: number): number {
  return Number(value.toPrecision(4));
}
