// Runs two instances on PostgreSQL at full load and kills one of them every few seconds:
// npm run soak -- --minutes 10 --clients 32. Set TEST_POSTGRES_URL to the PostgreSQL server.
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
process.env.SWC_NODE_PROJECT ??= join(root, 'tsconfig.json');
process.env.NODE_ENV ??= 'test';

const require = createRequire(import.meta.url);
require('@swc-node/register');
require(join(root, 'test/crash/soak.ts'));
