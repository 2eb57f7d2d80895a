// Writes docs/options.md from the option table and the docstrings of the options: npm run docs:options.
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
process.env.SWC_NODE_PROJECT ??= join(root, 'tsconfig.json');

const require = createRequire(import.meta.url);
require('@swc-node/register');
const { optionsPage } = require(join(root, 'test/docs/options-page.ts'));
writeFileSync(join(root, 'docs/options.md'), optionsPage());
