// Runs the benchmark: npm run bench -- --help. The first run installs the packages of the benchmark into
// bench/node_modules.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ALL_SERVERS, availableServers } from './servers.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const bench = join(root, 'bench');
const isMeasuring = !process.argv.includes('--help') && process.argv[2] !== 'report';
if (isMeasuring && !existsSync(join(bench, 'node_modules/better-auth'))) {
  const { status } = spawnSync('npm', ['ci', '--ignore-scripts'], { cwd: bench, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

process.env.SWC_NODE_PROJECT ??= join(root, 'tsconfig.json');
process.env.NODE_ENV ??= 'production';
process.env.TEST_DATABASES ??= ['sqlite', ...(await availableServers(ALL_SERVERS)).map(({ name }) => name)].join(',');

const require = createRequire(import.meta.url);
require('@swc-node/register');
require(join(bench, 'src/main.ts'));
