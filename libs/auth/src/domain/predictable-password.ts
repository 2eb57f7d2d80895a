import { isCommonPassword } from './common-passwords';
import { FIELD_MESSAGES } from './fields';

/** Shorter names occur in too many words. */
const MIN_NAME_LENGTH = 4;

/** Shorter runs occur in ordinary text: many words consist of pairs of adjacent keys. */
const MIN_RUN_LENGTH = 3;

/** How much of a block must follow the block for it to count as repeated. `never say never` has less of `never say `. */
const MIN_REPEATED_SHARE = 3 / 4;

/**
 * Returns why a password is easy to guess, or null. Ignores case. A password is easy to guess if it is common, a repeated
 * block, or consists entirely of runs of keys or characters (also with doubled characters), or if it contains the username.
 * A common password that is only part of a longer one is accepted. (NIST SP 800-63B-4, 3.1.1.2; ASVS 6.2.4, 6.2.11)
 */
export function predictabilityProblem(password: string, username: string): string | null {
  const text = folded(password);
  const name = folded(username);
  if (isCommonPassword(text) || isRepeated(text)) return FIELD_MESSAGES.common;
  if ([...name].length >= MIN_NAME_LENGTH && text.includes(name)) return FIELD_MESSAGES.containsName;
  const characters = [...text];
  const isRuns = consistsOfRuns(characters) || consistsOfRuns(withoutDoubles(characters));
  return isRuns ? FIELD_MESSAGES.common : null;
}

function folded(text: string): string {
  // In lower case, Σ depends on its place in the word: a name would differ from the same name within a password.
  return text.normalize('NFKC').toLowerCase().replaceAll('ς', 'σ');
}

/** Whether the text repeats one block. The last repetition may be incomplete, a single one by a quarter of the block. */
function isRepeated(text: string): boolean {
  for (let length = 1; length * (1 + MIN_REPEATED_SHARE) <= text.length; length++) {
    if (text.startsWith(text.slice(length))) return true;
  }
  return false;
}

/** Reduces repeated characters to one: `aabbcc` is as easy to guess as `abc`. */
function withoutDoubles(characters: readonly string[]): string[] {
  return characters.filter((character, index) => character !== characters[index - 1]);
}

/** Whether the text can be split into runs. In a run, each character follows the one before it by the same rule. */
function consistsOfRuns(characters: readonly string[]): boolean {
  const isEndOfRun = new Set([0]);
  const lastEnds = STEPS.map(() => 0);
  for (let start = 0; start < characters.length; start++) {
    if (!isEndOfRun.has(start)) continue;
    STEPS.forEach((follows, kind) => {
      // A run that starts inside another one of the same kind ends no further.
      if (start < lastEnds[kind]!) return;
      let end = start + 1;
      while (end < characters.length && follows(characters[end - 1]!, characters[end]!)) {
        end++;
        if (end - start >= MIN_RUN_LENGTH) isEndOfRun.add(end);
      }
      lastEnds[kind] = end;
    });
  }
  return isEndOfRun.has(characters.length);
}

/** A kind of run: whether the second character may follow the first. */
type Step = (first: string, second: string) => boolean;

const LETTER_OR_DIGIT = /^[\p{L}\p{N}]$/u;

function isOffset(by: number): Step {
  return (first, second) =>
    LETTER_OR_DIGIT.test(first) &&
    LETTER_OR_DIGIT.test(second) &&
    second.codePointAt(0)! - first.codePointAt(0)! === by;
}

/** The rows of a keyboard. Each begins further to the right than the one above it. */
const QWERTY = ['1234567890', 'qwertyuiop', 'asdfghjkl', 'zxcvbnm'];
const QWERTZ = ['1234567890', 'qwertzuiop', 'asdfghjkl', 'yxcvbnm'];
const AZERTY = ['1234567890', 'azertyuiop', 'qsdfghjklm', 'wxcvbn'];
const SHIFTED_DIGITS = ['!@#$%^&*()'];
const ROW_OFFSETS = [0, 0.5, 0.75, 1.25];

/** Whether the second key is the first one again, or adjacent to it. */
function isNear(rows: readonly string[]): Step {
  const keys = new Map(rows.flatMap((row, y) => [...row].map((key, x) => [key, { x: x + ROW_OFFSETS[y]!, y }])));
  return (first, second) => {
    const [a, b] = [keys.get(first), keys.get(second)];
    return a !== undefined && b !== undefined && Math.abs(a.x - b.x) <= 1 && Math.abs(a.y - b.y) <= 1;
  };
}

const STEPS: readonly Step[] = [
  (first, second) => first === second,
  isOffset(1),
  isOffset(-1),
  ...[QWERTY, QWERTZ, AZERTY, SHIFTED_DIGITS].map(isNear),
];
