import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { budgets } from './budget';

it.each(Object.entries(budgets()))('the number of %s does not exceed its budget', (_, { size, budget }) => {
  expect(size).toBeLessThanOrEqual(budget);
});

it('no two specs have the same name', () => {
  const specs = readdirSync(join(__dirname, '..'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.spec.ts') && !path.includes('node_modules'))
    .map((path) => basename(path));
  expect(specs.filter((name, index) => specs.indexOf(name) !== index)).toEqual([]);
});
