// Measures how long each kind of refused login takes: npm run timing.
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
process.env.SWC_NODE_PROJECT ??= join(root, 'tsconfig.json');

const require = createRequire(import.meta.url);
require('@swc-node/register');
require(join(root, 'test/login/timing.ts'));
