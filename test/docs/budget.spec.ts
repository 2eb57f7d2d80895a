import { BUDGET, budgetTable, total } from './budget';

describe('the budget of the library', () => {
  it.each(['lines', 'files'] as const)('the library has no more %s than the budget allows', (unit) => {
    const size = total()[unit];
    if (size > BUDGET[unit]) throw new Error(`${size} ${unit} exceed the budget of ${BUDGET[unit]}:\n${budgetTable()}`);
  });
});
