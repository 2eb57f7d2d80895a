// Starts the sample application from its TypeScript sources. The sources are compiled in memory, and the client
// for the page is compiled into a new folder, so several instances can run at the same time.
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
process.env.SWC_NODE_PROJECT ??= join(root, 'tsconfig.json');
process.env.TS_NODE_PROJECT ??= process.env.SWC_NODE_PROJECT;

const require = createRequire(import.meta.url);
require('@swc-node/register');
process.env.CLIENT_MODULES ??= compileClient();
require(join(root, 'apps/sample/src/main.ts'));

function compileClient() {
  const { transformFileSync } = require('@swc/core');
  const sources = join(root, 'libs/client/src');
  const folder = mkdtempSync(join(tmpdir(), 'session-auth-client-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  for (const name of readdirSync(sources).filter((file) => /(?<!\.spec)\.ts$/.test(file))) {
    const { code } = transformFileSync(join(sources, name), {
      swcrc: false,
      module: { type: 'es6' },
      jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
    });
    writeFileSync(join(folder, name.replace(/ts$/, 'js')), code);
  }
  return folder;
}
