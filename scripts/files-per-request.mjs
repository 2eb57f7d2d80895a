// Reports how many source files of the library a request executes: npm run files-per-request -- --list.
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { availableServers } from './servers.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
process.env.SWC_NODE_PROJECT ??= join(root, 'tsconfig.json');
process.env.NODE_ENV ??= 'production';
process.env.TEST_DATABASES ??= ['sqlite', ...(await availableServers()).map(({ name }) => name)].join(',');

const require = createRequire(import.meta.url);
require('@swc-node/register');
require(join(root, 'bench/src/coverage/files-per-request.ts'));
