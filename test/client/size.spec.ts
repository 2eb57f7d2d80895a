import { minifySync } from '@swc/core';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import ts from 'typescript';

const FOLDER = join(__dirname, '../../libs/client');
const { config } = ts.readConfigFile(join(FOLDER, 'tsconfig.lib.json'), (file) => ts.sys.readFile(file));
const { options: compilerOptions } = ts.parseJsonConfigFileContent(config, ts.sys, FOLDER);

/** Concatenates the modules, as a bundler does. No two modules declare the same name. Returns the size, gzipped. */
function sizeOf(modules: readonly string[], exported: string): number {
  const texts = modules.map((name) => {
    const source = readFileSync(join(FOLDER, 'src', name), 'utf8');
    const { outputText } = ts.transpileModule(source, { compilerOptions });
    return outputText.replace(/^import [^;]* from '\.[^;]*;$/gm, '').replace(/^export (?!\{)/gm, '');
  });
  const { code } = minifySync(`${texts.join('\n')}\nexport { ${exported} };`, {
    module: true,
    compress: { passes: 3 },
    mangle: { toplevel: true },
    format: { comments: false },
  });
  return gzipSync(code, { level: 9 }).length;
}

const EXTRAS = ['session-store', 'react', 'vue', 'svelte', 'query', 'testing', 'ssr', 'index'].map(
  (name) => `${name}.ts`,
);

const CLIENT = readdirSync(join(FOLDER, 'src')).filter((name) => !EXTRAS.includes(name));

it.each([
  ['the client', '7.5 kB', CLIENT, 'AuthClient, ClientError, localTokens, memoryTokens, sessionTokens', 3_000, 7_500],
  ['the binding for React', '1 kB', ['session-store.ts', 'react.ts'], 'SessionProvider, useSession', 500, 1_000],
])('%s adds at most %s to a page, minified and gzipped', (_, _size, modules, exported, atLeast, atMost) => {
  const size = sizeOf(modules, exported);
  expect(size).toBeGreaterThan(atLeast);
  expect(size).toBeLessThanOrEqual(atMost);
});
