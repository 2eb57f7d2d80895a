// Starts the sample host from its TypeScript sources. They are compiled in memory: there is no build that a second start
// could pull from under the first.
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
process.env.SWC_NODE_PROJECT ??= join(root, 'tsconfig.json');
process.env.TS_NODE_PROJECT ??= process.env.SWC_NODE_PROJECT;

const require = createRequire(import.meta.url);
require('@swc-node/register');
require(join(root, 'apps/sample/src/main.ts'));
