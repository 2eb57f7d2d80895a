import * as fc from 'fast-check';
import { foldName, newUsernameProblem, USERNAME_LENGTH } from '../../libs/auth/src/base/fields';

/** A letter with a combining mark, in either case. */
const MARKED = fc
  .tuple(
    fc.constantFrom(...'AHJTWYhjtwy\u03a3\u0399\u03a5\u0130'),
    fc.constantFrom(...'\u0301\u0307\u0308\u030a\u030c\u0331'),
  )
  .map((parts) => parts.join(''));

describe('folding a user name', () => {
  it.each([
    ['Alice', 'alice'],
    ['\uff21\uff2c\uff29\uff23\uff25', 'alice'],
    ['\u212blice', '\u00e5lice'],
    ['\ufb01ona', 'fiona'],
    // Unicode has a precomposed character for this letter in lower case only.
    ['J\u030can', '\u01f0an'],
    ['alice ', 'alice '],
    ['\u00e1lice', '\u00e1lice'],
  ])('the folded form of %j is %j', (name, folded) => expect(foldName(name)).toBe(folded));

  it('a folded name does not change if it is folded again', () => {
    const letters = fc.string({ unit: fc.oneof(fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }), MARKED) });
    fc.assert(
      fc.property(letters, (name) => foldName(foldName(name)) === foldName(name)),
      { numRuns: 5_000 },
    );
  });

  it('a folded name has no invisible characters if the given name has none', () => {
    const problems: string[] = [];
    for (let code = 1; code < 0x110000; code++) {
      const letter = String.fromCodePoint(code);
      if (newUsernameProblem(letter, USERNAME_LENGTH)) continue;
      if (newUsernameProblem(foldName(letter), USERNAME_LENGTH)) problems.push(code.toString(16));
    }
    expect(problems).toEqual([]);
  });

  it('a name is refused if its folded form is longer than 255 characters', () => {
    const tooLong = 'Ensure this field has no more than 255 characters.';
    expect(newUsernameProblem('\ufdfa'.repeat(14), USERNAME_LENGTH)).toBeNull();
    expect(newUsernameProblem('\ufdfa'.repeat(15), USERNAME_LENGTH)).toBe(tooLong);
    expect(newUsernameProblem('\u0130'.repeat(128), USERNAME_LENGTH)).toBe(tooLong);
  });
});
