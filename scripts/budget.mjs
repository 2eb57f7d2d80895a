// Prints the sizes of the library and of its tests, and their budgets: npm run budget.
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
process.env.SWC_NODE_PROJECT ??= join(root, 'tsconfig.json');

const require = createRequire(import.meta.url);
require('@swc-node/register');
const { budgets } = require(join(root, 'test/docs/budget.ts'));
console.table(budgets());
