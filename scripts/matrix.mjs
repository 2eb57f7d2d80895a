// The packed library in a fresh application, on every version that it allows: npm run matrix. Needs the npm registry and PostgreSQL
// (TEST_POSTGRES_URL), and takes about ten minutes. `-- --write` puts what was seen into docs/compatibility.md;
// `-- --nest 12 --typeorm 1 --modules ESM --node 22,24` tries a part of it.
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
process.env.SWC_NODE_PROJECT ??= join(root, 'tsconfig.json');
process.env.NODE_ENV ??= 'test';

const require = createRequire(import.meta.url);
require('@swc-node/register');
require(join(root, 'test/package/matrix.ts'));
