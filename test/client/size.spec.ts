import { minifySync } from '@swc/core';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import ts from 'typescript';

const FOLDER = join(__dirname, '../../libs/client');
const { config } = ts.readConfigFile(join(FOLDER, 'tsconfig.lib.json'), (file) => ts.sys.readFile(file)) as {
  config: { compilerOptions: { useDefineForClassFields: boolean } };
};

/** Concatenates the modules, as a bundler does. No two modules declare the same name. Returns the size, gzipped. */
function sizeOf(modules: readonly string[], exported: string): number {
  const compilerOptions = {
    useDefineForClassFields: config.compilerOptions.useDefineForClassFields,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.ES2022,
    removeComments: true,
  };
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

it('the client adds at most 7.5 kB to a page, minified and gzipped', () => {
  const modules = readdirSync(join(FOLDER, 'src')).filter((name) => !EXTRAS.includes(name));
  const size = sizeOf(modules, 'AuthClient, ClientError, localTokens, memoryTokens, sessionTokens');
  expect(size).toBeGreaterThan(3_000);
  expect(size).toBeLessThanOrEqual(7_500);
});

it('the binding for React adds at most 1 kB to a page with the client, minified and gzipped', () => {
  const size = sizeOf(['session-store.ts', 'react.ts'], 'SessionProvider, useSession');
  expect(size).toBeGreaterThan(500);
  expect(size).toBeLessThanOrEqual(1_000);
});
