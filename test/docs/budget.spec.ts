import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { BUDGET, budgetTable, TEST_LINES, testLines, total } from './budget';

describe('the budget of the library', () => {
  it.each(['lines', 'files'] as const)('the library has no more %s than the budget allows', (unit) => {
    const size = total()[unit];
    if (size > BUDGET[unit]) throw new Error(`${size} ${unit} exceed the budget of ${BUDGET[unit]}:\n${budgetTable()}`);
  });
});

describe('the tests', () => {
  it('the tests have no more lines than the budget allows', () => {
    expect(testLines()).toBeLessThanOrEqual(TEST_LINES);
  });

  it('no two specs have the same name', () => {
    const specs = readdirSync(join(__dirname, '..'), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.spec.ts') && !path.includes('node_modules'))
      .map((path) => basename(path));
    expect(specs.filter((name, index) => specs.indexOf(name) !== index)).toEqual([]);
  });
});
