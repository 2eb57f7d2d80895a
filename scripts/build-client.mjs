// Compiles the client as ES modules and as CommonJS into libs/client/dist, or into the folder of the first argument.
import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const out = resolve(process.argv[2] ?? join(root, 'libs/client/dist'));
const compiler = createRequire(import.meta.url).resolve('typescript/bin/tsc');
const project = ['-p', join(root, 'libs/client/tsconfig.lib.json')];
const FORMATS = { esm: [], cjs: ['--module', 'nodenext', '--moduleResolution', 'nodenext'] };

for (const [format, flags] of Object.entries(FORMATS)) {
  const folder = join(out, format);
  rmSync(folder, { recursive: true, force: true });
  execFileSync(process.execPath, [compiler, ...project, ...flags, '--outDir', folder], { stdio: 'inherit' });
}
// The package is CommonJS, except for this folder.
writeFileSync(join(out, 'esm/package.json'), `${JSON.stringify({ type: 'module', sideEffects: false }, null, 2)}\n`);
