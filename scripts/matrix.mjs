// Tests all supported versions: npm run matrix. The part `readme` runs the README's commands in a clean clone of
// the last commit, on each supported version of Node. The part `managers` installs the packed library with pnpm and
// Yarn Plug'n'Play, and bundles an application with esbuild. The part `applications` installs the packed library into
// fresh applications with all supported versions. The script needs the npm registry and PostgreSQL
// (TEST_POSTGRES_URL), and takes about half an hour. `-- --write` writes the results into docs/compatibility.md.
// `-- --part readme`, `managers`, `older` or `applications` runs one part, and
// `-- --nest 12 --typeorm 1 --modules ESM --node 22,24` runs some versions.
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
process.env.SWC_NODE_PROJECT ??= join(root, 'tsconfig.json');
process.env.NODE_ENV ??= 'test';

const require = createRequire(import.meta.url);
require('@swc-node/register');
require(join(root, 'test/package/matrix.ts'));
