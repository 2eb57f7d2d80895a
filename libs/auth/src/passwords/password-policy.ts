import { FIELD_MESSAGES } from '../base/fields';
import type * as Frequent from './frequent-passwords';

/** The minimum length of a username to search for. Shorter names occur in too many words. */
const MIN_NAME_LENGTH = 4;

/** The minimum length of a run. With two characters, many ordinary words would consist of runs of adjacent keys. */
const MIN_RUN_LENGTH = 3;

/**
 * The share of a block that must follow the block to count as a repetition. `never say never` is not a repetition,
 * because less than this share of `never say ` follows.
 */
const MIN_REPEATED_SHARE = 3 / 4;

/**
 * Returns the message for a password that is easy to guess, or null. Ignores case. A password is not refused merely
 * because it contains a common password. (NIST SP 800-63B-4, 3.1.1.2; ASVS 6.2.4, 6.2.11)
 */
export function predictabilityProblem(password: string, names: readonly string[]): string | null {
  const text = foldCase(password);
  if (isCommonPassword(text) || repeatsBlock(text)) return FIELD_MESSAGES.common;
  const isLong = (name: string): boolean => [...name].length >= MIN_NAME_LENGTH;
  if (names.map(foldCase).some((name) => isLong(name) && text.includes(name))) return FIELD_MESSAGES.containsName;
  const characters = [...text];
  // `aabbcc` is as easy to guess as `abc`.
  const withoutDoubles = characters.filter((character, index) => character !== characters[index - 1]);
  return consistsOfRuns(characters) || consistsOfRuns(withoutDoubles) ? FIELD_MESSAGES.common : null;
}

function foldCase(text: string): string {
  // The lower case of Σ depends on its position in a word. Without the replacement, a name could differ from the same
  // name within a password.
  return text.normalize('NFKC').toLowerCase().replaceAll('ς', 'σ');
}

/** The last repetition may be incomplete. If the block is repeated only once, at most a quarter of it may be missing. */
function repeatsBlock(text: string): boolean {
  for (let length = 1; length * (1 + MIN_REPEATED_SHARE) <= text.length; length++) {
    if (text.startsWith(text.slice(length))) return true;
  }
  return false;
}

/** Returns whether the text can be split into runs. In a run, each character follows the previous one by one rule. */
function consistsOfRuns(characters: readonly string[]): boolean {
  const runEnds = new Set([0]);
  /** Where the current run of each kind starts: at the first end of another run within it. */
  const starts = STEPS.map(() => Infinity);
  for (const [i, character] of characters.entries()) {
    STEPS.forEach((follows, kind) => {
      if (i > 0 && !follows(characters[i - 1]!, character)) starts[kind] = Infinity;
      if (runEnds.has(i)) starts[kind] = Math.min(starts[kind]!, i);
      if (i + 1 - starts[kind]! >= MIN_RUN_LENGTH) runEnds.add(i + 1);
    });
  }
  return runEnds.has(characters.length);
}

/** The rule of a kind of run: whether the second character may follow the first. */
type Step = (first: string, second: string) => boolean;

/** The code point of the second letter or digit is `by` greater than that of the first. */
function stepByOffset(by: number): Step {
  return (first, second) =>
    second.codePointAt(0)! - first.codePointAt(0)! === by && /^[\p{L}\p{N}]{2}$/u.test(first + second);
}

const KEYBOARDS = [
  ['1234567890', 'qwertyuiop', 'asdfghjkl', 'zxcvbnm'],
  ['1234567890', 'qwertzuiop', 'asdfghjkl', 'yxcvbnm'],
  ['1234567890', 'azertyuiop', 'qsdfghjklm', 'wxcvbn'],
  ['!@#$%^&*()'],
];

/** How far each row is shifted to the right, in keys. */
const ROW_OFFSETS = [0, 0.5, 0.75, 1.25];

/** The second key is the same key as the first, or adjacent to it. */
function stepToAdjacentKey(rows: readonly string[]): Step {
  const keys = new Map(rows.flatMap((row, y) => [...row].map((key, x) => [key, { x: x + ROW_OFFSETS[y]!, y }])));
  return (first, second) => {
    const [a, b] = [keys.get(first), keys.get(second)];
    return a !== undefined && b !== undefined && Math.abs(a.x - b.x) <= 1 && Math.abs(a.y - b.y) <= 1;
  };
}

const STEPS: readonly Step[] = [
  (first, second) => first === second,
  stepByOffset(1),
  stepByOffset(-1),
  ...KEYBOARDS.map(stepToAdjacentKey),
];

/** Returns whether a password is in the list of common passwords. The password must be in lower case. */
export function isCommonPassword(password: string): boolean {
  // The list is searched as one string, which takes microseconds. A set would need several times the memory. Passwords
  // with a space are excluded, because they could match two adjacent entries.
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- an import would load the long list at the start
  const { FREQUENT_PASSWORDS } = require('./frequent-passwords') as typeof Frequent;
  return !password.includes(' ') && FREQUENT_PASSWORDS.includes(` ${password} `);
}
