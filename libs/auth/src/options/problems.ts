import { inspect } from 'node:util';

/**
 * Thrown if options of `AuthModule` are invalid. Each of the `problems` says what is wrong, and
 * what to do instead.
 */
export class AuthOptionsError extends Error {
  override readonly name = 'AuthOptionsError';

  constructor(readonly problems: readonly string[]) {
    super(`AuthModule cannot start with these options:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
  }
}

export function wrongValue(path: string, value: unknown, expected: string): string {
  return `${path} is ${inspect(value, { depth: 0, breakLength: Infinity, maxStringLength: 100 })}; use ${expected}`;
}

export function unknownOption(path: string, known: readonly string[]): string {
  const group = path.slice(0, path.lastIndexOf('.') + 1);
  const siblings = known.filter((one) => one.startsWith(group)).join(', ');
  return `${path} is not an option; use ${closest(path, known) ?? `one of ${siblings}`}`;
}

/** Returns the known path that a misspelled or misplaced path most likely means, or undefined if none is similar. */
function closest(path: string, known: readonly string[]): string | undefined {
  const distances = known.map((one) => ({
    one,
    distance: Math.min(editDistance(path, one), editDistance(leaf(path), leaf(one))),
  }));
  const [best] = distances.sort((a, b) => a.distance - b.distance);
  return best && best.distance <= leaf(path).length / 3 ? best.one : undefined;
}

function leaf(path: string): string {
  return path.slice(path.lastIndexOf('.') + 1);
}

/** Returns the Levenshtein distance, ignoring case. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [i, a] of [...from.toLowerCase()].entries()) {
    const next = [i + 1];
    for (const [j, b] of [...to.toLowerCase()].entries()) {
      next.push(Math.min(next[j]! + 1, row[j + 1]! + 1, row[j]! + (a === b ? 0 : 1)));
    }
    row = next;
  }
  return row.at(-1)!;
}
