import * as fc from 'fast-check';
import { newUsernameProblem } from './fields';
import { foldName, USERNAME_LENGTH } from './username';

/** A letter with a combining mark, in either case. */
const MARKED = fc
  .tuple(
    fc.constantFrom(...'AHJTWYhjtwy\u03a3\u0399\u03a5\u0130'),
    fc.constantFrom(...'\u0301\u0307\u0308\u030a\u030c\u0331'),
  )
  .map((parts) => parts.join(''));

describe('a folded name', () => {
  it.each([
    ['Alice', 'alice'],
    ['\uff21\uff2c\uff29\uff23\uff25', 'alice'],
    ['\u212blice', '\u00e5lice'],
    ['\ufb01ona', 'fiona'],
    // No composed letter in upper case, but one in lower case.
    ['J\u030can', '\u01f0an'],
    ['alice ', 'alice '],
    ['\u00e1lice', '\u00e1lice'],
  ])('of %j is %j', (name, folded) => expect(foldName(name)).toBe(folded));

  it('is its own folded form', () => {
    const letters = fc.string({ unit: fc.oneof(fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }), MARKED) });
    fc.assert(
      fc.property(letters, (name) => foldName(foldName(name)) === foldName(name)),
      { numRuns: 5_000 },
    );
  });

  it('is the name as given where names are compared exactly', () =>
    expect(foldName('\uff21lice', 'exact')).toBe('\uff21lice'));

  it('has no invisible characters where the name has none', () => {
    const problems: string[] = [];
    for (let code = 1; code < 0x110000; code++) {
      const letter = String.fromCodePoint(code);
      if (newUsernameProblem(letter, USERNAME_LENGTH)) continue;
      if (newUsernameProblem(foldName(letter), USERNAME_LENGTH)) problems.push(code.toString(16));
    }
    expect(problems).toEqual([]);
  });

  it('must fit into its column: a name that would be longer than 255 characters is refused', () => {
    const tooLong = 'Ensure this field has no more than 255 characters.';
    expect(newUsernameProblem('\ufdfa'.repeat(14), USERNAME_LENGTH)).toBeNull();
    expect(newUsernameProblem('\ufdfa'.repeat(15), USERNAME_LENGTH)).toBe(tooLong);
    expect(newUsernameProblem('\u0130'.repeat(128), USERNAME_LENGTH)).toBe(tooLong);
  });
});
