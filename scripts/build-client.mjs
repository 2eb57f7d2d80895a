// Compiles the client once more, as ES modules for bundlers, into the folder of the built library (or the one that is named).
import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const out = join(resolve(process.argv[2] ?? join(root, 'libs/auth/dist')), 'client/esm');
const compiler = createRequire(import.meta.url).resolve('typescript/bin/tsc');

execFileSync(process.execPath, [compiler, '-p', join(root, 'libs/auth/tsconfig.client.json'), '--outDir', out], {
  stdio: 'inherit',
});
// The package is CommonJS, but for this folder.
writeFileSync(join(out, 'package.json'), `${JSON.stringify({ type: 'module', sideEffects: false }, null, 2)}\n`);
