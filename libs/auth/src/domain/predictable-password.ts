import { isCommonPassword } from './common-passwords';
import { FIELD_MESSAGES } from './fields';

/** Shorter names are parts of too many words. */
const MIN_NAME_LENGTH = 4;

/** Shorter runs are in every text: many words are made wholly of pairs of neighbouring keys. */
const MIN_RUN_LENGTH = 3;

/** How much of a block its second repetition must have: `never say never` is no block that is repeated. */
const MIN_REPEATED_SHARE = 3 / 4;

/**
 * Why a password is easy to guess, ignoring case, or null: it is a common one, a repeated block, made wholly of runs of keys
 * or characters (also where characters are doubled), or contains the whole name. Nothing else is searched for inside a password. (NIST SP 800-63B-4, 3.1.1.2;
 * ASVS 6.2.4, 6.2.11)
 */
export function predictabilityProblem(password: string, username: string): string | null {
  const text = folded(password);
  const name = folded(username);
  if (isCommonPassword(text) || isRepeated(text)) return FIELD_MESSAGES.common;
  if ([...name].length >= MIN_NAME_LENGTH && text.includes(name)) return FIELD_MESSAGES.containsName;
  const characters = [...text];
  const isOfRuns = isMadeOfRuns(characters) || isMadeOfRuns(withoutDoubles(characters));
  return isOfRuns ? FIELD_MESSAGES.common : null;
}

function folded(text: string): string {
  return text.normalize('NFKC').toLowerCase();
}

/** Whether the text is one block, repeated. Of the last repetition the end may be missing, a quarter of the second one. */
function isRepeated(text: string): boolean {
  for (let length = 1; length * (1 + MIN_REPEATED_SHARE) <= text.length; length++) {
    if (text.startsWith(text.slice(length))) return true;
  }
  return false;
}

/** The characters, each once where equal ones follow one another: `aabbcc` is as easy to guess as `abc`. */
function withoutDoubles(characters: readonly string[]): string[] {
  return characters.filter((character, index) => character !== characters[index - 1]);
}

/** Whether the text can be cut into runs, each of characters that all follow one another in the same way. */
function isMadeOfRuns(characters: readonly string[]): boolean {
  const isEndOfRun = new Set([0]);
  const lastEnds = STEPS.map(() => 0);
  for (let start = 0; start < characters.length; start++) {
    if (!isEndOfRun.has(start)) continue;
    STEPS.forEach((follows, kind) => {
      // Within a run that is known, a later start adds no end.
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

/** Whether the second character follows the first in a run of one kind. */
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

/** The same key, or one that touches it. */
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
