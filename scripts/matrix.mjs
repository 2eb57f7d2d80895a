// The README's commands in a clean clone of the last commit, on every line of Node, and the packed library in a fresh
// application, on every version that it allows: npm run matrix. Needs the npm registry and PostgreSQL (TEST_POSTGRES_URL), and
// takes about half an hour. `-- --write` puts what was seen into docs/compatibility.md; `-- --part readme` or `-- --part hosts`
// is one of both, `-- --nest 12 --typeorm 1 --modules ESM --node 22,24` a part of it.
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
process.env.SWC_NODE_PROJECT ??= join(root, 'tsconfig.json');
process.env.NODE_ENV ??= 'test';

const require = createRequire(import.meta.url);
require('@swc-node/register');
require(join(root, 'test/package/matrix.ts'));
