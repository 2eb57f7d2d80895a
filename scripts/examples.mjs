// Installs, tests and starts each example in an empty folder with the packed library, on Node 22: npm run
// examples. Arguments select examples by name: npm run examples -- totp passkeys. The script needs the npm
// registry, and Chromium for tests in a browser.
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
process.env.SWC_NODE_PROJECT ??= join(root, 'tsconfig.json');

const require = createRequire(import.meta.url);
require('@swc-node/register');
require(join(root, 'test/package/examples.ts'));
